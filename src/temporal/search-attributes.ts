import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../contract/names';

const TYPE_OF = { Keyword: 'KEYWORD', Int: 'INT', Double: 'DOUBLE' } as const;

/**
 * Which of our search attributes the namespace knows. Only these may be set: an unregistered one makes every workflow
 * task of the run fail.
 */
export async function registeredSearchAttributes(client: Client, namespace: string): Promise<SearchAttributeName[]> {
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  return names().filter((name) => name in customAttributes);
}

/** Typed pairs for the start options; values of attributes that are not registered are left out. */
export function searchAttributePairs(
  values: Partial<Record<SearchAttributeName, string | number>>,
  registered: readonly SearchAttributeName[],
): SearchAttributePair[] {
  return names()
    .filter((name) => registered.includes(name) && values[name] !== undefined)
    .map(
      (name) =>
        ({
          key: defineSearchAttributeKey(name, TYPE_OF[SEARCH_ATTRIBUTES[name]]),
          value: values[name],
        }) as SearchAttributePair,
    );
}

/** How the namespace's search attributes differ from ours. */
export interface AttributeDifference {
  readonly missing: readonly SearchAttributeName[];
  /** There, but of another type; the server cannot change one. */
  readonly ofOtherType: readonly SearchAttributeName[];
}

/** @throws the gRPC error. */
export async function compareSearchAttributes(client: Client, namespace: string): Promise<AttributeDifference> {
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  return {
    missing: names().filter((name) => !(name in customAttributes)),
    ofOtherType: names().filter((name) => name in customAttributes && customAttributes[name] !== indexedType(name)),
  };
}

/** Registers attributes, and waits until the server knows them or the client's deadline is over. @throws the gRPC error. */
export async function registerSearchAttributes(
  client: Client,
  namespace: string,
  wanted: readonly SearchAttributeName[],
): Promise<void> {
  const searchAttributes = Object.fromEntries(wanted.map((name) => [name, indexedType(name)]));
  await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  // The server answers before every part of it knows the new ones.
  while ((await compareSearchAttributes(client, namespace)).missing.some((name) => wanted.includes(name))) {
    await sleep(POLL_MS);
  }
}

const POLL_MS = 50;

function indexedType(name: SearchAttributeName): temporal.api.enums.v1.IndexedValueType {
  const { IndexedValueType: types } = temporal.api.enums.v1;
  return {
    Keyword: types.INDEXED_VALUE_TYPE_KEYWORD,
    Int: types.INDEXED_VALUE_TYPE_INT,
    Double: types.INDEXED_VALUE_TYPE_DOUBLE,
  }[SEARCH_ATTRIBUTES[name]];
}

function names(): SearchAttributeName[] {
  return Object.keys(SEARCH_ATTRIBUTES) as SearchAttributeName[];
}
