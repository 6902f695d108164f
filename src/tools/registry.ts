import { z } from 'zod';
import type { Tool } from './tool';

/** A tool as a model sees it: strict JSON Schema, `required` always an array, nothing beside the named properties. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ToolRegistry {
  /** Adds one tool or many; all or none. @throws when a name is taken or is no proper tool name. */
  register(...tools: readonly Tool[]): void;
  get(name: string): Tool | undefined;
  exists(name: string): boolean;
  names(): readonly string[];
  /** False if there was none. */
  unregister(name: string): boolean;
  clear(): void;
  /** Sorted by name, so that a request's prefix does not depend on the order of registration. */
  definitions(): readonly ToolSchema[];
}

/** What model endpoints accept as a name. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/u;

export function createToolRegistry(tools: readonly Tool[] = []): ToolRegistry {
  const byName = new Map<string, Tool>();
  const names = (): readonly string[] => [...byName.keys()].sort();
  const registry: ToolRegistry = {
    register: (...added) => {
      const seen = new Set(byName.keys());
      for (const { name } of added) {
        if (!TOOL_NAME.test(name)) throw new Error(`"${name}" is no tool name: use 1 to 64 letters, digits, _ and -.`);
        if (seen.has(name)) throw new Error(`There is already a tool named "${name}"; give one of them another name.`);
        seen.add(name);
      }
      for (const tool of added) byName.set(tool.name, tool);
    },
    get: (name) => byName.get(name),
    exists: (name) => byName.has(name),
    names,
    unregister: (name) => byName.delete(name),
    clear: () => {
      byName.clear();
    },
    definitions: () =>
      names()
        .flatMap((name) => byName.get(name) ?? [])
        .map(toToolSchema),
  };
  registry.register(...tools);
  return registry;
}

function toToolSchema(tool: Tool): ToolSchema {
  return { name: tool.name, description: tool.description, inputSchema: tool.inputSchema ?? strictSchema(tool.schema) };
}

/** JSON Schema of a tool's input, with every object closed and `required` written out. */
export function strictSchema(schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const entries = Object.entries(z.toJSONSchema(schema, { io: 'input' })).filter(([key]) => key !== '$schema');
  return closeObjects(Object.fromEntries(entries)) as Readonly<Record<string, unknown>>;
}

function closeObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeObjects);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closeObjects(part)]));
  const isObjectSchema = copy['type'] === 'object' && 'properties' in copy;
  return isObjectSchema ? { ...copy, required: copy['required'] ?? [], additionalProperties: false } : copy;
}
