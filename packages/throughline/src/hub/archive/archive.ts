import type { Deps } from '../deps.ts';
import type { Erasure } from '../erasure.ts';
import { backUp, type Head, type Moment, type Sinks } from './backup.ts';
import { Exporting, type ExportParts } from './exporting.ts';
import { Importing } from './importing.ts';
import { incarnationOf } from './incarnation.ts';
import type { PutParts } from './record-puts.ts';
import { finishRestore } from './restore.ts';
import { entryAt, Verifying, type Verification, type VerifyOptions } from './verify.ts';

export type ArchiveParts = ExportParts & PutParts & { readonly erasure: Erasure };

/**
 * The hub's history as something that can be carried away, brought in, and checked. All but the exports
 * are for whoever holds the store and its key: rights are not asked for.
 */
export class Archive {
  readonly exporting: Exporting;
  readonly importing: Importing;
  readonly #deps: Deps;
  readonly #parts: ArchiveParts;

  constructor(deps: Deps, parts: ArchiveParts) {
    this.#deps = deps;
    this.#parts = parts;
    this.exporting = new Exporting(deps, parts);
    this.importing = new Importing(deps, parts);
  }

  /** Which life of the store this is: another one after each restore. */
  incarnation(): Promise<string> {
    return incarnationOf(this.#deps);
  }

  /** The end of the log. */
  async head(): Promise<Head> {
    const incarnation = await this.incarnation();
    const { seq, hash } = await this.#deps.store.read((reader) => reader.head());
    return { seq, hash, incarnation };
  }

  /** Whether the log holds what it once ended with: a store that was put back to an older one does not. */
  async holds({ seq, hash, incarnation }: Head): Promise<boolean> {
    if (seq === 0 || incarnation !== (await this.incarnation())) return true;
    return (await entryAt(this.#deps, seq))?.hash === hash;
  }

  /** Copies everything, as of one moment, while the hub goes on. */
  backUp(sinks: Sinks): Promise<Moment> {
    return backUp(this.#deps, sinks);
  }

  /** Looks at all that is stored, while the hub goes on; says what is not as it should be. */
  verify(options: VerifyOptions = {}): Promise<Verification> {
    return new Verifying(this.#deps, this.#parts, options).run();
  }

  /** The last step of a restore: see `fillFrom`. */
  finishRestore(): Promise<void> {
    return finishRestore(this.#deps, this.#parts);
  }
}
