import ts from 'typescript';

/** A TypeScript file, real or made up by a test. */
export interface Source {
  /** Relative to `src`, with `/`, e.g. `cli/run.ts`. */
  readonly path: string;
  readonly text: string;
}

export interface Import {
  /** As written; `null` when it is computed at run time. */
  readonly specifier: string | null;
  /** Nothing of it is left in the JavaScript. */
  readonly typeOnly: boolean;
  readonly line: number;
}

export function parse(source: Source): ts.SourceFile {
  return ts.createSourceFile(source.path, source.text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.TS);
}

/** Calls `visitNode` for each node of the tree, parents first. */
export function walk(node: ts.Node, visitNode: (node: ts.Node) => void): void {
  visitNode(node);
  ts.forEachChild(node, (child) => {
    walk(child, visitNode);
  });
}

export function lineOf(node: ts.Node): number {
  return node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1;
}

/** Every way a module names another one: import, re-export, `import x = require()`, `import()`, `require()`, type import. */
export function importsOf(file: ts.SourceFile): Import[] {
  const imports: Import[] = [];
  walk(file, (node) => {
    const found = toImport(node);
    if (found !== undefined) imports.push({ ...found, line: lineOf(node) });
  });
  return imports;
}

function toImport(node: ts.Node): Omit<Import, 'line'> | undefined {
  if (ts.isImportDeclaration(node)) {
    return { specifier: literal(node.moduleSpecifier), typeOnly: isTypeImport(node.importClause) };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    const elements =
      node.exportClause !== undefined && ts.isNamedExports(node.exportClause) && node.exportClause.elements;
    return { specifier: literal(node.moduleSpecifier), typeOnly: node.isTypeOnly || allTypes(elements) };
  }
  if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
    return { specifier: literal(node.moduleReference.expression), typeOnly: node.isTypeOnly };
  }
  if (ts.isImportTypeNode(node)) {
    return { specifier: ts.isLiteralTypeNode(node.argument) ? literal(node.argument.literal) : null, typeOnly: true };
  }
  if (ts.isCallExpression(node) && isModuleCall(node.expression)) {
    return { specifier: literal(node.arguments[0]), typeOnly: false };
  }
  return undefined;
}

function isModuleCall(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');
}

function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  return (
    clause.name === undefined && bindings !== undefined && ts.isNamedImports(bindings) && allTypes(bindings.elements)
  );
}

function allTypes(elements: ts.NodeArray<ts.ImportSpecifier | ts.ExportSpecifier> | false): boolean {
  return elements !== false && elements.length > 0 && elements.every((element) => element.isTypeOnly);
}

function literal(node: ts.Node | undefined): string | null {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : null;
}
