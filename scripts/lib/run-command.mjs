import { spawn } from 'node:child_process';

/**
 * Runs a program to its end and answers what it printed.
 * @returns {Promise<{ code: number, output: string, missing: boolean }>} `output` is stdout and stderr as they came; `missing` when there is no such program.
 */
export function runCommand(program, args, { cwd, env, timeoutMs } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs });
    let output = '';
    const collect = (chunk) => (output += chunk.toString());
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ code: 127, output: String(error), missing: error.code === 'ENOENT' }));
    child.on('close', (code, signal) => resolve({ code: code ?? (signal === null ? 1 : 128), output, missing: false }));
  });
}

/** The last lines of a program's output, which is where it says what went wrong. */
export function lastLines(output, count = 15) {
  return output.trimEnd().split('\n').slice(-count).join('\n');
}
