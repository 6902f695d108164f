import { z } from 'zod';

/**
 * What the starter hands to the daemon, through a pipe: the environment map may hold keys, which must not be readable
 * on a command line. The daemon reads no environment itself.
 */
export const daemonOptionsSchema = z.object({
  home: z.string(),
  build: z.string(),
  configDigest: z.string(),
  /** The worker's environment; also where the daemon's own programs are looked up. */
  env: z.record(z.string(), z.string()),
  temporalBinary: z.string(),
  workerEntry: z.string(),
  fast: z.boolean(),
  /** Stop after this long without an open run and without a client. */
  idleMs: z.number().positive(),
});

export type DaemonOptions = z.infer<typeof daemonOptionsSchema>;

/** Exit code of a daemon that found another one holding the state directory's lock. */
export const EXIT_LOCK_HELD = 3;
