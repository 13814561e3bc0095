import type { ReactElement } from 'react';
import { Button, Input, SearchField } from 'react-aria-components';
import { Icon } from './icon.tsx';

interface SearchBoxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function SearchBox({ label, placeholder, value, onChange }: SearchBoxProps): ReactElement {
  return (
    <SearchField className="search" aria-label={label} value={value} onChange={onChange}>
      <Icon name="search" />
      <Input placeholder={placeholder} autoComplete="off" spellCheck={false} />
      <Button className="bare" aria-label="Clear the search">
        <Icon name="close" />
      </Button>
    </SearchField>
  );
}
