import { openChatInput, readTyped } from '../../src/cli/chat-input';
import { fakeIo } from './support/fake-io';

test.each([
  ['fix the test', { kind: 'text', text: 'fix the test' }],
  ['  indented: kept as typed', { kind: 'text', text: '  indented: kept as typed' }],
  ['/help', { kind: 'help' }],
  [' /exit ', { kind: 'exit' }],
  ['/detach', { kind: 'detach' }],
  ['/quit', { kind: 'unknown', command: '/quit' }],
  ['//etc is a directory', { kind: 'text', text: '/etc is a directory' }],
  ['', undefined],
  ['   ', undefined],
])('the line "%s" → %j', (line, expected) => {
  expect(readTyped(line)).toEqual(expected);
});

test('lines of a pipe → one by one, blank ones left out, no prompt; its end ends the chat', async () => {
  const io = fakeIo({ stdin: 'one\r\n\n/help\ntwo' });
  const input = openChatInput(io);

  const typed = [await input.next(), await input.next(), await input.next(), await input.next()];

  expect(typed).toEqual([
    { kind: 'text', text: 'one' },
    { kind: 'help' },
    { kind: 'text', text: 'two' },
    { kind: 'exit' },
  ]);
  expect(io.said).toEqual([]);
  input.close();
});

test('a terminal → asks for each line; its end (Ctrl-D) leaves the chat open', async () => {
  const io = fakeIo({ stdin: 'one\n', isTerminal: true });
  const input = openChatInput(io);

  expect([await input.next(), await input.next()]).toEqual([{ kind: 'text', text: 'one' }, { kind: 'detach' }]);
  expect(io.said).toEqual(['> ', '> ']);
  input.close();
});
