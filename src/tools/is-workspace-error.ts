import type { WorkspaceError } from '../workspace/ports';

/** A refusal of the workspace that the model can act on. Told by its name: tools know the port's types only. */
export function isWorkspaceError(error: unknown): error is WorkspaceError {
  return error instanceof Error && error.name === 'WorkspaceError';
}
