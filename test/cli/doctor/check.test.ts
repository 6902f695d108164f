import { check } from '../../../src/cli/doctor/check';
import { renderChecks } from '../../../src/cli/doctor/render-checks';
import { fakeIo } from '../support/fake-io';

const plan = { id: 'x', why: 'It matters.' };

test('a check that hangs ends in time, as failed', async () => {
  const before = Date.now();
  const look = (): Promise<never> => new Promise(() => undefined);
  await expect(check({ ...plan, timeoutMs: 50, look })).resolves.toEqual({
    id: 'x',
    state: 'fail',
    detail: 'no answer within 0.05 s',
    why: 'It matters.',
    mend: 'Look whether it is overloaded or hangs, and try again.',
  });
  expect(Date.now() - before).toBeLessThan(2_000);
});

test('a check that throws is failed, with the error’s words made visible', async () => {
  const look = (): never => {
    throw new Error('no \u001b[31m');
  };
  await expect(check({ ...plan, look })).resolves.toMatchObject({ state: 'fail', detail: 'no ^[[31m' });
});

test('text: what is well is one line; the rest says why it matters and how to mend it; the last line counts', () => {
  const ok = { id: 'node', state: 'ok', detail: 'Node 20', why: 'Needed.', mend: null } as const;
  const part = { ...ok, id: 'sandbox:ipc', detail: 'holds' };
  const warn = { id: 'model', state: 'warn', detail: 'no key', why: 'Each turn.', mend: 'Set one.' } as const;
  const fail = { ...warn, id: 'server', state: 'fail' } as const;
  expect(renderChecks([ok, part, warn, fail], fakeIo())).toEqual([
    '✓ node: Node 20 — Needed.',
    '✓ sandbox:ipc: holds',
    '! model: no key',
    '    why:  Each turn.',
    '    mend: Set one.',
    '✗ server: no key',
    '    why:  Each turn.',
    '    mend: Set one.',
    '',
    '1 to mend, 1 to look at.',
  ]);
  expect(renderChecks([ok, warn], fakeIo()).at(-1)).toBe('Nothing fails; 1 to look at.');
  expect(renderChecks([ok], fakeIo()).at(-1)).toBe('All is well.');
});
