import type { FailureClass } from '../../src/contract/failure';
import type { Outcome } from '../../src/contract/outcome';
import type { MessagesPlan, PlannedAnswer, PlannedBlock, PlannedFault } from './messages-server';

/** One thing that an endpoint can do to a run, and how the run has to end. */
export interface ModelFault {
  readonly name: string;
  /** Before anything of the answer came, in the middle of it, or the answer itself. */
  readonly when: 'before' | 'mid-stream' | 'answer';
  /** What the endpoint does. A run without faults calls `tool` once, then says `Done.` */
  readonly plan: (tool: PlannedBlock) => MessagesPlan;
  /** Where the run looks for the endpoint; default: where it is. */
  readonly address?: (url: string) => string;
  /** How long one try may take; default: as long as it likes. */
  readonly callMs?: number;
  /** How long one call is tried; default: long enough for what passes. */
  readonly budgetMs?: number;
  readonly outcome: Outcome;
  readonly errorClass?: FailureClass;
  /** Requests that reach the endpoint; left out where time decides. */
  readonly requests?: number;
  /** Whether the tool runs. Default: in a run that ends well. */
  readonly runsTool?: boolean;
}

const SAYING: PlannedBlock = { type: 'text', text: 'I write one line into the ledger, then I am done.' };
const DONE: PlannedAnswer = { content: [{ type: 'text', text: 'Done.' }] };
const asking = (tool: PlannedBlock, fault?: PlannedFault): PlannedAnswer => ({
  content: [SAYING, tool],
  ...(fault === undefined ? {} : { fault }),
});

/** Both calls of the run meet the fault once, then succeed. */
function passing(name: string, when: ModelFault['when'], fault: (tool: PlannedBlock) => PlannedAnswer): ModelFault {
  const plan = (tool: PlannedBlock) => [fault(tool), asking(tool), fault(tool), DONE];
  return { name, when, plan, outcome: 'done', requests: 4 };
}

function lasting(
  name: string,
  fault: PlannedAnswer,
  end: Pick<ModelFault, 'outcome' | 'errorClass' | 'requests'>,
): ModelFault {
  return { name, when: 'before', plan: () => () => fault, ...end };
}

function status(code: number, type: string, headers: Readonly<Record<string, string>> = {}): PlannedAnswer {
  return { status: code, headers, body: { type: 'error', error: { type, message: `as planned: ${type}` } } };
}

const broken = (kind: PlannedFault['kind'], error?: PlannedFault['error']): ModelFault =>
  passing(`${kind}${error === undefined ? '' : ` ${error.type}`}`, 'mid-stream', (tool) =>
    asking(tool, { afterEvents: 5, kind, ...(error === undefined ? {} : { error }) }),
  );

const page: PlannedAnswer = { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Hi</p>' };
const limited = (headers?: Readonly<Record<string, string>>): PlannedAnswer => status(429, 'rate_limit_error', headers);
const ended = (stopReason: string, end: Pick<ModelFault, 'outcome' | 'errorClass'>): ModelFault => ({
  name: `stop reason ${stopReason}`,
  when: 'answer',
  plan: () => [{ content: [{ type: 'text', text: 'Done.' }], stopReason }],
  requests: 1,
  runsTool: false,
  ...end,
});

/** A date half a second and more from now: the header has whole seconds. */
const soon = (): string => new Date(Date.now() + 1_500).toUTCString();

/** Every fault of an endpoint, before and in the middle of its answer, and every way an answer can end. */
export const MODEL_FAULTS: readonly ModelFault[] = [
  lasting('401 authentication', status(401, 'authentication_error'), {
    outcome: 'unauthenticated',
    errorClass: 'unauthenticated',
    requests: 1,
  }),
  lasting('403 permission', status(403, 'permission_error'), {
    outcome: 'unauthenticated',
    errorClass: 'permission_refused',
    requests: 1,
  }),
  lasting('402 billing', status(402, 'billing_error'), { outcome: 'failed', errorClass: 'billing', requests: 1 }),
  lasting('404 not found', status(404, 'not_found_error'), {
    outcome: 'failed',
    errorClass: 'not_found',
    requests: 1,
  }),
  lasting('400 invalid request', status(400, 'invalid_request_error'), {
    outcome: 'failed',
    errorClass: 'invalid_request',
    requests: 1,
  }),
  lasting('413 too large', status(413, 'request_too_large'), {
    outcome: 'failed',
    errorClass: 'too_large',
    requests: 1,
  }),
  passing('429 retry-after 1', 'before', () => limited({ 'retry-after': '1' })),
  passing('429 retry-after a date', 'before', () => limited({ 'retry-after': soon() })),
  passing('429 without retry-after', 'before', () => limited()),
  lasting('429 retry-after a day', limited({ 'retry-after': '86400' }), {
    outcome: 'unavailable',
    errorClass: 'rate_limited',
    requests: 1,
  }),
  {
    ...lasting('429 for ever', limited({ 'retry-after': '1' }), { outcome: 'unavailable', errorClass: 'rate_limited' }),
    budgetMs: 4_000,
  },
  {
    ...lasting('529 for ever', status(529, 'overloaded_error'), { outcome: 'unavailable', errorClass: 'overloaded' }),
    budgetMs: 4_000,
  },
  passing('529 overloaded', 'before', () => status(529, 'overloaded_error')),
  passing('500 server error', 'before', () => status(500, 'api_error')),
  passing('502 web page', 'before', () => ({ status: 502, headers: { 'content-type': 'text/html' }, body: '<html>' })),
  passing('200 web page', 'before', () => page),
  passing('reset', 'before', () => ({ reset: true })),
  passing('slow first byte', 'before', (tool) => ({ content: [SAYING, tool], headerDelayMs: 60_000 })),
  passing('silence after headers', 'before', (tool) => asking(tool, { afterEvents: 0, kind: 'silence' })),
  passing('pings only', 'before', (tool) => asking(tool, { afterEvents: 0, kind: 'pings' })),
  passing('error event first', 'before', (tool) => asking(tool, { afterEvents: 0, kind: 'error' })),
  {
    ...lasting('unknown host name', DONE, { outcome: 'unavailable', errorClass: 'connection', requests: 0 }),
    address: () => 'http://nowhere.invalid',
    budgetMs: 2_000,
  },
  {
    ...lasting('no TLS', DONE, { outcome: 'unavailable', errorClass: 'connection', requests: 0 }),
    address: (url) => url.replace('http:', 'https:'),
  },
  broken('cut'),
  broken('end'),
  broken('silence'),
  broken('pings'),
  broken('garbage'),
  broken('error'),
  broken('error', { type: 'rate_limit_error', message: 'as planned' }),
  broken('error', { type: 'api_error', message: 'as planned' }),
  broken('error-as-message'),
  {
    name: 'an answer that never ends',
    when: 'mid-stream',
    plan: () => () => ({ content: [{ type: 'text', text: 'x'.repeat(2_000) }], deltaChars: 4, eventDelayMs: 100 }),
    callMs: 2_000,
    budgetMs: 3_000,
    outcome: 'unavailable',
    errorClass: 'stalled',
    requests: 2,
  },
  ended('end_turn', { outcome: 'done' }),
  ended('stop_sequence', { outcome: 'done' }),
  ended('refusal', { outcome: 'failed', errorClass: 'refused' }),
  ended('something_new', { outcome: 'failed', errorClass: 'internal' }),
  {
    name: 'stop reason pause_turn',
    when: 'answer',
    plan: (tool) => [{ content: [SAYING], stopReason: 'pause_turn' }, asking(tool), DONE],
    outcome: 'done',
    requests: 3,
  },
  {
    name: 'max_tokens in a text',
    when: 'answer',
    plan: (tool) => [{ content: [SAYING], stopReason: 'max_tokens' }, asking(tool), DONE],
    outcome: 'done',
    requests: 3,
  },
  {
    name: 'max_tokens in a call',
    when: 'answer',
    plan: (tool) => [{ content: [SAYING, cut(tool)], stopReason: 'max_tokens' }, asking(tool), DONE],
    outcome: 'done',
    requests: 3,
  },
  {
    name: 'a call cut in its JSON',
    when: 'answer',
    plan: (tool) => [{ content: [SAYING, cut(tool)] }, asking(tool), DONE],
    outcome: 'done',
    requests: 3,
  },
  {
    name: 'max_tokens in each call',
    when: 'answer',
    plan: (tool) => () => ({ content: [SAYING, cut(tool)], stopReason: 'max_tokens' }),
    outcome: 'limit_reached',
    errorClass: 'no_progress',
    runsTool: false,
  },
];

/** The call without the end of its input. */
function cut(tool: PlannedBlock): PlannedBlock {
  const { input, ...rest } = tool;
  return { ...rest, inputText: JSON.stringify(input).slice(0, -3) };
}
