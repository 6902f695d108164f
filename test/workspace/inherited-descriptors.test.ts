import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createToolBench } from '../tools/tool-bench';
import { closingArgv, inheritedDescriptors } from '../../src/workspace/inherited-descriptors';

test('a descriptor that a program would inherit → found and closed; one of our own is none', () => {
  const own = openSync('/dev/null', 'r');
  expect(inheritedDescriptors()).not.toContain(own);
  closeSync(own);
  const script = `exec 7</dev/null 200</dev/null; exec "$@"`;
  const list = closingArgv([7, 200], ['/bin/sh', '-c', 'ls /proc/self/fd; echo "$1"', 'x', 'a  b']);
  const { stdout } = spawnSync('/bin/bash', ['-c', script, 'x', ...list], { encoding: 'utf8' });
  expect(stdout.split('\n')).not.toContain('7');
  expect(stdout.split('\n')).not.toContain('200');
  expect(stdout).toContain('a  b\n');
});

test('nothing to close → the argv as it is', () => {
  expect(closingArgv([], ['a', 'b'])).toEqual(['a', 'b']);
});

test.each(['strict', 'off'] as const)(
  'sandbox %s: a command has its standard descriptors and no others',
  async (sandbox) => {
    const bench = createToolBench({ sandbox });
    try {
      // One more is the directory that is being read.
      expect((await bench.call('bash', { command: 'ls /proc/self/fd' })).message).toBe('0\n1\n2\n3\n[exit code 0]');
    } finally {
      bench.close();
    }
  },
);
