import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import table from './import-table.json';
import { importsOf, parse, type Import, type Source } from './parse-source';

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export interface Row {
  /** Areas whose modules may be imported. Its own area is always among them. */
  readonly imports: readonly string[];
  /** Areas that may be imported by `import type` only. */
  readonly types: readonly string[];
  /** Package names; `scope/*` for a family, `node:*` for Node's modules, `npm:*` for any package that is not special. */
  readonly packages: readonly string[];
  /** It may load modules by a name that is known only when it runs. */
  readonly computed?: boolean;
}

/** Packages that `npm:*` does not cover: only the rows that name them may import them. */
const SPECIAL_PACKAGES = [/^@temporalio\//, /^@anthropic-ai\//];

const AREAS = table.areas.map(({ area, files }) => ({ area, pattern: new RegExp(`^(?:${files})$`) }));
const ROWS: Readonly<Record<string, Row>> = table.rows;

/** Area of a module by its path in `src` without extension, the first that matches; `undefined` if it has no place. */
export function areaOf(modulePath: string): string | undefined {
  return AREAS.find(({ pattern }) => pattern.test(modulePath))?.area;
}

/** Names that the table uses and does not define: a misspelt row would permit nothing, or everything, unnoticed. */
export function undefinedNames(): string[] {
  const areas = new Set(AREAS.map(({ area }) => area));
  const used = Object.values(ROWS).flatMap((row) => [...row.imports, ...row.types]);
  return [
    ...used.filter((area) => !areas.has(area)),
    ...Object.keys(ROWS).filter((area) => !areas.has(area)),
    ...[...areas].filter((area) => ROWS[area] === undefined),
  ];
}

/** Every import that the table does not allow. */
export function checkImports(sources: readonly Source[]): Violation[] {
  return sources.flatMap((source) => {
    const area = areaOf(withoutExtension(source.path));
    const row = area === undefined ? undefined : ROWS[area];
    if (area === undefined || row === undefined) {
      return [{ path: source.path, line: 1, message: 'has no place in the import table' }];
    }
    return importsOf(parse(source)).flatMap((found) => {
      const message = judge(source.path, area, row, found);
      return message === undefined ? [] : [{ path: source.path, line: found.line, message }];
    });
  });
}

/** Folders that import each other, directly or in a ring: `a → b → a`. */
export function findFolderCycles(sources: readonly Source[]): string[] {
  const edges = new Map<string, Set<string>>();
  for (const source of sources) {
    const from = folderOf(withoutExtension(source.path));
    const targets = edges.get(from) ?? new Set<string>();
    edges.set(from, targets);
    for (const { specifier } of importsOf(parse(source))) {
      if (specifier?.startsWith('.') !== true) continue;
      const to = folderOf(resolve(source.path, specifier));
      if (to !== from) targets.add(to);
    }
  }
  return [...edges.keys()].flatMap((start) => findCycle(start, edges) ?? []);
}

function judge(path: string, area: string, row: Row, found: Import): string | undefined {
  const { specifier, typeOnly } = found;
  if (specifier === null) return row.computed === true ? undefined : 'imports a module whose name is computed';
  if (!specifier.startsWith('.')) {
    return row.packages.some((allowed) => coversPackage(allowed, specifier))
      ? undefined
      : `${area} must not import '${specifier}'`;
  }
  const target = areaOf(resolve(path, specifier));
  if (target === undefined) return `${area} must not import '${specifier}': it has no place in the import table`;
  if (target === area || row.imports.includes(target)) return undefined;
  if (!row.types.includes(target)) return `${area} must not import ${target} ('${specifier}')`;
  return typeOnly ? undefined : `${area} may import ${target} by 'import type' only ('${specifier}')`;
}

function coversPackage(allowed: string, specifier: string): boolean {
  if (allowed === 'node:*') return isBuiltin(specifier);
  if (allowed === 'npm:*') return !isBuiltin(specifier) && !SPECIAL_PACKAGES.some((special) => special.test(specifier));
  if (allowed.endsWith('/*')) return specifier.startsWith(allowed.slice(0, -1));
  return specifier === allowed || specifier.startsWith(`${allowed}/`);
}

function resolve(path: string, specifier: string): string {
  return withoutExtension(posix.join(posix.dirname(path), specifier));
}

function withoutExtension(path: string): string {
  return path.replace(/(\.d)?\.[cm]?[jt]s$/, '');
}

/** The daemon's entry is a composition root inside `server/`: a node of its own, as the other two are. */
function folderOf(modulePath: string): string {
  return modulePath === 'server/daemon-main' ? modulePath : (modulePath.split('/')[0] ?? modulePath);
}

function findCycle(start: string, edges: ReadonlyMap<string, ReadonlySet<string>>): string | undefined {
  const queue: string[][] = [[start]];
  const seen = new Set<string>();
  for (let trail = queue.shift(); trail !== undefined; trail = queue.shift()) {
    for (const next of edges.get(trail.at(-1) ?? start) ?? []) {
      if (next === start) return [...trail, start].join(' → ');
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push([...trail, next]);
    }
  }
  return undefined;
}
