import type { Usage } from './message';

/** What is known about a model beside its name. */
export interface ModelInfo {
  /** USD per million tokens. */
  readonly price: Usage;
  /** Tokens that its window holds. */
  readonly contextTokens: number;
  /** Tokens that one answer may have. */
  readonly maxOutputTokens: number;
}
