import ts from 'typescript';
import type { Violation } from './import-table';
import { lineOf, parse, walk, type Source } from './parse-source';

const MAX_LINES = 300;
const ENVIRONMENT_READER = 'config.ts';
/** Entry points: they may hand `process.env` as a whole to a function of ours, and read no variable themselves. */
const ENTRY_POINTS = ['client.ts', 'worker.ts', 'server/daemon-main.ts'];

/** What holds for every file of `src` besides its imports: each rule has a test that breaks it. */
export function checkSourceRules(sources: readonly Source[]): Violation[] {
  return sources.flatMap((source) => {
    const file = parse(source);
    const violations: Violation[] = [];
    const report = (line: number, message: string) => violations.push({ path: source.path, line, message });
    const lines = source.text.trimEnd().split('\n').length;
    if (lines > MAX_LINES) report(lines, `has ${String(lines)} lines, at most ${String(MAX_LINES)} are allowed`);
    walk(file, (node) => {
      const message = judgeNode(node, source.path);
      if (message !== undefined) report(lineOf(node), message);
    });
    return violations;
  });
}

function judgeNode(node: ts.Node, path: string): string | undefined {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return "uses 'any'";
  if (isDefaultExport(node)) return 'has a default export';
  if (ts.isEnumDeclaration(node)) return 'declares an enum';
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined && node.exportClause === undefined) {
    return "has an 'export *'";
  }
  if (ts.isAsExpression(node) && ts.isAsExpression(node.expression)) return 'casts twice';
  if (path.startsWith('tools/') && isGlobalProcess(node)) return "uses 'process' in a tool";
  if (isEnvironmentAccess(node) && !mayTouchEnvironment(node, path)) return `reads process.env outside config.ts`;
  return undefined;
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return (
    ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((m) => m.kind === ts.SyntaxKind.DefaultKeyword)
  );
}

function isGlobalProcess(node: ts.Node): boolean {
  if (!ts.isIdentifier(node) || node.text !== 'process') return false;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) {
    return parent.expression === node || parent.expression.getText() === 'globalThis';
  }
  return !ts.isPropertyAssignment(parent) && !ts.isPropertySignature(parent);
}

/** `process.env`, `process['env']`, `const { env } = process`, `import { env } from 'node:process'`. */
function isEnvironmentAccess(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === 'env' && isProcess(node.expression);
  if (ts.isElementAccessExpression(node)) {
    const key = node.argumentExpression;
    return isProcess(node.expression) && !(ts.isStringLiteralLike(key) && key.text !== 'env');
  }
  if (ts.isVariableDeclaration(node)) {
    return ts.isObjectBindingPattern(node.name) && node.initializer !== undefined && isProcess(node.initializer);
  }
  if (ts.isImportDeclaration(node)) return /^'(node:)?process'$/.test(node.moduleSpecifier.getText());
  return false;
}

function isProcess(expression: ts.Expression): boolean {
  return /^(globalThis\.|global\.)?process$/.test(expression.getText());
}

function mayTouchEnvironment(node: ts.Node, path: string): boolean {
  if (path === ENVIRONMENT_READER) return true;
  return ENTRY_POINTS.includes(path) && isHandedOn(node);
}

/** True for `loadConfig(process.env)` and `loadConfig({ env: process.env })`, the callee imported from `src`. */
function isHandedOn(node: ts.Node): boolean {
  let child = node;
  let parent = node.parent;
  while (ts.isPropertyAssignment(parent) || ts.isObjectLiteralExpression(parent)) {
    child = parent;
    parent = parent.parent;
  }
  if (!ts.isCallExpression(parent) || parent.expression === child || !ts.isIdentifier(parent.expression)) return false;
  return ownNames(node.getSourceFile()).includes(parent.expression.text);
}

function ownNames(file: ts.SourceFile): string[] {
  return file.statements.filter(ts.isImportDeclaration).flatMap((statement) => {
    const bindings = statement.importClause?.namedBindings;
    if (!statement.moduleSpecifier.getText().startsWith("'.")) return [];
    return bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements.map((e) => e.name.text) : [];
  });
}
