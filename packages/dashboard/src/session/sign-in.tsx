import { useState, type FormEvent, type ReactElement } from 'react';
import { Button, FieldError, Form, Input, Label, Text, TextField } from 'react-aria-components';
import { ThroughlineError } from 'throughline/model';

interface SignInProps {
  /** Throws when the hub does not take the key. */
  readonly signIn: (key: string) => Promise<void>;
  readonly note?: string;
}

/** Takes an API key. It stays in the memory of this tab: a reload asks again. */
export function SignIn({ signIn, note }: SignInProps): ReactElement {
  const [key, setKey] = useState('');
  const [refused, setRefused] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    setRefused(undefined);
    try {
      await signIn(key.trim());
    } catch (error) {
      setRefused(reason(error));
      setBusy(false);
    }
  };
  return (
    <main className="sign-in">
      <h1>Throughline</h1>
      <p className="lead">The cases of this hub: who did what, from which inputs, what is stuck.</p>
      {note === undefined ? null : <p role="status">{note}</p>}
      <Form
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void submit();
        }}
      >
        <TextField
          isRequired
          autoFocus
          type="password"
          name="key"
          autoComplete="off"
          value={key}
          onChange={setKey}
          isInvalid={refused !== undefined}
          validationBehavior="aria"
        >
          <Label>API key</Label>
          <Input placeholder="tlk_…" spellCheck={false} />
          <Text slot="description">
            From <code>local.key</code> in the hub’s data folder, or{' '}
            <code>throughline key create</code>. Kept in this tab’s memory only.
          </Text>
          <FieldError>{refused}</FieldError>
        </TextField>
        <Button type="submit" className="button" isDisabled={isBusy || key.trim() === ''}>
          {isBusy ? 'Asking the hub …' : 'Open'}
        </Button>
      </Form>
    </main>
  );
}

function reason(error: unknown): string {
  if (!(error instanceof ThroughlineError)) return 'This is no key of a hub.';
  if (error.code === 'unauthenticated') return 'The hub does not know this key.';
  return error.message;
}
