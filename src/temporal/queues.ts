/** Task queue names: one function, so that worker, client and tests cannot disagree. */

/** Workflows that any worker may run. */
export function workflowQueue(prefix: string): string {
  return prefix;
}

/** Activities, and embedded workflows, of the one host that has the workspace. */
export function hostQueue(prefix: string, hostId: string): string {
  return `${prefix}-host-${hostId}`;
}
