import { inspect } from 'node:util';
import { createContext } from './cli/command-context';
import { createIo } from './cli/io';
import { runProgram } from './cli/program';
import { toCliError } from './cli/report-error';

/** The command line: `surehand COMMAND …`. */
async function main(): Promise<void> {
  const io = createIo(process.env, process);
  let exitCode = 0;
  try {
    await runProgram(
      process.argv.slice(2),
      createContext(io, (code) => (exitCode = code)),
    );
  } catch (error) {
    const { message, exitCode: code } = toCliError(error);
    if (message !== '') io.say(`surehand: ${message}`);
    if (io.env['SUREHAND_DEBUG']) io.say(inspect(error));
    exitCode = code;
  }
  // Open connections and watchers must not keep a command that is over.
  process.exit(exitCode);
}

void main();
