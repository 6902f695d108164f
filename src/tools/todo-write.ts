import { z } from 'zod';
import { TOOLS } from '../contract/names';
import { oneLine } from './file-text';
import { defineTool } from './tool';

const MAX_TODOS = 50;

export const todoWriteTool = defineTool({
  name: TOOLS.todo,
  description: [
    'Writes your plan for this task, the whole list each time: what is done, what you do now, what is left. The person',
    'sees it. Use it for work of several steps; keep exactly one step in_progress while you work.',
  ].join(' '),
  schema: z.object({
    todos: z
      .array(
        z.object({
          text: z.string().min(1).max(300).describe('The step, in a few words.'),
          status: z.enum(['pending', 'in_progress', 'completed']),
        }),
      )
      .max(MAX_TODOS),
  }),
  effect: 'read',
  summarize: ({ todos }) => {
    const done = todos.filter(({ status }) => status === 'completed').length;
    const now = todos.find(({ status }) => status === 'in_progress')?.text;
    return oneLine(`${done} of ${todos.length} done${now === undefined ? '' : `, now: ${now}`}`);
  },
  run: () => Promise.resolve({ text: 'Noted.' }),
});
