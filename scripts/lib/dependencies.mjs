import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './checkout.mjs';
import { lastLines, runCommand } from './run-command.mjs';
import { SetupError, say } from './say.mjs';

/**
 * Whether node_modules holds what package-lock.json asks for. npm writes its own record of an installation as the last
 * thing, so an interrupted one does not count as done.
 */
export function dependenciesAreInstalled(root = ROOT) {
  const wanted = readPackages(path.join(root, 'package-lock.json'));
  if (wanted === undefined) throw new SetupError('package-lock.json is missing or damaged.', 'Restore it from git.');
  const installed = readPackages(path.join(root, 'node_modules', '.package-lock.json'));
  if (installed === undefined) return false;
  return Object.entries(wanted).every(([name, entry]) => {
    if (name === '' || entry.link === true) return true;
    const found = installed[name];
    // Optional packages of other platforms are in the lock file only.
    return found === undefined ? entry.optional === true || entry.peer === true : found.version === entry.version;
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Installs exactly what the lock file says, with npm as the user has configured it. No package's install script runs. */
export async function installDependencies(env) {
  say('installing the dependencies (npm ci)');
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, output, missing } = await runNpm(args, env);
  if (missing) throw new SetupError('npm is missing.', 'Install npm (it comes with Node) and run it again.');
  if (code !== 0) {
    throw new SetupError(
      'the dependencies could not be installed: npm ci failed (its last lines are above).',
      'Look at the network and at npm’s proxy and registry settings (npm config list), and run it again.',
      { output: lastLines(output) },
    );
  }
}

function runNpm(args, env) {
  // Under `npm start` this is the npm that was called, which need not be the one on PATH.
  const npm = env.npm_execpath;
  if (npm !== undefined && /npm-cli\.c?js$/.test(npm)) {
    return runCommand(process.execPath, [npm, ...args], { cwd: ROOT, env });
  }
  return runCommand('npm', args, { cwd: ROOT, env });
}
