import { rmSync } from 'node:fs';
import type { DaemonOptions } from './daemon-options';
import { EXIT_LOCK_HELD } from './daemon-options';
import type { DaemonContext } from './daemon-parts';
import { createDaemonContext, keepBoth } from './daemon-parts';
import type { DaemonRecord } from './daemon-record';
import { endLeftovers, readDaemonRecord } from './daemon-record';
import { EMBEDDED_NAMESPACE } from './dev-server';
import { openHost } from './host';
import { lastContactMs, watchIdle } from './idle-watch';
import { tryLock } from './lock';
import type { DaemonLog } from './logger';
import { countOpenRuns } from './namespace';
import { ownIdentity } from './process-identity';
import { openStateDirectory } from './state-directory';

const RECORD_CHECK_MS = 1_000;

/**
 * Keeps server and worker of one state directory running until `stopRequested` settles or nobody needs them.
 * @returns the exit code: 0 after a stop, 3 when another daemon has the state directory.
 */
export async function runDaemon(
  options: DaemonOptions,
  stopRequested: Promise<string>,
  log: DaemonLog,
): Promise<number> {
  const files = openStateDirectory(options.home);
  const own = ownIdentity();
  const attempt = await tryLock(files.daemonLock, { ...own, build: options.build });
  if (!attempt.held) {
    log(`another daemon (pid ${attempt.holder?.pid ?? 'unknown'}) has ${options.home}`, 'warn');
    return EXIT_LOCK_HELD;
  }
  if (await endLeftovers(files)) log('ended what a killed daemon had left running', 'warn');
  const host = openHost(options.home);
  if (host.warning !== undefined) log(host.warning, 'warn');
  const record: DaemonRecord = {
    ...own,
    state: 'starting',
    build: options.build,
    configDigest: options.configDigest,
    hostId: host.hostId,
    namespace: EMBEDDED_NAMESPACE,
    startedAt: new Date().toISOString(),
  };
  const context = createDaemonContext(options, { files, record, log });
  context.update({});

  const { server, worker } = keepBoth(context);
  const keeper = keepRecord(context);
  log(await Promise.race([stopRequested, untilIdle(context)]));
  keeper.stop();
  context.update({ state: 'stopping' });
  await worker.stop();
  await server.stop();
  rmSync(files.daemon, { force: true });
  log('stopped');
  attempt.lock.release();
  return 0;
}

/** The next client finds the daemon by its record, so one that somebody removed or damaged is written again. */
function keepRecord({ files, update }: DaemonContext): { stop(): void } {
  const timer = setInterval(() => {
    if (readDaemonRecord(files) !== undefined) return;
    try {
      update({});
    } catch {
      // The whole state directory is gone; nobody looks for a daemon there.
    }
  }, RECORD_CHECK_MS);
  return { stop: () => clearInterval(timer) };
}

function untilIdle(context: DaemonContext): Promise<string> {
  const { files, options, record, update } = context;
  return new Promise((resolve) => {
    const watch = watchIdle({
      files,
      idleMs: options.idleMs,
      countOpenRuns: async () => countOpenRuns(record().address ?? '', EMBEDDED_NAMESPACE),
      // A record that somebody removed is needed by the next client.
      onCheck: () => update({}),
      onIdle: () => {
        const { state } = record();
        update({ state: 'stopping' });
        // A client leaves its mark before it reads the record: one that came just now has either seen `stopping`, or is seen here.
        if (Date.now() - lastContactMs(files) < options.idleMs) {
          update({ state });
          return;
        }
        watch.stop();
        resolve('nobody needs it: no open run and no client for a while');
      },
    });
  });
}
