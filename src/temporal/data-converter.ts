import type { DataConverter, PayloadCodec } from '@temporalio/common';

/** The codec chain of this installation. Empty today; worker, client, replay and readers all take it from here. */
export function createCodecs(): PayloadCodec[] {
  return [];
}

/** The one data converter: a payload written by any part of surehand is read by every other. */
export function createDataConverter(): DataConverter {
  return { payloadCodecs: createCodecs() };
}
