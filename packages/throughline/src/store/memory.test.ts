import { describeStore } from './conformance.ts';
import { openMemoryStore } from './memory.ts';

describeStore('memory store', openMemoryStore);
