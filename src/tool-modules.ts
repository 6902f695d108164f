import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { ToolModule } from './config-tools';
import { ConfigError } from './config-value';
import { defineTool, faultOf, isOwnTool, toTool } from './tools/define-tool';
import type { OwnTool, ToolApi } from './tools/define-tool';
import { strictSchema } from './tools/registry';
import type { Tool } from './tools/tool';

interface Found {
  readonly tool: OwnTool;
  readonly module: string;
}

/**
 * Loads tools of one's own, from CommonJS and ES modules alike.
 * @param builtin whose names are taken.
 * @throws ConfigError that names the module and what is wrong: not there, fails to load, no tool in it, a malformed one, a
 * name that another tool has.
 */
export async function loadToolModules(
  modules: readonly ToolModule[],
  builtin: readonly Tool[],
  load: (file: string) => Promise<unknown> = (file) => import(pathToFileURL(file).href),
): Promise<readonly Tool[]> {
  const found: Found[] = [];
  for (const module of modules) found.push(...(await toolsOf(module, load)));
  const owners = new Map(builtin.map(({ name }) => [name, 'the built-in tools']));
  for (const { tool, module } of found) {
    const owner = owners.get(tool.name);
    if (owner !== undefined) {
      throw new ConfigError(
        `There are two tools named "${tool.name}": one of ${owner}, one of ${module}. Give one of them another name.`,
      );
    }
    owners.set(tool.name, module);
  }
  return found.map(({ tool }) => toTool(tool));
}

async function toolsOf({ name, file }: ToolModule, load: (file: string) => Promise<unknown>): Promise<Found[]> {
  if (file === undefined) {
    throw new ConfigError(`The tool module ${name} cannot be found. Install the package, or name a file by its path.`);
  }
  if (!existsSync(file)) throw new ConfigError(`The tool module ${file} is not there. Look at its path.`);
  let values: readonly object[];
  try {
    values = await exportedTools(await load(file));
  } catch (error) {
    throw new ConfigError(`The tool module ${file} cannot be loaded: ${reasonOf(error)}`, { cause: error });
  }
  if (values.length === 0) {
    throw new ConfigError(
      `The tool module ${file} exports no tool. Export what defineTool answers, or a list of them.`,
    );
  }
  return values.map((value) => ({ tool: checked(value, file), module: file }));
}

function reasonOf(error: unknown): string {
  const [line] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line ?? '';
}

function checked(value: object, file: string): OwnTool {
  const name = 'name' in value && typeof value.name === 'string' ? `The tool "${value.name}"` : 'A tool';
  const fault = faultOf(value);
  if (fault !== undefined || !isOwnTool(value)) {
    throw new ConfigError(`${name} of the module ${file} is not usable: ${fault ?? ''}.`);
  }
  try {
    strictSchema(value.input);
  } catch (error) {
    throw new ConfigError(
      `${name} of the module ${file} is not usable: its input has no JSON schema: ${reasonOf(error)}`,
      {
        cause: error,
      },
    );
  }
  return value;
}

/** The tools among a module's exports; its main export may be a tool, a list, or a function that makes either. */
async function exportedTools(loaded: unknown): Promise<readonly object[]> {
  if (typeof loaded !== 'object' || loaded === null) return [];
  const { default: given, ...named } = loaded as Readonly<Record<string, unknown>>;
  // What a compiler made of an ES module is the main export of a CommonJS module.
  const main = isObject(given) && '__esModule' in given && 'default' in given ? given.default : given;
  const values = [...(await made(main)), ...Object.values(named).flat()];
  // The main export of a CommonJS module holds its named ones.
  const inner: readonly unknown[] =
    isObject(given) && !looksLikeTool(given) && !Array.isArray(given) ? Object.values(given).flat() : [];
  return [...new Set([...values, ...inner])].filter(isObject).filter(looksLikeTool);
}

type MakeTools = (api: ToolApi) => unknown;

async function made(main: unknown): Promise<readonly unknown[]> {
  const value = typeof main === 'function' ? await (main as MakeTools)({ defineTool, z }) : main;
  return Array.isArray(value) ? (value as readonly unknown[]) : [value];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Half a tool is one with a fault, not something else. */
function looksLikeTool(value: object): boolean {
  return ['name', 'description', 'effect', 'execute'].filter((key) => key in value).length >= 2;
}
