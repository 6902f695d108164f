/** Inside any `.git`: files that name programs which git will run. */
const PROTECTED_IN_GIT = new Set(['config', 'config.worktree', 'hooks']);

/**
 * Whether a write to these components could make git run something, however the names are spelled: case, invisible
 * characters, trailing dots and spaces count for nothing, as on file systems that ignore them. Nested repositories
 * count too, and so does a `.git` file, which points git elsewhere.
 */
export function isProtectedPath(components: readonly string[]): boolean {
  const names = components.map(normalise);
  const git = names.indexOf('.git');
  if (git === -1) return false;
  const within = names.slice(git + 1);
  return within.length === 0 || within.some((name) => PROTECTED_IN_GIT.has(name));
}

function normalise(name: string): string {
  return name
    .normalize('NFC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[. ]+$/u, '')
    .toLowerCase();
}

/** How a write to a path meets files that make other programs run something. The path is as the model named it. */
export function protectionOf(path: string): 'none' | 'refused' | 'asks' {
  const components = path.split('/').filter((component) => component !== '' && component !== '.');
  if (isProtectedPath(components)) return 'refused';
  return ASK_FIRST.has(normalise(components.at(-1) ?? '')) ? 'asks' : 'none';
}

/** Attributes choose the filters and text conversions that a configuration names. */
const ASK_FIRST = new Set(['.gitattributes']);
