import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from './config';
import type { Env } from './config-value';

/** Whole words of a variable's name, or the end of one (`GITHUBTOKEN`, `APIKEY`). */
const SECRET_NAME =
  /(TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEYS?|(^|_)(PRIVATE|ACCESS|API|SECRET|SIGNING|ENCRYPTION)_?KEY|(^|_)(KEY|PASS|PWD|PAT))(_|$)/i;
/** The shell's working directories. */
const NO_SECRETS = new Set(['PWD', 'OLDPWD']);
/** Shorter values would mask ordinary words. */
const SHORTEST_SECRET = 8;

/** Values that must not appear in any log or result: keys of endpoints and server, and what `secretsInEnv` finds. */
export function secrets({ endpoints, temporal, env }: Config): string[] {
  const known = Object.values(endpoints).map(({ apiKey }) => apiKey);
  if (temporal.mode === 'server') {
    // A header of the profile may be what lets us in.
    known.push(temporal.target.apiKey, ...Object.values(temporal.target.metadata ?? {}));
  }
  const long = known.filter((value) => value !== undefined && value.length >= SHORTEST_SECRET);
  return [...new Set([...(long as string[]), ...secretsInEnv(env)])];
}

/** Values of variables with a telling name. The path of an existing file is none, whatever the file holds. */
export function secretsInEnv(env: Env): string[] {
  const values = Object.entries(env)
    .filter(([name]) => SECRET_NAME.test(name) && !NO_SECRETS.has(name))
    .map(([, value]) => value?.trim() ?? '');
  return values.filter((value) => value.length >= SHORTEST_SECRET && !(path.isAbsolute(value) && existsSync(value)));
}
