import { bashTool } from './bash';
import { bashKillTool } from './bash-kill';
import { bashOutputTool } from './bash-output';
import { editFileTool } from './edit-file';
import { globTool } from './glob';
import { grepTool } from './grep';
import { listFilesTool } from './list-files';
import { readFileTool } from './read-file';
import { todoWriteTool } from './todo-write';
import type { Tool } from './tool';
import { writeFileTool } from './write-file';

/** The tools every worker has. A new one needs its file and a line here. */
export const BUILTIN_TOOLS: readonly Tool[] = [
  bashTool,
  bashKillTool,
  bashOutputTool,
  editFileTool,
  globTool,
  grepTool,
  listFilesTool,
  readFileTool,
  todoWriteTool,
  writeFileTool,
];
