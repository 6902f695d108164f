import { strictestOf, verdict } from '../../src/permissions/verdict';
import type { VerdictRequest } from '../../src/permissions/verdict';

const read = { tool: 'read_file', effect: 'read', runsCommands: false } as const;
const edit = { tool: 'edit_file', effect: 'write', runsCommands: false } as const;
const bash = { tool: 'bash', effect: 'write', runsCommands: true } as const;
/** Of one's own: nothing confines what it changes. */
const note = { tool: 'note', effect: 'write', runsCommands: false, asksInAuto: true } as const;
const look = { tool: 'bash', effect: 'read', runsCommands: true } as const;

type Call = Pick<VerdictRequest, 'tool' | 'effect' | 'runsCommands' | 'asksInAuto'>;

const judge = (call: Call, more: Partial<VerdictRequest> = {}) =>
  verdict({
    permission: { mode: 'auto', unattended: false },
    sandbox: { mode: 'strict', detail: 'holds' },
    protectedWrite: 'none',
    ...call,
    ...more,
  });

test.each([
  ['auto', read, 'allow'],
  ['auto', edit, 'allow'],
  ['auto', bash, 'allow'],
  ['auto', note, 'ask'],
  ['ask', note, 'ask'],
  ['read-only', note, 'deny'],
  ['ask', read, 'allow'],
  ['ask', edit, 'ask'],
  ['ask', bash, 'ask'],
  ['ask', look, 'allow'],
  ['read-only', read, 'allow'],
  ['read-only', edit, 'deny'],
  ['read-only', bash, 'deny'],
  ['read-only', look, 'allow'],
] as const)('mode %s, %j → %s', (mode, call, expected) => {
  expect(judge(call, { permission: { mode, unattended: false } }).verdict).toBe(expected);
});

test.each([
  ['strict', bash, 'allow'],
  ['off', bash, 'allow'],
  ['broken', bash, 'deny'],
  ['broken', look, 'deny'],
  ['broken', read, 'allow'],
  ['broken', edit, 'allow'],
] as const)('sandbox %s, %j → %s', (mode, call, expected) => {
  expect(judge(call, { sandbox: { mode, detail: 'why' } }).verdict).toBe(expected);
});

test('sandbox broken → the reason says why and how to mend it', () => {
  const { reason } = judge(bash, { sandbox: { mode: 'broken', detail: 'no namespaces' } });
  expect(reason).toContain('no namespaces');
  expect(reason).toContain('surehand doctor');
  expect(reason).toContain('--sandbox=off');
});

test('unattended → what would ask is denied, what is allowed stays allowed', () => {
  const permission = { mode: 'ask', unattended: true } as const;
  expect(judge(edit, { permission })).toMatchObject({ verdict: 'deny' });
  expect(judge(edit, { permission }).reason).toContain('unattended');
  expect(judge(read, { permission }).verdict).toBe('allow');
});

test.each([
  ['none', 'auto', 'allow'],
  ['asks', 'auto', 'ask'],
  ['refused', 'auto', 'deny'],
  ['asks', 'read-only', 'deny'],
] as const)('protected write %s in mode %s → %s', (protectedWrite, mode, expected) => {
  expect(judge(edit, { protectedWrite, permission: { mode, unattended: false } }).verdict).toBe(expected);
});

test('deny > ask > allow, whatever the order', () => {
  const all = (['allow', 'ask', 'deny'] as const).map((each) => ({ verdict: each, reason: each }));
  expect(strictestOf(all).verdict).toBe('deny');
  expect(strictestOf([...all].reverse()).verdict).toBe('deny');
  expect(strictestOf(all.slice(0, 2)).verdict).toBe('ask');
});
