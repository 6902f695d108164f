'use strict';
/**
 * A tool of one's own that changes something outside the workspace: it adds a note to a ticket. Nothing confines it, so
 * each call asks a person, and no call is ever started twice: `callId` lets the tracker know a repetition by itself, too.
 *
 * TRACKER_URL and TRACKER_TOKEN come from the worker's environment; name them in your settings file so that the local
 * worker gets them: { "tools": ["/path/to/add-note.cjs"], "toolVariables": ["TRACKER_URL", "TRACKER_TOKEN"] }
 */
module.exports = ({ defineTool, z }) =>
  defineTool({
    name: 'add_note',
    description: 'Adds a note to a ticket of the issue tracker. People are notified of it.',
    input: z.object({
      ticket: z
        .string()
        .regex(/^[A-Z]+-\d+$/)
        .describe('For example SHOP-42'),
      note: z.string().min(1).max(4000),
    }),
    effect: 'write',
    summary: ({ ticket }) => ticket,
    execute: async ({ ticket, note }, { callId, signal }) => {
      const response = await fetch(`${process.env.TRACKER_URL}/tickets/${ticket}/notes`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${process.env.TRACKER_TOKEN}`,
          'content-type': 'application/json',
          'idempotency-key': encodeURIComponent(callId),
        },
        body: JSON.stringify({ note }),
        signal,
      });
      if (!response.ok) return { text: `The tracker refused it: ${response.status}`, isError: true };
      return `Added to ${ticket}.`;
    },
  });
