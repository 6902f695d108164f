import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { checkRecordFile, recordRun } from '../../src/cli/record-run';
import type { Message } from '../../src/contract/message';
import { runInput } from '../support/run-input';
import { startTestWorker, type TestWorker } from '../support/test-worker';
import { fakeIo } from './support/fake-io';
import { runView, turn } from './support/views';

const directory = mkdtempSync(path.join(os.tmpdir(), 'surehand-record-'));
let worker: TestWorker | undefined;

afterAll(async () => {
  await worker?.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('a run of each kind of answer, recorded and played → the same conversation, to the byte', async () => {
  worker = await startTestWorker();
  const { start, view } = worker;
  const play = async (script: string) => {
    const model = { provider: 'scripted', model: 'test', endpoint: 'scripted', script } as const;
    const handle = await start(runInput({ model }));
    const result = await handle.result();
    return { result, view: await view(handle.workflowId) };
  };
  const call = (id: string) => ({ type: 'tool_use', id, name: 'read', input: { text: `${id} # ä "x"\n  y: [1]` } });
  const script = JSON.stringify({
    turns: [
      { error: { status: 529, type: 'overloaded_error', times: 1 } },
      {
        text: 'First:\n\n  - a\n  - "b" 🔥  ',
        calls: [
          { id: 't1', name: 'read', input: { text: 'one' } },
          { name: 'read', input: {} },
        ],
      },
      {
        content: [{ type: 'thinking', thinking: ' t ', signature: 'S==' }, call('t2'), { type: 'text', text: 'after' }],
      },
      { content: [{ type: 'note_of_theirs', z: 1, a: [null] }, call('a b/ç')] },
      { content: [{ ...call('t3'), thought: { s: 'T==' } }] },
      { content: [], usage: { input: 7, output: 0, cacheRead: 5, cacheWrite: 3 } },
      { text: 'cut of', stop: 'max_tokens' },
      { text: 'true', stop: 'stop_sequence' },
    ],
  });
  const first = await play(script);
  expect(first.result.outcome).toBe('done');
  const file = path.join(directory, 'run.yaml');
  const io = fakeIo();
  recordRun(first.view, checkRecordFile(file), io);
  expect(io.said).toEqual([`recorded 7 turns in ${file}`]);
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const again = await play(readFileSync(file, 'utf8'));

  expect(JSON.stringify(again.view.messages.map(withoutId))).toBe(JSON.stringify(first.view.messages.map(withoutId)));
  expect(again.result).toMatchObject({ outcome: 'done', turns: 7, usage: first.result.usage });
  expect(again.view.turns.map(({ stopReason }) => stopReason)).toEqual(
    first.view.turns.map(({ stopReason }) => stopReason),
  );
});

test('a text and calls → written as people write them', () => {
  const content = [
    { type: 'text', text: 'I look.\nThen I edit.' },
    { type: 'tool_use', id: 't1', name: 'bash', input: { command: 'npm test' } },
  ] as const;
  const file = path.join(directory, 'plain.yaml');
  recordRun(runView([turn({ content, stopReason: 'tool_use' }), turn({ status: 'failed' })]), file, fakeIo());
  expect(readFileSync(file, 'utf8')).toBe(
    [
      '# What demo said in the run fix-k3f9. Play it: --model scripted:FILE',
      'turns:',
      '  - text: |-',
      '      I look.',
      '      Then I edit.',
      '    calls:',
      '      - id: t1',
      '        name: bash',
      '        input:',
      '          command: npm test',
      '',
    ].join('\n'),
  );
});

test('more than can be played → written, and said', () => {
  const io = fakeIo();
  const content = [{ type: 'text', text: 'x'.repeat(530_000) }] as const;
  recordRun(runView([turn({ content, stopReason: 'end_turn' })]), path.join(directory, 'long.yaml'), io);
  expect(io.said[0]).toMatch(/^recorded 1 turn in .*long\.yaml; it has more than 512 KB, which cannot be played$/);
});

test.each([
  ['a directory', () => directory, 'is a directory'],
  ['a file in a directory that does not exist', () => path.join(directory, 'no', 'x.yaml'), 'does not exist'],
])('%s as the file → refused before anything starts', (_, given, words) => {
  expect(() => checkRecordFile(given())).toThrow(words);
});

test('a file that cannot be written → a sentence with the reason', () => {
  const file = path.join(directory, 'taken');
  writeFileSync(file, '');
  expect(() => recordRun(runView([]), path.join(file, 'x.yaml'), fakeIo())).toThrow(
    /^The recording .* cannot be written \(ENOTDIR\)\.$/,
  );
});

function withoutId(message: Message): unknown {
  return { role: message.role, content: message.content };
}
