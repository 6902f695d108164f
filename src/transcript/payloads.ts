import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common';

/** Payloads of an event → values, through the codec chain. */
export async function decodePayloads(
  payloads: readonly Payload[] | null | undefined,
  codecs: readonly PayloadCodec[],
): Promise<unknown[]> {
  if (payloads === null || payloads === undefined || payloads.length === 0) return [];
  let decoded: Payload[] = [...payloads];
  for (const codec of [...codecs].reverse()) decoded = await codec.decode(decoded);
  return decoded.map((payload) => defaultPayloadConverter.fromPayload<unknown>(payload));
}

/** The same for a map of payloads (memo). */
export async function decodeFields(
  fields: Readonly<Record<string, Payload>> | null | undefined,
  codecs: readonly PayloadCodec[],
): Promise<Record<string, unknown>> {
  const entries = Object.entries(fields ?? {});
  const values = await decodePayloads(
    entries.map(([, payload]) => payload),
    codecs,
  );
  return Object.fromEntries(entries.map(([key], index) => [key, values[index]]));
}
