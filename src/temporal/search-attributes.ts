import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
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

function names(): SearchAttributeName[] {
  return Object.keys(SEARCH_ATTRIBUTES) as SearchAttributeName[];
}
