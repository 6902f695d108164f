import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { parseDuration } from './format';

/** The flags of the commands that start a run. */
export function addRunOptions(command: Command): Command {
  return command
    .option('-w, --workspace <dir>', 'the directory to work in (default: this one)')
    .option('-m, --model <model>', 'a model id, or scripted:FILE for a recorded model (default: SUREHAND_MODEL)')
    .option('--id <id>', 'name of the run; the same command with the same id attaches to it')
    .option('--again', 'start anew although a run with this id has ended')
    .addOption(
      new Option('--mode <mode>', 'auto: sandboxed changes are allowed · ask: every change asks · read-only').choices([
        'auto',
        'ask',
        'read-only',
      ]),
    )
    .option('--unattended', 'nobody will answer: what would ask is denied')
    .option('--max-turns <n>', 'end the run after so many model calls', wholeNumber)
    .option('--max-cost <usd>', 'end the run at this cost in USD', amount)
    .option('--max-tokens <n>', 'end the run after so many tokens, in and out', wholeNumber)
    .option('--max-time <duration>', 'end the run after this time: 90s, 10m, 2h', duration)
    .option(
      '--output-schema <file>',
      'end only with an answer that this JSON Schema accepts; --json has it as `structured`',
    )
    .option('--dump-requests <dir>', 'write each request to the model as JSON into this directory');
}

export function addRecordOption(command: Command): Command {
  return command.option('--record <file>', 'write what the model said as a script for --model scripted:FILE');
}

export function addSettingsOption(command: Command): Command {
  return command.option('--settings <file>', 'a settings file instead of the user’s own');
}

/** For the commands that start a worker. */
export function addToolsOption(command: Command): Command {
  const collect = (module: string, before: readonly string[] = []): readonly string[] => [...before, module];
  return command.option(
    '--tools <module>',
    'load tools of one’s own, from a file or a package; may be repeated',
    collect,
  );
}

export function addOutputOptions(command: Command): Command {
  return command
    .addOption(new Option('--json', 'print exactly one JSON document on stdout, the result').conflicts('streamJson'))
    .option('--stream-json', 'print one JSON event a line on stdout, the result last');
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError('It must be a whole number above zero.');
}

function amount(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError('It must be a number above zero.');
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('It must be a time like 90s, 10m or 2h.');
}
