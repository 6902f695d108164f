import type { Payload, PayloadCodec } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils';
import { INBOX_SIGNAL, SEND_UPDATE } from '../contract/names';
import type { Envelope } from '../contract/envelope';
import type { RunInput } from '../contract/run-input';
import { refusalOf } from '../conversation/inbox';
import { migrate } from '../conversation/migrate';
import type { ActivityFact, CloseFact, RunFacts } from './facts';
import { decodeFields, decodePayloads } from './payloads';

export type HistoryEvent = NonNullable<History['events']>[number];

export interface DecoderOptions {
  readonly codecs: readonly PayloadCodec[];
  /** Bytes of an event on the wire; left out, the sizes are not counted. */
  readonly sizeOf?: (event: HistoryEvent) => number;
}

export interface HistoryDecoder {
  /** Takes the next events of this run, in order. */
  push(events: readonly HistoryEvent[]): Promise<void>;
  /** What is known so far; `undefined` before the first event. */
  facts(): RunFacts | undefined;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
interface Draft extends Mutable<Omit<RunFacts, 'activities' | 'envelopes' | 'memo'>> {
  activities: Map<string, ActivityFact>;
  envelopes: Map<string, Envelope>;
  memo: Record<string, unknown>;
}

/** Reads one run's history event by event: live followers push each page as it comes. */
export function createHistoryDecoder(runId: string, options: DecoderOptions): HistoryDecoder {
  let draft: Draft | undefined;
  const activityIds = new Map<string, string>();

  async function take(event: HistoryEvent): Promise<void> {
    if (event.workflowExecutionStartedEventAttributes) {
      draft = await openDraft(runId, event, options.codecs);
    }
    if (draft === undefined) return;
    draft.events += 1;
    draft.bytes += options.sizeOf?.(event) ?? 0;
    await takeActivity(draft, activityIds, event, options.codecs);
    await takeEnvelope(draft, event, options.codecs);
    const upserted = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
    if (upserted) draft.memo = { ...draft.memo, ...(await decodeFields(upserted, options.codecs)) };
    const close = await closeOf(event, options.codecs);
    if (close !== undefined) draft.close = close;
  }

  return {
    push: async (events) => {
      for (const event of events) await take(event);
    },
    facts: () => (draft === undefined ? undefined : { ...draft }),
  };
}

/** Milliseconds since the epoch. */
function timeOf(event: HistoryEvent): number {
  const { seconds, nanos } = event.eventTime ?? {};
  return Number(seconds ?? 0) * 1000 + Math.floor((nanos ?? 0) / 1e6);
}

async function openDraft(runId: string, event: HistoryEvent, codecs: readonly PayloadCodec[]): Promise<Draft> {
  const started = event.workflowExecutionStartedEventAttributes;
  const [input, value] = await decodePayloads(started?.input?.payloads, codecs);
  const carried = value === undefined || value === null ? undefined : migrate(value);
  return {
    runId,
    firstRunId: started?.firstExecutionRunId || runId,
    startedAt: timeOf(event),
    input: input as RunInput,
    ...(carried === undefined ? {} : { carried }),
    activities: new Map(),
    envelopes: new Map(carried?.queue.map((envelope) => [envelope.id, envelope])),
    memo: await decodeFields(started?.memo?.fields, codecs),
    bytes: 0,
    events: 0,
  };
}

async function takeActivity(
  draft: Draft,
  ids: Map<string, string>,
  event: HistoryEvent,
  codecs: readonly PayloadCodec[],
): Promise<void> {
  const scheduled = event.activityTaskScheduledEventAttributes;
  if (scheduled?.activityId) {
    ids.set(String(event.eventId), scheduled.activityId);
    const [input] = await decodePayloads(scheduled.input?.payloads, codecs);
    const [summary] = await decodePayloads(event.userMetadata?.summary ? [event.userMetadata.summary] : [], codecs);
    // Deleted first: a repeated id takes its new place in the order.
    draft.activities.delete(scheduled.activityId);
    draft.activities.set(scheduled.activityId, {
      activityId: scheduled.activityId,
      summary: typeof summary === 'string' ? summary : '',
      scheduledAt: timeOf(event),
      status: 'scheduled',
      input,
    });
    return;
  }
  const started = event.activityTaskStartedEventAttributes;
  if (started) update(draft, ids.get(String(started.scheduledEventId)), { startedAt: timeOf(event) });
  const end = activityEnd(event);
  if (end === undefined) return;
  const [result] = await decodePayloads(end.payloads, codecs);
  update(draft, ids.get(end.scheduledEventId), {
    status: end.status,
    closedAt: timeOf(event),
    ...(end.status === 'completed' ? { result } : {}),
    ...(end.failure === undefined ? {} : { failure: end.failure }),
  });
}

interface ActivityEnd {
  readonly scheduledEventId: string;
  readonly status: ActivityFact['status'];
  readonly payloads?: readonly Payload[];
  readonly failure?: string;
}

function activityEnd(event: HistoryEvent): ActivityEnd | undefined {
  const completed = event.activityTaskCompletedEventAttributes;
  if (completed) {
    return {
      scheduledEventId: String(completed.scheduledEventId),
      status: 'completed',
      payloads: completed.result?.payloads ?? [],
    };
  }
  const failed = event.activityTaskFailedEventAttributes;
  if (failed) {
    return {
      scheduledEventId: String(failed.scheduledEventId),
      status: 'failed',
      failure: failed.failure?.message ?? '',
    };
  }
  const timedOut = event.activityTaskTimedOutEventAttributes;
  if (timedOut) {
    const failure = timedOut.failure?.message ?? 'timed out';
    return { scheduledEventId: String(timedOut.scheduledEventId), status: 'timed_out', failure };
  }
  const cancelled = event.activityTaskCanceledEventAttributes;
  return cancelled ? { scheduledEventId: String(cancelled.scheduledEventId), status: 'cancelled' } : undefined;
}

function update(draft: Draft, activityId: string | undefined, change: Partial<ActivityFact>): void {
  const before = activityId === undefined ? undefined : draft.activities.get(activityId);
  if (before !== undefined) draft.activities.set(before.activityId, { ...before, ...change });
}

/** A person's input, if the run did not refuse it: what is refused may come again under the same id. */
async function takeEnvelope(draft: Draft, event: HistoryEvent, codecs: readonly PayloadCodec[]): Promise<void> {
  const [value] = await decodePayloads(inputPayloads(event), codecs);
  if (refusalOf(value, draft.input.kind) !== undefined) return;
  const envelope = value as Envelope;
  if (!draft.envelopes.has(envelope.id)) draft.envelopes.set(envelope.id, envelope);
}

/** It stands in a signal, in an accepted update, or (after a reset) in an admitted one. */
function inputPayloads(event: HistoryEvent): Payload[] | null | undefined {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName === INBOX_SIGNAL) return signal.input?.payloads;
  const accepted = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
  const request = accepted ?? event.workflowExecutionUpdateAdmittedEventAttributes?.request;
  return request?.input?.name === SEND_UPDATE ? request.input.args?.payloads : undefined;
}

async function closeOf(event: HistoryEvent, codecs: readonly PayloadCodec[]): Promise<CloseFact | undefined> {
  const at = timeOf(event);
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (terminated) return { status: 'terminated', at, reason: terminated.reason ?? '' };
  return (await writtenClose(event, at, codecs)) ?? statusOnly(event, at);
}

/** An end that carries something. */
async function writtenClose(
  event: HistoryEvent,
  at: number,
  codecs: readonly PayloadCodec[],
): Promise<CloseFact | undefined> {
  const completed = event.workflowExecutionCompletedEventAttributes;
  if (completed) {
    const [result] = await decodePayloads(completed.result?.payloads, codecs);
    return { status: 'completed', at, result };
  }
  const failed = event.workflowExecutionFailedEventAttributes;
  if (failed) {
    const info = failed.failure?.applicationFailureInfo;
    const [details] = await decodePayloads(info?.details?.payloads, codecs);
    return {
      status: 'failed',
      at,
      failure: { type: info?.type ?? '', message: failed.failure?.message ?? '', details },
    };
  }
  return undefined;
}

function statusOnly(event: HistoryEvent, at: number): CloseFact | undefined {
  if (event.workflowExecutionCanceledEventAttributes) return { status: 'cancelled', at };
  if (event.workflowExecutionTimedOutEventAttributes) return { status: 'timed_out', at };
  return event.workflowExecutionContinuedAsNewEventAttributes ? { status: 'continued_as_new', at } : undefined;
}
