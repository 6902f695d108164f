import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { google } from '@temporalio/proto';
import { SEARCH_ATTRIBUTES } from '../contract/names';
import { canConnect } from './loopback';

const RETENTION_SECONDS = 90 * 24 * 60 * 60;
const POLL_MS = 20;
const CALL_TIMEOUT_MS = 5_000;

interface NamespaceOptions {
  readonly address: string;
  readonly namespace: string;
  readonly timeoutMs: number;
  /** Settles when the server's process has ended: then waiting is pointless. */
  readonly gone: Promise<unknown>;
}

/**
 * Waits until the server serves the namespace with all search attributes, and raises its retention to 90 days
 * (a new one has 24 hours: transcripts would be gone the next day).
 * @returns false when the server ended or the time was over.
 */
export async function prepareNamespace(options: NamespaceOptions): Promise<boolean> {
  const deadline = Date.now() + options.timeoutMs;
  let ended = false;
  void options.gone.then(() => (ended = true));
  const goesOn = (): boolean => !ended && Date.now() < deadline;
  // The client's own waiting for a connection starts with a back-off of a second.
  while (goesOn() && !(await canConnect(options.address))) await sleep(POLL_MS);
  if (!goesOn()) return false;
  const connection = Connection.lazy({ address: options.address });
  try {
    while (goesOn()) {
      if (await attempt(connection, options.namespace)) return true;
      await sleep(POLL_MS);
    }
    return false;
  } finally {
    await connection.close();
  }
}

async function attempt(connection: Connection, namespace: string): Promise<boolean> {
  try {
    // Each call ends before the connection is closed: closing it under a waiting call ends the process.
    return await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, async () => {
      await keepFor90Days(connection, namespace);
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      return Object.keys(SEARCH_ATTRIBUTES).every((name) => name in customAttributes);
    });
  } catch {
    return false;
  }
}

/**
 * How many workflows are at work; rejects when the server does not answer. A chat that waits for its next message needs
 * nobody: the command that brings the message starts the server again.
 */
export async function countOpenRuns(address: string, namespace: string): Promise<number> {
  const connection = Connection.lazy({ address });
  try {
    const query = 'ExecutionStatus="Running" AND (SurehandState IS NULL OR SurehandState != "waiting-for-message")';
    const { count } = await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, () =>
      connection.workflowService.countWorkflowExecutions({ namespace, query }),
    );
    return Number(count);
  } finally {
    await connection.close();
  }
}

async function keepFor90Days(connection: Connection, namespace: string): Promise<void> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  if (Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) >= RETENTION_SECONDS) return;
  const retention = google.protobuf.Duration.fromObject({ seconds: RETENTION_SECONDS });
  await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: retention } });
}
