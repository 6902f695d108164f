import { homedir } from 'node:os';
import { join } from 'node:path';
import { createCommandRunner } from '../../src/workspace/command-runner';
import { commandToolchains, findToolchain } from '../../src/workspace/toolchain';
import { findBwrap } from '../support/bwrap';
import { createToolBench } from '../tools/tool-bench';
import type { ToolBench } from '../tools/tool-bench';

let bench: ToolBench;
beforeEach(() => {
  bench = createToolBench();
});
afterEach(() => {
  bench.close();
});

const at = (path: string): string => join(bench.outside, path);
const make = (script: string): string => bench.sh(`cd ../outside; ${script}`);
const detect = (...directories: readonly string[]) =>
  commandToolchains({ listed: undefined, path: directories.join(':'), forbidden: [homedir(), bench.state] });
const list = (directory: string) =>
  commandToolchains({ listed: [directory], path: '', forbidden: [homedir(), bench.state] });

describe('the program that runs the worker', () => {
  test('under /usr → nothing to bind', () => {
    expect(findToolchain('/usr/bin/env')).toMatchObject({ mounts: [], binDirectories: [] });
  });

  test('an installation of node elsewhere → all of it; a lone program → just the file', () => {
    make('mkdir -p v/bin v/lib/node_modules/npm lone; touch v/bin/node lone/node; ln -s v/bin/node node');
    expect(findToolchain(at('node'))).toMatchObject({ mounts: [at('v')], binDirectories: [at('v/bin')] });
    expect(findToolchain(at('lone/node'))).toMatchObject({ mounts: [at('lone/node')], binDirectories: [at('lone')] });
  });
});

describe('found by PATH', () => {
  test("rust by rustup → its programs and toolchains, not cargo's own directory with its keys", () => {
    make('mkdir -p .cargo/bin .rustup; touch .cargo/bin/rustup .cargo/bin/cargo .cargo/credentials.toml');
    expect(detect(at('.cargo/bin'))).toEqual([
      {
        name: 'rust',
        mounts: [at('.cargo/bin'), at('.rustup')],
        binDirectories: [at('.cargo/bin')],
        environment: { RUSTUP_HOME: at('.rustup') },
      },
    ]);
  });

  test('a version manager with shims, a node, a go, a java → each with its own place', () => {
    make(`mkdir -p .pyenv/shims .pyenv/versions .pyenv/bin n/bin n/lib/node_modules/npm go/bin go/pkg/tool jdk/bin jdk/lib
      touch .pyenv/bin/pyenv n/bin/node go/bin/go go/bin/gofmt jdk/bin/java jdk/lib/modules; ln -s n/bin current`);
    const found = detect(
      at('.pyenv/shims'),
      at('current'),
      at('n/bin'),
      at('go/bin'),
      at('jdk/bin'),
      at('missing'),
      '.',
    );
    expect(found.map(({ name, mounts }) => [name, mounts])).toEqual([
      ['pyenv', [at('.pyenv')]],
      ['node', [at('n')]],
      ['go', [at('go')]],
      ['java', [at('jdk')]],
    ]);
    expect(found[0]).toMatchObject({
      binDirectories: [at('.pyenv/shims'), at('.pyenv/bin')],
      environment: { PYENV_ROOT: at('.pyenv') },
    });
  });

  test('a directory of scripts, the system, a prefix that holds the state directory → nothing', () => {
    make('mkdir -p scripts home/bin home/lib/node_modules/npm; touch scripts/x');
    bench.sh('cd ..; mkdir -p bin lib/node_modules/npm; touch bin/node');
    expect(detect(at('scripts'), '/usr/bin', '/bin', join(bench.outside, '..', 'bin'))).toEqual([]);
  });
});

describe('by setting', () => {
  test('a directory → bound whole, its bin on PATH, and its programs run in the sandbox, which cannot change it', async () => {
    make(`mkdir -p tool/bin; printf '#!/bin/sh\\necho it works' > tool/bin/my-tool; chmod +x tool/bin/my-tool`);
    const runner = createCommandRunner({
      stateDirectory: bench.state,
      workspace: bench.workspace,
      sandbox: { mode: 'strict', bwrapPath: findBwrap() },
      nodePath: process.execPath,
      toolchains: list(at('tool')),
    });
    const script = `my-tool; touch ${at('tool/x')}; ls ${bench.outside}`;
    const command = await runner.start({ callId: 'tool', command: script, timeoutMs: 10_000 });
    while ((await runner.poll(command)).running) await new Promise((resolve) => setTimeout(resolve, 5));
    const { head } = await runner.output(command, { headBytes: 5000, tailBytes: 0 });
    expect(head).toMatch(/^it works\ntouch: .*Read-only file system\ntool\n$/u);
  });

  test.each([
    ['missing', () => at('none'), /is not a directory/u],
    ['the root', () => '/', /must not be shown to commands/u],
    ['a home', () => homedir(), /must not be shown to commands/u],
    ['above the state directory', () => join(bench.state, '..'), /must not be shown to commands/u],
    ['above it, by a link', () => (make('ln -s .. up'), at('up')), /must not be shown to commands/u],
  ])('%s → refused in words', (_, directory, message) => {
    expect(() => list(directory())).toThrow(message);
  });

  test('none listed → none, whatever PATH says', () => {
    make('mkdir -p n/bin n/lib/node_modules/npm; touch n/bin/node');
    expect(commandToolchains({ listed: [], path: at('n/bin'), forbidden: [] })).toEqual([]);
  });
});
