/**
 * Whether an error is one of the operating system's, and (if codes are given) one of these. Judged by its form: an error
 * made in another realm (a test runner's) is no instance of our `Error`.
 */
export function isNodeError(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('syscall' in error)) return false;
  return typeof error.code === 'string' && (codes.length === 0 || codes.includes(error.code));
}
