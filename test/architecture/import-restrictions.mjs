import { readFileSync } from 'node:fs';

const table = JSON.parse(readFileSync(new URL('./import-table.json', import.meta.url), 'utf8'));

/** Packages that `npm:*` does not cover, as in import-table.ts. */
const SPECIAL = '@temporalio/|@anthropic-ai/';
const NODE_MODULES = 'node:|(?:child_process|crypto|fs|http|https|net|os|path|stream|url|util|worker_threads)(?:/|$)';

/**
 * The import table as ESLint rules, so that an editor says at once what imports.test.ts would say later. The test is
 * exact; this one judges a relative import by its last folder and file.
 */
export function importRestrictions() {
  // Later configurations win: an area comes before those that its pattern would swallow.
  return [...table.areas].reverse().map(({ area, files }) => {
    const row = table.rows[area];
    return {
      files: [`src/${toGlob(files)}.ts`],
      rules: {
        '@typescript-eslint/no-restricted-imports': [
          'error',
          { patterns: [...localPatterns(area, row), ...packagePatterns(area, row)] },
        ],
      },
    };
  });
}

function toGlob(files) {
  return files.replace('(-.+)?', '*').replace('/.+-schema', '/**/*-schema').replace('/.+', '/**/*');
}

function localPatterns(area, row) {
  const earlier = [];
  const patterns = [];
  for (const target of table.areas) {
    // An area's pattern means what no earlier area took.
    const regex = `^(?:\\./|(?:\\.\\./)+)${earlier.map((files) => `(?!${files}$)`).join('')}(?:${target.files})$`;
    earlier.push(`(?:${target.files})`);
    if (target.area === area || row.imports.includes(target.area)) continue;
    const allowTypeImports = row.types.includes(target.area);
    const message = allowTypeImports
      ? `${area} may import ${target.area} by 'import type' only.`
      : `${area} must not import ${target.area}.`;
    patterns.push({ regex, allowTypeImports, message });
  }
  return patterns;
}

function packagePatterns(area, row) {
  const allowed = row.packages.map(packageExpression).join('|') || '$^';
  return [{ regex: `^(?!\\.)(?!${allowed})`, message: `${area} must not import this package.` }];
}

function packageExpression(name) {
  if (name === 'node:*') return NODE_MODULES;
  if (name === 'npm:*') return `(?!${SPECIAL}|${NODE_MODULES}).`;
  if (name.endsWith('/*')) return name.slice(0, -1);
  return `${name}(?:/|$)`;
}
