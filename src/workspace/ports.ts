/** The workspace as tools see it. Paths are workspace-relative or absolute inside it; everything else is refused. */

export interface FileContent {
  readonly bytes: Uint8Array;
  /** Permission bits, e.g. 0o644. */
  readonly mode: number;
  /** Of the resolved file, relative to the workspace. */
  readonly path: string;
  readonly size: number;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  readonly size: number;
}

/**
 * Access by component-wise walk: no link leads out of the workspace, only regular files are opened. Throws
 * `WorkspaceError` with a sentence the model can act on.
 */
export interface WorkspaceFiles {
  /** Canonical path of the workspace. */
  readonly directory: string;
  /** The real place of a path, relative to the workspace (`.` for itself); it need not exist. */
  resolve(path: string): Promise<string>;
  read(path: string, options: { readonly maxBytes: number }): Promise<FileContent>;
  /** Replaces the whole file atomically (temp, fsync, rename), keeps mode bits; creates parents. */
  write(path: string, bytes: Uint8Array): Promise<{ readonly path: string; readonly created: boolean }>;
  exists(path: string): Promise<boolean>;
  list(
    path: string,
    options: { readonly maxEntries: number },
  ): Promise<{ readonly path: string; readonly entries: readonly DirectoryEntry[]; readonly omitted: number }>;
}

/**
 * What the model of one run knows of files, so that it never overwrites what it has not seen. Paths are those of
 * `resolve`; `null` stands for "there is no file".
 */
export interface SeenFiles {
  /** The model was shown this. */
  saw(path: string, content: Uint8Array | null): Promise<void>;
  /**
   * Must resolve before a call of the run changes the file, which now has `content`. @throws WorkspaceError when that is
   * not what the model saw last; a file it never saw may be changed.
   */
  beforeWrite(path: string, content: Uint8Array | null): Promise<void>;
  /** A call of the run gave the file this content. */
  wrote(path: string, content: Uint8Array): Promise<void>;
}

export interface CommandSpec {
  /** Key of the command's directory of files: unique for ever, a second start of the same key is refused. */
  readonly callId: string;
  readonly command: string;
  /** Workspace-relative. */
  readonly cwd?: string;
  readonly timeoutMs: number;
  /** The workspace is mounted read-only. */
  readonly readOnly?: boolean;
  /** Nobody waits for its end: it is to be ended with its run. */
  readonly background?: boolean;
}

/**
 * `sandbox_failed`: the sandbox could not be set up, the command did not run. `not_started`: the supervisor died before
 * the command was released, so it provably did not run. `unknown`: some, none or all of it happened.
 */
export type CommandEnd =
  'exited' | 'timeout' | 'cancelled' | 'output_limit' | 'sandbox_failed' | 'not_started' | 'unknown';

export type StopReason = 'timeout' | 'cancelled' | 'output_limit';

export interface CommandState {
  readonly running: boolean;
  readonly end?: CommandEnd;
  /** Only with `exited`. */
  readonly exitCode?: number;
  readonly durationMs: number;
  readonly outputBytes: number;
}

/** Handle of a started command: its files outlive the process that started it. */
export interface StartedCommand {
  readonly callId: string;
  readonly outputFile: string;
}

/** start → files → poll: nothing here depends on being the parent of the command. */
export interface CommandRunner {
  start(spec: CommandSpec): Promise<StartedCommand>;
  poll(command: StartedCommand): Promise<CommandState>;
  /** Head and tail of the merged output, cut at character borders, with the number of bytes left out between. */
  output(
    command: StartedCommand,
    options: { readonly headBytes: number; readonly tailBytes: number },
  ): Promise<CommandOutput>;
  /** A part of the output, moved to character borders. */
  read(command: StartedCommand, part: { readonly from: number; readonly maxBytes: number }): Promise<OutputPart>;
  /** The command of an earlier start, of this process or of one before it. */
  find(callId: string): StartedCommand | undefined;
  /** Ends the whole tree; resolves when nothing of it lives. */
  stop(command: StartedCommand, reason: StopReason): Promise<void>;
}

export interface OutputPart {
  readonly text: string;
  /** Bytes of the output: `from` is the first one shown, `to` the first one after it. */
  readonly from: number;
  readonly to: number;
  readonly totalBytes: number;
}

export interface CommandOutput {
  readonly head: string;
  readonly tail: string;
  /** Bytes of the output that `head` stands for. */
  readonly headBytes: number;
  readonly omittedBytes: number;
  readonly totalBytes: number;
}

/** ripgrep, run with options from us only. Links are not followed, `.git` and what git ignores are left out. */
export interface TextSearch {
  grep(query: GrepQuery, signal: AbortSignal): Promise<GrepResult>;
  glob(query: GlobQuery, signal: AbortSignal): Promise<GlobResult>;
}

export interface GrepQuery {
  /** Regular expression in ripgrep's syntax. */
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly maxMatches: number;
}

export interface GrepResult {
  readonly matches: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  /** Matching lines beyond `maxMatches`. */
  readonly omitted: number;
  /** Why the search may have missed something (deadline, files that could not be read). */
  readonly incomplete?: string;
}

export interface GlobQuery {
  readonly pattern: string;
  readonly path?: string;
  readonly maxResults: number;
}

export interface GlobResult {
  readonly paths: readonly string[];
  readonly omitted: number;
  readonly incomplete?: string;
}

/** A refusal or a failure of the workspace that the model can act on. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
}
