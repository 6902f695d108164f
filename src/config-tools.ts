import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { z } from 'zod';
import { findSettings, parseSettings } from './config-files';
import type { SettingsSource } from './config-files';
import type { Settings } from './config-schema';
import { ConfigError, parseValue } from './config-value';
import type { Env } from './config-value';

/** A module with tools, as somebody named it. */
export interface ToolModule {
  readonly name: string;
  /** Absent when nothing is found by that name; who loads it says so. */
  readonly file?: string;
}

interface OwnTools {
  readonly tools: readonly ToolModule[];
  readonly stamp: readonly string[];
  /** Names of environment variables that they read. */
  readonly variables: readonly string[];
}

interface ToolNames {
  readonly names: readonly string[];
  /** The directory that relative paths and packages are looked for from. */
  readonly from: string;
}

const listSchema = z.array(z.string().min(1));

/**
 * Tools are code that runs as the worker, so only who starts the worker names them: by its flag, its environment, or the
 * settings file that is the user's own. A file that a run names may come with the workspace. The embedded worker is told
 * the list: by the time it starts again, a run may have changed a file.
 * @param overrides.forWorker the command that has these flags starts a worker.
 * @throws ConfigError
 */
export function readOwnTools(
  env: Env,
  overrides: {
    readonly settingsFile?: string;
    readonly tools?: readonly string[];
    readonly forWorker?: boolean;
    readonly embeddedWorker: boolean;
  },
): OwnTools {
  const named = overrides.settingsFile === undefined ? undefined : findSettings(env, overrides.settingsFile);
  const usual = findSettings(env, undefined);
  if (named !== undefined && named.path !== usual.path && overrides.forWorker !== true) refuseTools(named);
  const sourceOf = (file: SettingsSource): Settings => (overrides.embeddedWorker ? {} : parseSettings(file));
  const file = overrides.forWorker === true ? (named ?? usual) : usual;
  const lists = (source: SettingsSource, more: readonly string[]): ToolModule[] =>
    findToolModules([
      { names: sourceOf(source).tools ?? [], from: path.dirname(source.path) },
      { names: [...toolsFromEnv(env), ...more], from: process.cwd() },
    ]);
  return {
    tools: lists(file, overrides.tools ?? []),
    stamp: toolStamp(lists(usual, [])),
    variables: sourceOf(file).toolVariables ?? [],
  };
}

function refuseTools(file: SettingsSource): void {
  const { tools, toolVariables } = parseSettings(file);
  if (tools === undefined && toolVariables === undefined) return;
  throw new ConfigError(
    `The settings file ${file.path} names tools, which --settings of this command may not do. ` +
      'Name them in your own settings file, or start the worker with --tools.',
  );
}

/** Modules by path or package name, each file once. */
function findToolModules(lists: readonly ToolNames[]): ToolModule[] {
  const modules = lists.flatMap(({ names, from }) => names.map((name) => findModule(name, from)));
  return [...new Map(modules.map((module) => [module.file ?? module.name, module])).values()];
}

/** `SUREHAND_TOOLS`: a JSON array of paths and package names. @throws ConfigError */
function toolsFromEnv(env: Env): readonly string[] {
  const text = env['SUREHAND_TOOLS'];
  if (text === undefined || text === '') return [];
  try {
    return parseValue('SUREHAND_TOOLS', JSON.parse(text), listSchema);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError('SUREHAND_TOOLS is not valid JSON, for example ["/srv/tools/tickets.js"].', { cause: error });
  }
}

/** Changes when a module's file does, so that a worker with the older one is replaced. */
function toolStamp(modules: readonly ToolModule[]): readonly string[] {
  return modules.map(({ name, file }) => {
    const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
    return `${file ?? name}@${String(stats?.mtimeMs ?? 0)}`;
  });
}

function findModule(name: string, from: string): ToolModule {
  if (/^\.{0,2}\//.test(name) || path.isAbsolute(name)) return { name, file: path.resolve(from, name) };
  try {
    return { name, file: createRequire(path.join(from, 'settings.json')).resolve(name) };
  } catch {
    return { name };
  }
}
