import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { SearchAttributeName } from '../contract/names';

/** Our own state where the server knows the attribute, else what Temporal says. */
export function stateOf(run: WorkflowExecutionDescription): string {
  const status = run.status.name;
  if (status === 'TERMINATED' || status === 'TIMED_OUT') return status.toLowerCase().replace('_', ' ');
  const ours = attributeOf(run, 'SurehandState');
  if (typeof ours === 'string') return ours;
  const states: Partial<Record<string, string>> = {
    RUNNING: 'working',
    COMPLETED: 'done',
    FAILED: 'failed',
    CANCELLED: 'cancelled',
  };
  return states[status] ?? status.toLowerCase();
}

/** A search attribute of ours; `undefined` where it is not registered. */
export function attributeOf(run: WorkflowExecutionDescription, name: SearchAttributeName): unknown {
  return run.typedSearchAttributes.getAll().find(({ key }) => key.name === name)?.value;
}
