import { z } from 'zod';
import { findCommand, unknownCommand } from './bash-output';
import { endSentence } from './command-report';
import { oneLine } from './file-text';
import { defineTool } from './tool';

export const bashKillTool = defineTool({
  name: 'bash_kill',
  description: 'Ends a command that bash started in the background, and everything it started.',
  schema: z.object({ id: z.string().describe('The id that bash returned.') }),
  // It changes nothing but what the run itself set going, and doing it twice is doing it once.
  effect: 'read',
  summarize: (input) => oneLine(input.id),
  run: async (input, context) => {
    const command = findCommand(input.id, context);
    if (command === undefined) return unknownCommand(input.id);
    const before = await context.commands.poll(command);
    await context.commands.stop(command, 'cancelled');
    const state = await context.commands.poll(command);
    const what = endSentence({ state, command: '' }, context.sandbox);
    const text = before.running ? `${input.id} was ended: ${what}.` : `${input.id} had already ended: ${what}.`;
    return { text: `${text} bash_output still shows what it wrote.` };
  },
});
