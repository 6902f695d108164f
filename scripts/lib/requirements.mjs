import { SetupError } from './say.mjs';
import { runCommand } from './run-command.mjs';

const LEAST_NODE = [20, 19, 0];

/** Compares version numbers; missing parts count as 0. */
export function isAtLeast(version, least) {
  for (const [index, wanted] of least.entries()) {
    const found = version[index] ?? 0;
    if (found !== wanted) return found > wanted;
  }
  return true;
}

/** The first version number in a text, or undefined. */
export function parseVersion(text) {
  const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return match === null ? undefined : match.slice(1).map((part) => Number(part ?? 0));
}

/** What must be there before anything is fetched. Costs nothing, so it runs each time. */
export function checkMachine({
  version = process.versions.node,
  platform = process.platform,
  arch = process.arch,
} = {}) {
  if (!isAtLeast(parseVersion(version) ?? [], LEAST_NODE)) {
    throw new SetupError(
      `Node ${LEAST_NODE.join('.')} or newer is needed; this is ${version}.`,
      'Install a newer one (for example from nodejs.org or with nvm: nvm install 22) and run it again.',
    );
  }
  if (platform !== 'linux' || !['x64', 'arm64'].includes(arch)) {
    throw new SetupError(
      `surehand runs on Linux, x64 or arm64; this is ${platform} ${arch}.`,
      'Use a Linux machine, a virtual machine or a container.',
    );
  }
}

/** git is used by the agent's workspaces and by the demo. */
export async function checkGit() {
  const { code } = await runCommand('git', ['--version']);
  if (code !== 0) throw new SetupError('git is missing.', 'Install it (Debian, Ubuntu: apt-get install git).');
}

/** The SDK's native part has no build for musl: better said before a download than after. */
export function checkLibc() {
  const { header } = process.report.getReport();
  if (header.glibcVersionRuntime === undefined) {
    throw new SetupError(
      "this system's C library is not glibc, and the Temporal SDK has no build for it.",
      'Use a distribution with glibc (Debian, Ubuntu, Fedora; for containers an image such as node:22-bookworm-slim).',
    );
  }
}
