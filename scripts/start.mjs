/** `npm start` plays the demo; `npm start -- COMMAND …` is the same as `./surehand COMMAND …`. */
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from './lib/checkout.mjs';
import { runMain } from './lib/say.mjs';
import { setUp } from './setup.mjs';

await runMain(async () => {
  await setUp({ env: process.env });
  const client = path.join(ROOT, 'dist', 'client.js');
  const args = process.argv.slice(2);
  process.argv = [process.execPath, client, ...(args.length === 0 ? ['demo'] : args)];
  createRequire(import.meta.url)(client);
});
