/** What a Markdown document names of this repository, in backticks or in fenced blocks. */
export interface DocumentReferences {
  /** Paths from the repository's root; a trailing slash or a glob is cut back to the folder. */
  readonly paths: readonly string[];
  /** `npm run X` and npm's own names for scripts. */
  readonly scripts: readonly string[];
  /** `./surehand X`, `surehand X`, `npm start -- X`. */
  readonly commands: readonly string[];
}

const FOLDERS = 'src|test|docs|scripts|bench|examples|\\.ci';
const PATH = new RegExp(`^(?:\\./)?((?:${FOLDERS})(?:/[\\w.{}*-]+)*/?)(?::\\d+)?$`);
const ROOT_FILE =
  /^(?:\.\/)?([\w.-]+\.(?:md|json|mjs|js|yml|yaml|ts)|LICENSE|Dockerfile|\.npmrc|\.gitignore|\.editorconfig)$/;
/** Names of files that the product reads or writes elsewhere: not files of this repository. */
const NOT_OURS = new Set([
  ...['NNNN-title.md', 'AGENTS.md', 'settings.json', 'temporal.toml', 'tickets.mjs'],
  ...['host.json', 'daemon.json', 'ports.json'],
]);

export function referencesOf(markdown: string): DocumentReferences {
  // `text` fences hold output: it names files of somebody's workspace.
  const fenced = [...markdown.matchAll(/^```(?!text)[^\n]*\n(.*?)^```/gms)].map((match) => match[1] ?? '');
  const prose = markdown.replace(/^```[^\n]*\n.*?^```/gms, '');
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');
  const words = [...spans, ...fenced.flatMap((block) => block.split(/\s+/))];
  const lines = [...spans, ...fenced.flatMap((block) => block.split('\n'))].map((line) =>
    line.replace(/^\$ /, '').trim(),
  );
  return {
    paths: unique(words.map(toPath)),
    scripts: unique(lines.flatMap(toScripts)),
    commands: unique(lines.map((line) => /^(?:\.\/surehand|surehand|npm start --) ([a-z][a-z-]*)\b/.exec(line)?.[1])),
  };
}

function toPath(word: string): string | undefined {
  const inFolder = PATH.exec(word)?.[1];
  if (inFolder !== undefined) return inFolder.replace(/\/?[^/]*[*{}].*$/, '').replace(/\/$/, '');
  const inRoot = ROOT_FILE.exec(word)?.[1];
  return inRoot === undefined || NOT_OURS.has(inRoot) ? undefined : inRoot;
}

function toScripts(line: string): string[] {
  const named = [...line.matchAll(/\bnpm run (?:--silent |-s )?([\w:-]+)/g)].map((match) => match[1] ?? '');
  const short = [...line.matchAll(/\bnpm (test|start)\b/g)].map((match) => match[1] ?? '');
  return [...named, ...short];
}

function unique(values: readonly (string | undefined)[]): string[] {
  return [...new Set(values)].filter((value) => value !== undefined && value !== '') as string[];
}
