import { rm } from 'node:fs/promises';

export default async function globalTeardown(): Promise<void> {
  const suite = globalThis.surehandTestServer;
  if (suite === undefined) return;
  await suite.server.stop();
  await rm(suite.directory, { recursive: true, force: true });
}
