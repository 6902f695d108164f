import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { RunInput } from '../../src/contract/run-input';
import type { Conversation } from '../../src/conversation/conversation';
import type { HistoryEvent } from '../../src/transcript/decode-history';

export type EncodePayload = (value: unknown) => Payload;

export interface SyntheticRun {
  readonly input: RunInput;
  readonly carried?: Conversation;
  readonly firstRunId?: string;
  readonly encode?: EncodePayload;
}

type Attributes = Readonly<Record<string, unknown>>;

/**
 * Writes a run's history as the server would: each method returns the event it appended. Events are a second apart,
 * beginning 1970-01-01T00:00:01.5Z.
 */
export function createHistory({ input, carried, firstRunId = '', encode = toPayload }: SyntheticRun) {
  const events: HistoryEvent[] = [];
  const scheduledIds = new Map<string, number>();
  const payloads = (...values: unknown[]) => ({ payloads: values.map((value) => encode(value)) });
  const memoFields = (memo: Attributes) =>
    Object.fromEntries(Object.entries(memo).map(([key, value]) => [key, encode(value)]));

  function push(attributes: Attributes): HistoryEvent {
    const eventId = events.length + 1;
    const event = temporal.api.history.v1.HistoryEvent.fromObject({
      eventId,
      eventTime: { seconds: eventId, nanos: 500_000_000 },
      ...attributes,
    });
    events.push(event);
    return event;
  }

  const ofActivity = (activityId: string) => ({ scheduledEventId: scheduledIds.get(activityId) ?? 0 });
  const send = (envelope: unknown) => ({ input: { name: 'send', args: payloads(envelope) } });

  push({
    workflowExecutionStartedEventAttributes: {
      firstExecutionRunId: firstRunId,
      input: carried === undefined ? payloads(input) : payloads(input, carried),
      memo: { fields: memoFields({ surehandInput: 'digest' }) },
    },
  });

  return {
    events: events as readonly HistoryEvent[],
    /** An event that says nothing about the conversation. */
    other: () => push({ workflowTaskScheduledEventAttributes: { attempt: 1 } }),
    scheduled: (activityId: string, activityInput: unknown, summary?: string) => {
      scheduledIds.set(activityId, events.length + 1);
      return push({
        activityTaskScheduledEventAttributes: { activityId, input: payloads(activityInput) },
        ...(summary === undefined ? {} : { userMetadata: { summary: encode(summary) } }),
      });
    },
    started: (activityId: string) => push({ activityTaskStartedEventAttributes: ofActivity(activityId) }),
    completed: (activityId: string, result: unknown) =>
      push({ activityTaskCompletedEventAttributes: { ...ofActivity(activityId), result: payloads(result) } }),
    failed: (activityId: string, message: string) =>
      push({ activityTaskFailedEventAttributes: { ...ofActivity(activityId), failure: { message } } }),
    timedOut: (activityId: string) =>
      push({ activityTaskTimedOutEventAttributes: { ...ofActivity(activityId), failure: { message: 'timeout' } } }),
    cancelled: (activityId: string) => push({ activityTaskCanceledEventAttributes: ofActivity(activityId) }),
    signalled: (envelope: unknown, signalName = 'inbox') =>
      push({ workflowExecutionSignaledEventAttributes: { signalName, input: payloads(envelope) } }),
    updateAccepted: (envelope: unknown) =>
      push({ workflowExecutionUpdateAcceptedEventAttributes: { acceptedRequest: send(envelope) } }),
    /** After a reset: the body stands here, the accepted event that follows has none. */
    updateAdmitted: (envelope: unknown) => {
      push({ workflowExecutionUpdateAdmittedEventAttributes: { request: send(envelope) } });
      return push({ workflowExecutionUpdateAcceptedEventAttributes: { protocolInstanceId: 'x' } });
    },
    memo: (memo: Attributes) =>
      push({ workflowPropertiesModifiedEventAttributes: { upsertedMemo: { fields: memoFields(memo) } } }),
    runCompleted: (result: unknown) =>
      push({ workflowExecutionCompletedEventAttributes: { result: payloads(result) } }),
    runFailed: (type: string, message: string, details: unknown) =>
      push({
        workflowExecutionFailedEventAttributes: {
          failure: { message, applicationFailureInfo: { type, details: payloads(details) } },
        },
      }),
    runCancelled: () => push({ workflowExecutionCanceledEventAttributes: {} }),
    runTerminated: () => push({ workflowExecutionTerminatedEventAttributes: {} }),
    runTimedOut: () => push({ workflowExecutionTimedOutEventAttributes: {} }),
    continuedAsNew: () => push({ workflowExecutionContinuedAsNewEventAttributes: { newExecutionRunId: 'next' } }),
  };
}

export type SyntheticHistory = ReturnType<typeof createHistory>;

function toPayload(value: unknown): Payload {
  return defaultPayloadConverter.toPayload(value);
}

/** The ways on which a person's input reaches a run. */
export const DELIVERIES = ['signalled', 'updateAccepted', 'updateAdmitted'] as const;
export type Delivery = (typeof DELIVERIES)[number];
