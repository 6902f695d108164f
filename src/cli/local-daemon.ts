import type { Config } from '../config';
import { configDigest, workerEnv } from '../config';
import type { DaemonAddress } from '../server/daemon-client';
import { ensureDaemon } from '../server/daemon-client';
import type { Io } from './io';
import { buildId } from './package-root';

/**
 * The local server and worker of a configuration, started if need be; what takes time is told.
 * @throws ServerError
 */
export function ensureLocalDaemon(
  config: Config,
  io: Io,
  { restartOnConfigChange }: { readonly restartOnConfigChange: boolean },
): Promise<DaemonAddress> {
  return ensureDaemon(
    {
      home: config.home,
      build: buildId(),
      configDigest: configDigest(config),
      restartOnConfigChange,
      env: workerEnv(config),
      fast: config.embedded.fast,
      idleMs: config.embedded.idleMs,
      timeoutMs: config.embedded.startTimeoutMs,
    },
    (line) => io.say(io.colors.dim(`surehand: ${line}`)),
  );
}
