import type { Client } from '@temporalio/client';
import { livePollers } from '../../temporal/pollers';
import type { Poller, QueueQuestion } from '../../temporal/pollers';
import { formatAge } from '../format';
import { check } from './check';
import type { Check } from './check';

const SHOWN = 5;

export interface QueueOptions extends QueueQuestion {
  readonly why: string;
  /** What to do when nobody polls it. */
  readonly mend: string;
  /** How bad that is. */
  readonly unpolled: 'warn' | 'fail';
  /** Build of this program, to find workers of another one. */
  readonly build: string;
  readonly now?: number;
}

/** Who takes work from a queue, and when each last asked for some. */
export function checkQueue(client: Client, options: QueueOptions): Promise<Check> {
  const { queue, kind, why, build, now = Date.now() } = options;
  return check({
    id: `queue:${queue}:${kind}`,
    why,
    look: async () => {
      const pollers = await livePollers(client, options, now);
      const tasks = kind === 'workflow' ? 'workflow tasks' : 'steps';
      if (pollers.length === 0) {
        return { state: options.unpolled, detail: `no worker takes ${tasks} from ${queue}`, mend: options.mend };
      }
      const detail = `${queue}: ${tasks} are taken by ${pollers.slice(0, SHOWN).map(show(now)).join(', ')}${more(pollers)}`;
      const others = pollers.filter((poller) => poller.build !== undefined && poller.build !== build);
      if (others.length === 0) return { state: 'ok', detail };
      return {
        state: 'warn',
        detail: `${detail}; this program is of build ${build}`,
        mend: 'Bring workers and command line to one build; a run may not be replayed by another one.',
      };
    },
  });
}

function show(now: number): (poller: Poller) => string {
  return ({ identity, lastAccessAt, build }) => {
    const age = formatAge(Math.max(0, now - lastAccessAt));
    const asked = age === 'now' ? 'asked now' : `asked ${age} ago`;
    return `${identity} (${asked}${build === undefined ? '' : `, build ${build}`})`;
  };
}

function more({ length }: readonly unknown[]): string {
  return length > SHOWN ? ` and ${String(length - SHOWN)} more` : '';
}
