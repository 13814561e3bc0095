/** A hub in a folder that keeps contents until it is killed; says each URI once the hub has it. */
import { openFileContent } from '../src/content/files.ts';
import { Hub } from '../src/hub/index.ts';
import { openSqliteStore } from '../src/store/index.ts';

const [, , folder = '', activity = ''] = process.argv;
const hub = await Hub.open({
  store: await openSqliteStore({ path: `${folder}/hub.sqlite` }),
  domainKey: new Uint8Array(32).fill(7),
  origin: 'http://hub.test',
  content: { driver: await openFileContent({ path: `${folder}/content` }) },
});
const master = hub.master({ tenant: 't', id: 'desk', role: 'agent' });
for (;;) {
  const resource = master.newId('resource');
  const bytes = Buffer.alloc(50_000, resource);
  const { uri } = await master.putContent({ activity, resource, mediaType: 'text/plain', bytes });
  process.stdout.write(`${uri}\n`);
}
