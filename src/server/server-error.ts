/**
 * What can go wrong with the embedded server, said for people.
 * `usage`: the person can correct it (state directory, missing tool) and nothing was started; `unavailable`: it did not come up.
 */
export class ServerError extends Error {
  readonly kind: 'usage' | 'unavailable';

  constructor(kind: 'usage' | 'unavailable', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ServerError';
    this.kind = kind;
  }
}

/** The code of a Node system error (`ENOENT`), or undefined for any other value. */
export function errorCode(error: unknown): string | undefined {
  // By shape: an error that another realm made (a test runner's) is no instance of this one's Error.
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
