/** The documented interfaces and choices of a source file, read by the compiler. */
import ts from "typescript";
import { fromRoot } from "../../tools/lib/root.ts";

export interface Documented {
  name: string;
  text: string;
  members: { name: string; type: string; optional: boolean; text: string }[];
}

export function documentedIn(path: string): Documented[] {
  const file = ts.createSourceFile(
    path,
    ts.sys.readFile(fromRoot(path)) ?? "",
    ts.ScriptTarget.Latest,
    /* setParentNodes */ true,
  );
  return file.statements.flatMap(
    (statement) => interfaceOf(statement, file) ?? choicesOf(statement, file) ?? [],
  );
}

function interfaceOf(statement: ts.Statement, file: ts.SourceFile): Documented | undefined {
  if (!ts.isInterfaceDeclaration(statement)) return undefined;
  const members = statement.members.filter(ts.isPropertySignature).map((member) => ({
    name: member.name.getText(file),
    type: readable(member.type?.getText(file) ?? ""),
    optional: member.questionToken !== undefined,
    text: commentOf(member),
  }));
  return { name: statement.name.text, text: commentOf(statement), members };
}

/** `export const X = { A: "a" } as const`. */
function choicesOf(statement: ts.Statement, file: ts.SourceFile): Documented | undefined {
  if (!ts.isVariableStatement(statement)) return undefined;
  const [declaration] = statement.declarationList.declarations;
  const value = declaration?.initializer;
  const object = value && ts.isAsExpression(value) ? value.expression : undefined;
  if (!declaration || !object || !ts.isObjectLiteralExpression(object)) return undefined;
  const members = object.properties.filter(ts.isPropertyAssignment).map((property) => ({
    name: property.initializer.getText(file),
    type: "",
    optional: true,
    text: commentOf(property),
  }));
  return { name: declaration.name.getText(file), text: commentOf(statement), members };
}

const commentOf = (node: ts.Node): string =>
  ts
    .getJSDocCommentsAndTags(node)
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "")
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();

/** What of a type the reader has to know: every argument may be an Input. */
function readable(type: string): string {
  const inner = /^pulumi\.Input<(.*)>$/s.exec(type)?.[1];
  if (inner !== undefined && balanced(inner)) return readable(inner);
  const list = /^pulumi\.Input<([^<>]*)>\[\]$/.exec(type)?.[1];
  return list === undefined ? type.replace(/pulumi\.Input<(\w+)>/g, "$1") : `${list}[]`;
}

function balanced(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    depth += char === "<" ? 1 : char === ">" ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth === 0;
}
