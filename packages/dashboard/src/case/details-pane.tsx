import type { ReactElement } from 'react';
import { Button, Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { Icon } from '../ui/icon.tsx';
import { useNarrow } from '../ui/use-narrow.ts';
import { Details } from './details.tsx';
import type { DetailsProps } from './details-parts.tsx';

interface PaneProps extends Omit<DetailsProps, 'id'> {
  readonly selected: string | undefined;
}

/** Details beside the case; on a narrow page over it, until they are closed. */
export function DetailsPane({ selected, ...rest }: PaneProps): ReactElement {
  const isNarrow = useNarrow();
  const { index, select } = rest;
  const isThere = selected !== undefined && index.objects.has(selected);
  const id = isThere ? selected : index.view.summary.activity;
  if (!isNarrow) {
    return (
      <aside className="details" aria-label="Details">
        <Details {...rest} id={id} />
      </aside>
    );
  }
  return (
    <ModalOverlay
      className="sheet-overlay"
      isDismissable
      isOpen={isThere}
      onOpenChange={(isOpen) => {
        if (!isOpen) select(undefined);
      }}
    >
      <Modal className="sheet">
        <Dialog className="details" aria-label="Details">
          <Button className="bare sheet-close" aria-label="Close the details" slot="close">
            <Icon name="close" />
          </Button>
          <Details {...rest} id={id} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
