/**
 * Compiles src/ and bundles the workflows. Each build has a directory of its own, named by the digest of its sources,
 * and `dist` is a link to the newest: it changes in one step, and a process that started with an older build goes on
 * loading from that one.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { lstatSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BUILDS, ROOT } from './lib/checkout.mjs';
import { runCommand } from './lib/run-command.mjs';
import { SetupError, isMain, runMain, say } from './lib/say.mjs';
import { withLock } from './lib/setup-lock.mjs';
import { listFiles, sourceHash } from './lib/source-hash.mjs';

const DIST = path.join(ROOT, 'dist');
const BUILDS_KEPT = 3;

/** Whether `dist` is the build of the present sources. */
export function buildIsCurrent() {
  try {
    return readFileSync(path.join(DIST, 'build-id'), 'utf8').trim() === sourceHash();
  } catch {
    return false;
  }
}

/** Makes `dist` the build of the present sources. The caller holds the checkout's lock. */
export async function ensureBuild() {
  for (;;) {
    const id = sourceHash();
    const directory = path.join(BUILDS, id);
    if (!existsSync(path.join(directory, 'build-id'))) {
      await build(id, directory);
      // Edited while it was compiled: what came out may belong to neither state.
      if (sourceHash() !== id) {
        rmSync(directory, { recursive: true, force: true });
        continue;
      }
    }
    pointDistTo(id);
    removeOldBuilds(id);
    return;
  }
}

async function build(id, directory) {
  say('building');
  const scratch = path.join(BUILDS, `tmp-${process.pid}`);
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  try {
    await compile(scratch);
    copyAssets(scratch);
    await bundle(scratch);
    writeFileSync(path.join(scratch, 'build-id'), `${id}\n`);
    rmSync(directory, { recursive: true, force: true });
    renameSync(scratch, directory);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function compile(scratch) {
  const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { code, output } = await runCommand(process.execPath, [tsc, '-p', 'tsconfig.json', '--outDir', scratch], {
    cwd: ROOT,
  });
  if (code !== 0) {
    throw new SetupError('the sources do not compile (see above).', 'Correct them and run it again.', {
      output,
      exitCode: 1,
    });
  }
}

/** Files beside the sources that are read at run time. */
function copyAssets(scratch) {
  for (const file of listFiles(path.join(ROOT, 'src'), '.')) {
    if (file.endsWith('.ts')) continue;
    mkdirSync(path.dirname(path.join(scratch, file)), { recursive: true });
    copyFileSync(path.join(ROOT, 'src', file), path.join(scratch, file));
  }
}

async function bundle(scratch) {
  if (!existsSync(path.join(scratch, 'workflows', 'agent.js'))) {
    say('note: src/workflows/agent.ts is not there, so no workflow bundle was made');
    return;
  }
  const script = path.join(ROOT, 'scripts', 'lib', 'bundle-workflows.mjs');
  const { code, output } = await runCommand(process.execPath, [script, scratch], { cwd: ROOT });
  if (code !== 0) {
    throw new SetupError('the workflows could not be bundled (see above).', 'Correct them and run it again.', {
      output,
      exitCode: 1,
    });
  }
}

function pointDistTo(id) {
  const target = path.join(path.basename(BUILDS), id);
  const now = new Date();
  utimesSync(path.join(BUILDS, id), now, now);
  const existing = lstatSync(DIST, { throwIfNoEntry: false });
  if (existing?.isSymbolicLink() && readlinkSync(DIST) === target) return;
  // A directory that somebody's own `tsc` made: a link cannot replace it in one step.
  if (existing?.isDirectory()) rmSync(DIST, { recursive: true, force: true });
  const link = path.join(BUILDS, `link-${process.pid}`);
  rmSync(link, { force: true });
  symlinkSync(target, link);
  renameSync(link, DIST);
}

function removeOldBuilds(current) {
  const others = readdirSync(BUILDS)
    .filter((name) => name !== current && name !== 'lock')
    .map((name) => ({ name, time: lstatSync(path.join(BUILDS, name)).mtimeMs }))
    .sort((a, b) => b.time - a.time);
  // Only builds count; whatever else is there was left by a process that was killed.
  const builds = others.filter(({ name }) => /^[0-9a-f]{16}$/.test(name));
  const kept = new Set(builds.slice(0, BUILDS_KEPT - 1).map(({ name }) => name));
  for (const { name } of others) {
    if (!kept.has(name)) rmSync(path.join(BUILDS, name), { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    if (!buildIsCurrent()) await withLock(path.join(BUILDS, 'lock'), ensureBuild);
    say(`dist is build ${sourceHash()}`);
  });
}
