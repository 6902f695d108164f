import type { Host } from '../../src/activities/host';
import { CONVERSATION_QUERY } from '../../src/contract/names';
import type { Message } from '../../src/contract/message';
import type { Conversation } from '../../src/conversation/conversation';
import { messagesForModel } from '../../src/conversation/record';
import type { Model } from '../../src/model/port';
import { createScriptedModel } from '../../src/model/scripted/scripted-model';
import type { TemporalClient } from '../../src/temporal/connection';

export interface Disagreement {
  readonly turn: number;
  readonly fromHistory: readonly Message[];
  readonly fromWorkflow: readonly Message[];
}

export interface Agreement {
  readonly models: Host['models'];
  /** Model calls at which both were compared. */
  compared(): number;
  disagreements(): readonly Disagreement[];
}

/**
 * A scripted model that, at each call, asks the workflow for its own messages and compares them with what the activity
 * read from history or cache.
 */
export function compareAtEachCall(temporal: () => TemporalClient, workflowId: string): Agreement {
  const scripted = createScriptedModel({ onWarning: () => undefined });
  const found: Disagreement[] = [];
  let compared = 0;
  const model: Model = {
    respond: async (request, options) => {
      if (request.summary !== undefined) return scripted.respond(request, options);
      const handle = temporal().client.workflow.getHandle(workflowId);
      const conversation = await handle.query<Conversation>(CONVERSATION_QUERY);
      const fromWorkflow = messagesForModel(conversation);
      compared += 1;
      if (JSON.stringify(fromWorkflow) !== JSON.stringify(request.messages)) {
        found.push({ turn: request.turn, fromHistory: request.messages, fromWorkflow });
      }
      return scripted.respond(request, options);
    },
  };
  return { models: () => model, compared: () => compared, disagreements: () => found };
}
