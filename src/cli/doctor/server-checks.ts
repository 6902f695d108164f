import { TemporalConnectionError } from '../../temporal/open-connection';
import type { NamespaceDescription, OpenedConnection } from '../../temporal/open-connection';
import { compareSearchAttributes, registerSearchAttributes } from '../../temporal/search-attributes';
import { check } from './check';
import type { Check, Finding } from './check';

const CALL_TIMEOUT_MS = 3_000;
const DAY_S = 24 * 60 * 60;
/** What the embedded server is set to. */
const WANTED_DAYS = 90;

const WHY_SERVER = 'Conversations live in Temporal; without it nothing starts and nothing goes on.';
const WHY_NAMESPACE = 'Its retention is how long a transcript can be read after its run has ended.';
const WHY_ATTRIBUTES = 'They are what list, alerts and the Web UI filter by; runs go without those that are missing.';

/** The server answers, and which version it is. */
export function checkServer(
  address: string,
  opened: Promise<OpenedConnection>,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<Check> {
  return check({
    id: 'server',
    why: WHY_SERVER,
    timeoutMs,
    look: async () => {
      try {
        const { client } = await opened;
        const { serverVersion } = await client.withDeadline(Date.now() + CALL_TIMEOUT_MS, () =>
          client.workflowService.getSystemInfo({}),
        );
        return { state: 'ok', detail: `Temporal ${serverVersion} at ${address}` };
      } catch (error) {
        if (error instanceof TemporalConnectionError) return connectionFinding(error);
        throw error;
      }
    },
  });
}

/** The message's last sentence is what to do. */
function connectionFinding({ message }: TemporalConnectionError): Finding {
  const cut = message.lastIndexOf('. ', message.length - 2);
  return { state: 'fail', detail: message.slice(0, cut), mend: message.slice(cut + 2) };
}

/** No local server runs, which is no fault: the next command that needs one starts it. */
export function noServer(command: string): Promise<Check> {
  return check({
    id: 'server',
    why: WHY_SERVER,
    look: () => ({
      state: 'warn',
      detail: 'no local server runs, so namespace, search attributes, queues and runs were not looked at',
      mend: `The next run starts it by itself; start it now: ${command} demo`,
    }),
  });
}

export function checkNamespace(description: NamespaceDescription, namespace: string): Promise<Check> {
  return check({
    id: 'namespace',
    why: WHY_NAMESPACE,
    look: () => {
      const days = Number(description.config?.workflowExecutionRetentionTtl?.seconds ?? 0) / DAY_S;
      const detail = `${namespace} keeps ended runs for ${daysOf(days)}`;
      if (days >= WANTED_DAYS) return { state: 'ok', detail };
      const mend = `temporal operator namespace update -n ${namespace} --retention ${String(WANTED_DAYS)}d`;
      return { state: 'warn', detail: `${detail}; ${String(WANTED_DAYS)} are advised`, mend };
    },
  });
}

function daysOf(days: number): string {
  return days === 1 ? '1 day' : `${String(Math.floor(days * 10) / 10)} days`;
}

/** @param fix registers those that are missing. */
export function checkSearchAttributes(
  { client, namespace }: Pick<OpenedConnection, 'client' | 'namespace'>,
  { fix, command }: { readonly fix: boolean; readonly command: string },
): Promise<Check> {
  return check({
    id: 'search-attributes',
    why: WHY_ATTRIBUTES,
    timeoutMs: 2 * CALL_TIMEOUT_MS,
    look: () =>
      client.withDeadline(Date.now() + CALL_TIMEOUT_MS, async () => {
        const { missing, ofOtherType } = await compareSearchAttributes(client, namespace);
        if (fix && missing.length > 0) await registerSearchAttributes(client, namespace, missing);
        if (ofOtherType.length > 0) {
          return {
            state: 'fail',
            detail: `of another type than surehand writes: ${ofOtherType.join(', ')}`,
            mend: `Remove them (temporal operator search-attribute remove), then: ${command} doctor --fix`,
          };
        }
        if (missing.length === 0) return { state: 'ok', detail: 'all are registered' };
        return fix
          ? { state: 'ok', detail: `registered now: ${missing.join(', ')}` }
          : { state: 'warn', detail: `not registered: ${missing.join(', ')}`, mend: `${command} doctor --fix` };
      }),
  });
}
