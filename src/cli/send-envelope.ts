import { setTimeout as sleep } from 'node:timers/promises';
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Envelope, EnvelopeAnswer } from '../contract/envelope';
import { FAILURE, INBOX_SIGNAL, SEND_UPDATE } from '../contract/names';
import { EXIT_CODES, EXIT_USAGE } from '../contract/outcome';
import { createCodecs } from '../temporal/data-converter';
import { historyPages } from '../temporal/history';
import { livePollers } from '../temporal/pollers';
import { createHistoryDecoder } from '../transcript/decode-history';
import { CliError } from './cli-error';
import { describePending } from './pending';
import { diagnose } from './diagnose';
import type { ExistingRun } from './existing-run';
import type { Session } from './session';
import { visibleText } from './visible-text';

export interface SendOptions {
  /** How the person calls the program. */
  readonly command: string;
  /** How long the run may take to answer. */
  readonly timeoutMs: number;
}

/** `stored`: no worker runs, so nobody could answer; the server keeps it until one does. */
export type Sent =
  | { readonly id: string; readonly status: 'queued'; readonly place: number }
  | { readonly id: string; readonly status: 'stored' };

/** Temporal's type of an update that was accepted by a run which ended, or continued as new, before it had its answer. */
const RUN_WENT_ON = 'AcceptedUpdateCompletedWorkflow';
const TRIES = 5;
const TRY_AGAIN_MS = 100;

/**
 * Sends a person's input to a run, once: the id of the envelope lets the run see a repeat.
 * With a worker it is an update, which the run answers. Without one it is a signal: an update that no worker has seen is
 * lost with the server's memory.
 * @throws CliError when the run refuses it, has ended, or does not answer in time.
 */
export async function sendEnvelope(
  session: Session,
  run: ExistingRun,
  envelope: Envelope,
  options: SendOptions,
): Promise<Sent> {
  const queue = run.description.taskQueue;
  const { client } = session;
  if ((await livePollers(client, { queue, kind: 'workflow' }, Date.now())).length === 0) {
    await client.workflow.getHandle(run.workflowId).signal(INBOX_SIGNAL, envelope);
    return { id: envelope.id, status: 'stored' };
  }
  const until = Date.now() + options.timeoutMs;
  for (let tries = 1; ; tries += 1) {
    try {
      const answer = await client.withDeadline(until, () =>
        client.workflow.getHandle(run.workflowId).executeUpdate<EnvelopeAnswer, [Envelope]>(SEND_UPDATE, {
          args: [envelope],
          updateId: envelope.id,
        }),
      );
      return { id: envelope.id, status: 'queued', place: answer.place ?? 1 };
    } catch (error) {
      if (isRunThatWentOn(error) && tries < TRIES) {
        await sleep(TRY_AGAIN_MS);
        continue;
      }
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)
        return withoutAnswer(session, run, envelope, options);
      throw explain(error, run, options.command);
    }
  }
}

function isRunThatWentOn(error: unknown): boolean {
  return (
    error instanceof WorkflowUpdateFailedError &&
    error.cause instanceof ApplicationFailure &&
    error.cause.type === RUN_WENT_ON
  );
}

function explain(error: unknown, run: ExistingRun, command: string): unknown {
  const shown = visibleText(run.workflowId);
  if (error instanceof WorkflowNotFoundError || isRunThatWentOn(error)) {
    return new CliError(
      EXIT_USAGE,
      `The run ${shown} has ended, so it takes nothing in any more. Read it: ${command} show ${shown}`,
      { cause: error },
    );
  }
  const { cause } = error instanceof WorkflowUpdateFailedError ? error : {};
  if (cause instanceof ApplicationFailure && cause.type === FAILURE.badMessage) {
    return new CliError(EXIT_USAGE, `The run ${shown} did not take it: ${visibleText(cause.message)}.`, {
      cause: error,
    });
  }
  return error;
}

/** A request that ran into its deadline is not withdrawn, so only history can tell whether the run has it. */
async function withoutAnswer(
  session: Session,
  run: ExistingRun,
  envelope: Envelope,
  { command }: SendOptions,
): Promise<Sent> {
  if (await isInHistory(session, run, envelope.id)) return { id: envelope.id, status: 'queued', place: 1 };
  const problem = await describePending(session, run.workflowId)
    .then((pending) => diagnose(session, pending, { command }))
    .catch(() => undefined);
  const shown = visibleText(run.workflowId);
  throw new CliError(
    EXIT_CODES.unavailable,
    `The run ${shown} did not answer in time, so whether it has the message is not known; it may still take it in. ` +
      (problem ?? `Look before you send it again: ${command} show ${shown}`),
  );
}

async function isInHistory(session: Session, run: ExistingRun, id: string): Promise<boolean> {
  const query = { workflowId: run.workflowId, runId: run.runId };
  const decoders = new Map<string, ReturnType<typeof createHistoryDecoder>>();
  for await (const { runId, events } of historyPages(session.client, query)) {
    const decoder = decoders.get(runId) ?? createHistoryDecoder(runId, { codecs: createCodecs() });
    decoders.set(runId, decoder);
    await decoder.push(events);
    if (decoder.facts()?.envelopes.has(id) === true) return true;
  }
  return false;
}
