/** What a finished conversation's transcript says, held against its ledger. */
import { ledgerOf, surehand } from './bench.mjs';

/** @returns the conversation as `show --json` gives it, or undefined while it is open. */
export async function finishedView(bench, { name }) {
  const { code, stdout } = await surehand(bench, ['show', name, '--json']);
  if (stdout === '') return undefined;
  const view = JSON.parse(stdout);
  return code !== null && typeof view.outcome === 'string' && view.outcome !== 'working' ? view : undefined;
}

/** Counts and faults of one conversation. */
export function judge(conversation, view) {
  const ledger = ledgerOf(conversation);
  const count = (entry) => ledger.filter((line) => line === entry).length;
  const faults = invalidTranscript(view.messages).map((text) => `${conversation.name}: ${text}`);
  if (view.outcome !== 'done') faults.push(`${conversation.name}: outcome ${view.outcome} (${view.error?.message})`);
  const totals = { calls: 0, duplicates: 0, lost: 0, unknown: 0, notStarted: 0 };
  for (const { command, text } of callsOf(view.messages)) {
    const entry = /echo (\S+) >>/.exec(command)?.[1];
    const times = count(entry);
    const recorded = outcomeOf(text);
    totals.calls += 1;
    totals.duplicates += times > 1 ? 1 : 0;
    totals.lost += recorded === 'done' && times === 0 ? 1 : 0;
    totals.unknown += recorded === 'unknown' ? 1 : 0;
    totals.notStarted += recorded === 'not started' ? 1 : 0;
    if (recorded === 'not started' && times > 0) faults.push(`${entry}: recorded as not started, but it ran`);
    if (recorded === 'other') faults.push(`${entry}: unexpected result: ${text.slice(0, 200)}`);
  }
  if (totals.calls !== conversation.entries.length) faults.push(`${conversation.name}: ${totals.calls} calls recorded`);
  return { totals, faults };
}

function outcomeOf(text) {
  if (text.includes('[exit code 0]')) return 'done';
  if (/^Not started:|was not started/.test(text)) return 'not started';
  return /outcome (of this call is not known|unknown)/.test(text) ? 'unknown' : 'other';
}

function callsOf(messages) {
  return messages.flatMap((message, index) =>
    uses(message).map((use) => {
      const result = results(messages[index + 1]).find((block) => block.tool_use_id === use.id);
      return { command: use.input.command, text: result?.content ?? '' };
    }),
  );
}

/** Each call answered exactly once, in the very next message. */
export function invalidTranscript(messages) {
  return messages.flatMap((message, index) => {
    const asked = uses(message).map(({ id }) => id);
    const answered = results(messages[index + 1]).map(({ tool_use_id: id }) => id);
    return asked.length > 0 && asked.join() !== answered.join() ? [`message ${index} is not answered`] : [];
  });
}

function uses(message) {
  return message?.role === 'assistant' ? message.content.filter(({ type }) => type === 'tool_use') : [];
}

function results(message) {
  return message?.role === 'user' ? message.content.filter(({ type }) => type === 'tool_result') : [];
}
