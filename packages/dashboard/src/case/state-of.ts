import { closedWords, dialogWords, taskWords, type StateWords } from '../words/states.ts';
import type { CaseIndex, CaseObject } from './case-index.ts';

/** The state of an object in words; documents and participants have none. */
export function stateOf(index: CaseIndex, object: CaseObject): StateWords | undefined {
  switch (object.kind) {
    case 'activity':
      return closedWords(object.value.closed);
    case 'dialog':
      return dialogWords(object.value);
    case 'task': {
      const words = taskWords(object.value);
      return index.isReplaced(object.value.id)
        ? { ...words, text: `${words.text}, replaced` }
        : words;
    }
    case 'participant':
    case 'resource':
      return undefined;
    default:
      return object satisfies never;
  }
}
