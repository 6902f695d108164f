import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '..', '..');

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
export async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Finished> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

/** Runs statements as a module that can import the set-up scripts (`scripts` is their directory). */
export function runModule(statements: string, env?: NodeJS.ProcessEnv): Promise<Finished> {
  const prelude = `const load = (name) => import(${JSON.stringify(path.join(ROOT, 'scripts'))} + '/' + name);`;
  return run(
    process.execPath,
    ['--input-type=module', '-e', `${prelude}\n${statements}`],
    env === undefined ? {} : { env },
  );
}

export interface Checkout {
  readonly root: string;
  write(file: string, content: string): void;
  node(script: string, ...args: string[]): Promise<Finished>;
  remove(): void;
}

/** What a client prints in these checkouts: its arguments. It exits with 7, to see that the code gets through. */
export const ECHO_CLIENT = `process.stdout.write(JSON.stringify(process.argv.slice(2)) + '\\n');
process.exitCode = 7;
export {};
`;

/** A small checkout with the real scripts, the real dependencies and sources of its own. */
export function createCheckout(): Checkout {
  const root = path.join(mkdtempSync(path.join(tmpdir(), 'surehand-checkout-')), 'a checkout');
  mkdirSync(path.join(root, 'src'), { recursive: true });
  for (const name of ['scripts', 'surehand', 'package.json', 'package-lock.json', 'tsconfig.json']) {
    cpSync(path.join(ROOT, name), path.join(root, name), { recursive: true });
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  const write = (file: string, content: string): void => writeFileSync(path.join(root, file), content);
  write('src/client.ts', ECHO_CLIENT);
  return {
    root,
    write,
    node: (script, ...args) => run(process.execPath, [path.join(root, script), ...args]),
    remove: () => rmSync(path.dirname(root), { recursive: true, force: true }),
  };
}
