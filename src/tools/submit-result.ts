import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv';
import Ajv2020 from 'ajv/dist/2020';
import { z } from 'zod';
import { TOOLS } from '../contract/names';
import type { Tool } from './tool';
import { defineTool } from './tool';

const MAX_PROBLEMS = 8;

/**
 * The tool that ends a run with an output schema: its input is the run's answer, accepted only if the schema accepts it.
 * The model gets the schema as the form of the tool's input.
 * @param schema a JSON Schema for an object, checked where the run was started.
 */
export function submitResultTool(schema: Readonly<Record<string, unknown>>): Tool {
  const validate = compile(schema);
  return {
    ...defineTool({
      name: TOOLS.submit,
      description:
        'Ends the task with its answer, in the form that this input asks for. Call it once, when everything else is done; its input is what the person gets.',
      schema: z.looseObject({}),
      effect: 'read',
      summarize: () => '',
      run: (input) => {
        if (validate(input)) return Promise.resolve({ text: 'Accepted.' });
        const problems = (validate.errors ?? []).slice(0, MAX_PROBLEMS).map(describe);
        const text = `Not accepted; correct this and call it again:\n${problems.join('\n')}`;
        return Promise.resolve({ text, isError: true });
      },
    }),
    inputSchema: schema,
  };
}

function compile(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const isNew = JSON.stringify(schema['$schema'] ?? '').includes('2020-12');
  const options = { allErrors: true, strict: false, logger: false } as const;
  return (isNew ? new Ajv2020(options) : new Ajv(options)).compile(schema);
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const where = instancePath === '' ? 'the input' : instancePath;
  const values: unknown = 'allowedValues' in params ? params['allowedValues'] : undefined;
  const extra: unknown = 'additionalProperty' in params ? params['additionalProperty'] : undefined;
  const detail = values === undefined ? extra : values;
  return `- ${where} ${message ?? 'is not valid'}${detail === undefined ? '' : `: ${JSON.stringify(detail)}`}`;
}
