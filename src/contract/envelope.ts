/** Everything a person sends to a running conversation, by update `send` or by signal `inbox`. */
export interface Envelope {
  /** Digest of content and a salt, made once by the sender; the same id is the same input. */
  readonly id: string;
  /** Milliseconds since the epoch, by the sender's clock. Inputs are taken in the order of (at, id). */
  readonly at: number;
  readonly kind: EnvelopeKind;
  readonly body: EnvelopeBody;
  /** SUREHAND_USER, else user@host. */
  readonly by: string;
}

export type EnvelopeKind = 'message' | 'approve' | 'deny' | 'interrupt' | 'configure' | 'stop';

export interface EnvelopeBody {
  /** For `message`: at most 128 KB. For `deny`: the reason, optional. */
  readonly text?: string;
  /** For `approve` and `deny`: `<turn>.<n>:<8 hex of the digest>`. */
  readonly call?: string;
}

/** Answer to an envelope: what happened, or will happen, with it. */
export interface EnvelopeAnswer {
  readonly id: string;
  readonly status: 'queued' | 'duplicate' | 'refused';
  /** Place in the queue, 1 = next. */
  readonly place?: number;
  readonly detail: string;
}
