import { readFileSync } from 'node:fs';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020';
import { EXIT_USAGE } from '../contract/outcome';
import { CliError } from './cli-error';
import { visibleLine, visibleText } from './visible-text';

const MAX_BYTES = 64 * 1024;

/**
 * Reads the JSON Schema that the answer of a run has to satisfy.
 * @throws CliError (exit code 2) when it cannot be read, is no schema, or is not for an object.
 */
export function readOutputSchema(file: string): Readonly<Record<string, unknown>> {
  const shown = `The output schema ${visibleText(file)}`;
  const schema = parse(read(file, shown), shown);
  if (typeof schema !== 'object' || schema === null || (schema as Record<string, unknown>)['type'] !== 'object') {
    throw usage(`${shown} must be a JSON Schema with "type": "object"; wrap another type in a property.`);
  }
  const known = schema as Readonly<Record<string, unknown>>;
  try {
    const Validator = JSON.stringify(known['$schema'] ?? '').includes('2020-12') ? Ajv2020 : Ajv;
    new Validator({ strict: false, logger: false }).compile(known);
  } catch (error) {
    throw usage(`${shown} is no valid JSON Schema: ${visibleLine((error as Error).message, 300)}.`);
  }
  return known;
}

function read(file: string, shown: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(`${shown} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`);
  }
  if (Buffer.byteLength(text) > MAX_BYTES) throw usage(`${shown} has more than 64 KB.`);
  return text;
}

function parse(text: string, shown: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`${shown} is not valid JSON: ${visibleLine((error as Error).message, 200)}.`);
  }
}

function usage(message: string): CliError {
  return new CliError(EXIT_USAGE, message);
}
