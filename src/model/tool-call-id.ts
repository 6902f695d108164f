const WELL_FORMED_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** What the Messages API accepts as the id of a `tool_use` block. */
export function isToolCallId(id: string): boolean {
  return WELL_FORMED_ID.test(id);
}

/**
 * The id the n-th call (from 1) of a message gets: the endpoint's own if it is well-formed and not in `taken`, else
 * `<message id>-<n>`.
 */
export function chooseToolCallId(
  own: string,
  call: { readonly messageId: string; readonly n: number },
  taken: ReadonlySet<string>,
): string {
  if (isToolCallId(own) && !taken.has(own)) return own;
  const base = `${call.messageId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 48)}-${String(call.n)}`;
  let id = base;
  for (let k = 2; taken.has(id); k += 1) id = `${base}-${String(k)}`;
  return id;
}
