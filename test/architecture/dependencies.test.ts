import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { msToNumber, type Duration } from '@temporalio/common/lib/time';
import protobuf from 'protobufjs/package.json';

test('protobufjs 8 is the one at the root, so that histories can be written as JSON and replayed', () => {
  // With an older copy hoisted in its place this throws `type must be a Type`.
  expect(historyToJSON({ events: [] })).toBe('{}');
  expect(protobuf.version).toMatch(/^8\./);
});

test("the SDK's durations are checked by the compiler, not silently any", () => {
  const good: Duration = '5 minutes';
  // @ts-expect-error: `npm run types` is red here when the declaration in src/ms.d.ts no longer works.
  const bad: Duration = '5 banana';
  expect(msToNumber(good)).toBe(300_000);
  expect(() => msToNumber(bad)).toThrow('banana');
});
