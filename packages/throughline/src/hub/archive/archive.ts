import type { Deps } from '../deps.ts';
import { Exporting, type ExportParts } from './exporting.ts';
import { Importing } from './importing.ts';
import type { PutParts } from './record-puts.ts';

/** The hub's history as something that can be carried away, brought in, and checked. */
export class Archive {
  readonly exporting: Exporting;
  /** For whoever holds the store and its key: rights are not asked for. */
  readonly importing: Importing;

  constructor(deps: Deps, parts: ExportParts & PutParts) {
    this.exporting = new Exporting(deps, parts);
    this.importing = new Importing(deps, parts);
  }
}
