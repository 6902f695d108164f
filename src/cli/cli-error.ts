/** Ends the command with one sentence on stderr and an exit code. The only error whose text people see as it is. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    readonly exitCode: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
