import type { Client } from '@temporalio/client';
import { createCallExpiry, type KeptCall } from '../temporal/call-expiry';

const DAY_MS = 24 * 60 * 60 * 1_000;

export interface TidyOptions {
  readonly client: Client;
  /** The server of this worker, as journal entries name it. */
  readonly server: string;
  /** Removes the calls of the state directory that are expired. */
  readonly removeCalls: (isExpired: (call: KeptCall) => Promise<boolean>) => Promise<{ readonly calls: number }>;
  readonly log: (text: string, fields: Readonly<Record<string, number>>) => void;
  readonly warn: (text: string) => void;
}

/** Removes journal entries and outputs of calls whose run is past its retention, now and each day. */
export function keepCallsTidy({ client, server, removeCalls, log, warn }: TidyOptions): { stop(): Promise<void> } {
  let stopping = false;
  const removeExpired = async (): Promise<void> => {
    try {
      const isExpired = await createCallExpiry(client, server);
      const { calls } = await removeCalls(async (call) => !stopping && (await isExpired(call)));
      if (calls > 0) log('removed calls past their retention', { calls });
    } catch (error) {
      if (!stopping) warn(`calls past their retention were not removed: ${String(error)}`);
    }
  };
  let removing = removeExpired();
  const timer = setInterval(() => {
    removing = removing.then(removeExpired);
  }, DAY_MS);
  return {
    stop: async () => {
      stopping = true;
      clearInterval(timer);
      await removing;
    },
  };
}
