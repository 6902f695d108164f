import { createHash, randomBytes } from 'node:crypto';
import type { Envelope, EnvelopeBody, EnvelopeKind } from '../contract/envelope';

/** An input of a person. The same content sent twice is two inputs, so a salt makes the id; a repeat of one keeps it. */
export function createEnvelope(kind: EnvelopeKind, body: EnvelopeBody, by: string): Envelope {
  const content = JSON.stringify([kind, body, by]);
  const id = createHash('sha256').update(randomBytes(16)).update(content).digest('hex').slice(0, 24);
  return { id, at: Date.now(), kind, body, by };
}
