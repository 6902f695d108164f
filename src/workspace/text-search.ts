import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkspaceError } from './ports';
import type { GlobQuery, GlobResult, GrepQuery, GrepResult, TextSearch, WorkspaceFiles } from './ports';
import { runRipgrep } from './ripgrep';
import type { RipgrepRun } from './ripgrep';

export interface TextSearchOptions {
  readonly files: WorkspaceFiles;
  /** See `findRipgrep`. */
  readonly ripgrepPath: string;
  /** Absent where commands run without a sandbox too. */
  readonly bwrapPath?: string;
  /** Default 30 s. */
  readonly timeoutMs?: number;
}

/** Counting what was left out stops here; the result then says that there is more. */
const MAX_COUNTED = 20_000;
/** ripgrep skips larger files, or one generated line would fill the memory. */
const MAX_FILE_SIZE = '20M';

/** Searches the workspace with ripgrep. Whatever is outside, behind a link, ignored by git or in `.git` is not seen. */
export function createTextSearch(options: TextSearchOptions): TextSearch {
  const base = {
    binary: options.ripgrepPath,
    cwd: options.files.directory,
    timeoutMs: options.timeoutMs ?? 30_000,
    ...(options.bwrapPath === undefined ? {} : { bwrapPath: options.bwrapPath }),
  };
  const listFiles = async (path: string, glob: readonly string[], signal: AbortSignal): Promise<FileList> => {
    const paths = new Set<string>();
    const collect = (path: string): undefined => {
      paths.add(plainPath(path));
    };
    const run = { ...base, options: ['--files', '--null', ...glob], path, separator: 'nul' } as const;
    const incomplete = await runRipgrep(run, collect, signal);
    return { paths, ...(incomplete === undefined ? {} : { incomplete }) };
  };
  return {
    grep: async (query, signal) => await grep(query, { base, listFiles, files: options.files, signal }),
    glob: async (query, signal) => await glob(query, { listFiles, files: options.files, signal }),
  };
}

interface FileList {
  readonly paths: ReadonlySet<string>;
  readonly incomplete?: string;
}

interface SearchDeps {
  readonly files: WorkspaceFiles;
  readonly listFiles: (path: string, glob: readonly string[], signal: AbortSignal) => Promise<FileList>;
  readonly signal: AbortSignal;
}

async function glob(query: GlobQuery, deps: SearchDeps): Promise<GlobResult> {
  const place = await searchPlace(deps.files, query.path);
  if (place.isFile) throw new WorkspaceError(`"${place.path}" is a file. Name a directory to look in.`);
  const found = await matchingFiles(query.pattern, place.path, deps);
  const paths = [...found.paths].sort();
  return {
    paths: paths.slice(0, query.maxResults),
    omitted: Math.max(0, paths.length - query.maxResults),
    ...(found.incomplete === undefined ? {} : { incomplete: found.incomplete }),
  };
}

async function grep(
  query: GrepQuery,
  deps: SearchDeps & {
    readonly base: Pick<RipgrepRun, 'binary' | 'cwd' | 'timeoutMs' | 'bwrapPath'>;
  },
): Promise<GrepResult> {
  const place = await searchPlace(deps.files, query.path);
  const whole = place.isFile || (query.glob === undefined && place.path === '.');
  const only = whole ? undefined : await matchingFiles(query.glob, place.path, deps);
  const globArgs = query.glob === undefined || place.isFile ? [] : ['--glob', anchoredGlob(query.glob, place.path)];
  const matches: { path: string; line: number; text: string }[] = [];
  let omitted = 0;
  const onRecord = (record: string): 'stop' | undefined => {
    const match = parseMatch(record);
    if (match === undefined || (only !== undefined && !only.paths.has(match.path))) return undefined;
    if (matches.length < query.maxMatches) matches.push(match);
    else omitted += 1;
    return omitted >= MAX_COUNTED ? 'stop' : undefined;
  };
  const rules = ['--json', `--max-filesize=${MAX_FILE_SIZE}`, ...globArgs, '--regexp', query.pattern];
  const searched = await runRipgrep(
    { ...deps.base, options: rules, path: place.path, separator: 'line' },
    onRecord,
    deps.signal,
  );
  const incomplete = only?.incomplete ?? searched ?? (omitted >= MAX_COUNTED ? 'counting stopped' : undefined);
  return { matches, omitted, ...(incomplete === undefined ? {} : { incomplete }) };
}

/**
 * Files below `path` that match, as far as a plain walk of the workspace sees them: a glob given to ripgrep outranks
 * ignore files, and ignore files above the place that is searched would not be read.
 */
async function matchingFiles(pattern: string | undefined, path: string, deps: SearchDeps): Promise<FileList> {
  const visible = await visibleFiles(path, deps);
  if (pattern === undefined) return visible;
  const matched = await deps.listFiles(path, ['--glob', anchoredGlob(pattern, path)], deps.signal);
  const incomplete = matched.incomplete ?? visible.incomplete;
  return {
    paths: new Set([...matched.paths].filter((found) => visible.paths.has(found))),
    ...(incomplete === undefined ? {} : { incomplete }),
  };
}

/** A directory that is ignored as a whole is looked into if it is named. */
async function visibleFiles(path: string, deps: SearchDeps): Promise<FileList> {
  const all = await deps.listFiles('.', [], deps.signal);
  if (path === '.') return all;
  const below = [...all.paths].filter((found) => found.startsWith(`${path}/`));
  return below.length === 0 ? await deps.listFiles(path, [], deps.signal) : { ...all, paths: new Set(below) };
}

/** A glob with a slash is relative to the directory that is searched; one without matches names at any depth. */
function anchoredGlob(pattern: string, path: string): string {
  if (pattern.startsWith('!'))
    throw new WorkspaceError('A glob must say what to find; "!" at its start is not supported.');
  const relative = pattern.replace(/^(?:\.?\/)+/u, '');
  if (relative === pattern && !relative.includes('/')) return relative;
  return path === '.' ? `/${relative}` : `/${path.replace(/[\\*?[\]{}!]/gu, '\\$&')}/${relative}`;
}

async function searchPlace(
  files: WorkspaceFiles,
  path: string | undefined,
): Promise<{ readonly path: string; readonly isFile: boolean }> {
  const place = await files.resolve(path ?? '.');
  const found = await lstat(join(files.directory, place)).catch(() => undefined);
  if (found === undefined)
    throw new WorkspaceError(`"${place}" does not exist. Use list_files or glob to find the right path.`);
  if (found.isFile()) return { path: place, isFile: true };
  if (found.isDirectory()) return { path: place, isFile: false };
  throw new WorkspaceError(`"${place}" is neither a regular file nor a directory.`);
}

interface Text {
  readonly text?: string;
  readonly bytes?: string;
}

interface MatchRecord {
  readonly type: string;
  readonly data: { readonly path: Text; readonly lines: Text; readonly line_number: number | null };
}

function parseMatch(record: string): { path: string; line: number; text: string } | undefined {
  if (!record.startsWith('{"type":"match"')) return undefined;
  const { data } = JSON.parse(record) as MatchRecord;
  return {
    path: plainPath(textOf(data.path)),
    line: data.line_number ?? 0,
    text: textOf(data.lines).replace(/\r?\n$/u, ''),
  };
}

/** Text that is no UTF-8 comes as base64. */
function textOf(value: Text): string {
  return value.text ?? Buffer.from(value.bytes ?? '', 'base64').toString('utf8');
}

function plainPath(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}
