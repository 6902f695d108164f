import { readdirSync, readFileSync } from 'node:fs';

/** True while the process runs; a zombie that nobody has waited for does not count. */
export function isAlive(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== undefined && stat.state !== 'Z' && stat.state !== 'X';
}

/** Pids of the process's living children. */
export function childrenOf(pid: number): number[] {
  return allPids().filter((candidate) => statOf(candidate)?.parent === pid && isAlive(candidate));
}

/** Pids of everything below the process, children first. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function statOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name stands in parentheses and may hold some itself: fields are counted after the last one.
  const [state = '', parent = ''] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state, parent: Number(parent) };
}
