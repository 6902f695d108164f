/**
 * Prepares a checkout: dependencies, tools, build. Does nothing, quickly, when all is there already. Runs before
 * node_modules exists, so it imports nothing but Node.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildIsCurrent, ensureBuild } from './build.mjs';
import { BUILDS, isCheckout, toolsDirectory } from './lib/checkout.mjs';
import { dependenciesAreInstalled, installDependencies } from './lib/dependencies.mjs';
import { fetchTool } from './lib/fetch-tool.mjs';
import { checkGit, checkLibc, checkMachine } from './lib/requirements.mjs';
import { SetupError, isMain, runMain, say } from './lib/say.mjs';
import { withLock } from './lib/setup-lock.mjs';
import { TOOLS, fetchedTool, findTool } from './lib/tools.mjs';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Brings the checkout to the state that the commands need.
 * @param {{ env: Record<string, string | undefined>, thorough?: boolean }} options `thorough`: also try again what could not be had lately.
 */
export async function setUp({ env, thorough = false }) {
  checkMachine();
  const [hasTemporal, hasSandbox] = await Promise.all([
    isThere(TOOLS.temporal, env),
    isThere(TOOLS.bwrap, env).then((there) => there || (!thorough && failedLately(TOOLS.bwrap, env))),
  ]);
  const inCheckout = isCheckout();
  if (hasTemporal && hasSandbox && (!inCheckout || (dependenciesAreInstalled() && buildIsCurrent()))) return;

  checkLibc();
  await checkGit();
  const tools = async () => {
    if (!hasTemporal) await fetchTool(TOOLS.temporal, env);
    if (!hasSandbox) await fetchSandbox(env);
  };
  const build = async () => {
    if (!dependenciesAreInstalled()) await installDependencies(env);
    await ensureBuild();
  };
  if (!inCheckout) return tools();
  await withLock(path.join(BUILDS, 'lock'), () => bothToTheEnd(tools(), build()));
}

async function isThere(tool, env) {
  return fetchedTool(tool, env) !== undefined || (await findTool(tool, env)) !== undefined;
}

/** Waits for both also when one fails: nothing may go on writing after the failure was reported. */
async function bothToTheEnd(...parts) {
  for (const part of await Promise.allSettled(parts)) {
    if (part.status === 'rejected') throw part.reason;
  }
}

/** Without a sandbox surehand still works, within limits that it states itself; so this only warns. */
async function fetchSandbox(env) {
  try {
    await fetchTool(TOOLS.bwrap, env);
    rmSync(failureNote(TOOLS.bwrap, env), { force: true });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(`warning: ${error.message}`);
    say('warning: going on without bwrap; commands of the agent are refused unless you switch the sandbox off');
    mkdirSync(toolsDirectory(env), { recursive: true });
    writeFileSync(failureNote(TOOLS.bwrap, env), String(Date.now()));
  }
}

/** So that a machine without access to the wheel does not try to download it at each command. */
function failedLately(tool, env) {
  try {
    return Date.now() - Number(readFileSync(failureNote(tool, env), 'utf8')) < DAY_MS;
  } catch {
    return false;
  }
}

function failureNote(tool, env) {
  return path.join(toolsDirectory(env), `.${tool.wheel}-${tool.version}.failed`);
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    await setUp({ env: process.env, thorough: true });
    say('set-up is complete');
  });
}
