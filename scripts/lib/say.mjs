import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What set-up says goes to stderr, one line each: stdout belongs to the command that follows. */
export function say(line) {
  process.stderr.write(`surehand: ${line}\n`);
}

/** A failure that a person can act on: what failed, what to do next, and optionally the output that shows it. */
export class SetupError extends Error {
  constructor(what, next, { output = '', exitCode = 2 } = {}) {
    super(next === '' ? what : `${what}\n  ${next}`);
    this.name = 'SetupError';
    this.output = output;
    this.exitCode = exitCode;
  }
}

/** Prints a failure and answers the exit code that goes with it. */
function report(error) {
  if (!(error instanceof SetupError)) {
    say(`set-up failed unexpectedly: ${error instanceof Error ? error.stack : String(error)}`);
    return 2;
  }
  if (error.output !== '') process.stderr.write(`${error.output.trimEnd()}\n`);
  say(error.message);
  return error.exitCode;
}

/** Whether the module with this URL is the script that was called (also through a link), not imported by another. */
export function isMain(moduleUrl) {
  const script = process.argv[1];
  return script !== undefined && existsSync(script) && realpathSync(script) === fileURLToPath(moduleUrl);
}

/** Runs a script's main function; a failure ends the process with its exit code. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    process.exitCode = report(error);
  }
}
