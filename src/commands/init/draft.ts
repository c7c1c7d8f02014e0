/** The configuration that `init` writes, as text, with the files of its secrets. */
import { Document, isMap, isScalar, type Scalar } from "yaml";
import type { Config } from "../../config/config.ts";
import { parseConfig } from "../../config/load.ts";
import type { ConfigProblem } from "../../config/problem.ts";
import { type Answers, allFields, type Field, tokenFields } from "./fields.ts";

export interface Draft {
  readonly text: string;
  /** Contents by path, relative to the configuration's directory. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Beside the configuration. */
export const SECRETS_DIRECTORY = "secrets";
export const RECEIVER = "ops";

const HEADER = ` Written by \`lenswatch init\`. Secrets are in files of their own (\`..._file\`); a changed one is read at once.
 \`lenswatch check-config\` validates changes to this file, and a running daemon loads them.`;
const FOOTER = ` Everything else has a default: see config/lenswatch.full.yaml and docs/configuration.md of lenswatch.
 Without \`redis\`, an embedded redis-server is started with its data in ./data:
redis: { url: "redis://127.0.0.1:6379/0" }`;

/** Also of incomplete answers, to be checked one after the other. */
export function draftOf(answers: Answers): Draft {
  const secrets = new Map<string, string>();
  const sketch = new Document({});
  const written: { readonly path: Field["path"]; readonly doc: string }[] = [];
  for (const { name, path, key } of [...allFields, ...tokenFields]) {
    const value = answers.get(name);
    if (!value) continue;
    const file = `${SECRETS_DIRECTORY}/${name}`;
    if (key.secret) secrets.set(file, `${value}\n`);
    const at = key.secret ? [...path.slice(0, -1), `${path.at(-1)}_file`] : path;
    if (path[0] === "receivers") sketch.setIn(["receivers", 0, "name"], RECEIVER);
    sketch.setIn(at, key.secret ? file : value.replaceAll("${", () => "$${"));
    written.push({ path: at, doc: key.doc });
  }
  if (!sketch.has("receivers")) sketch.set("receivers", [{ name: RECEIVER }]);
  return { text: withComments(sketch.toJS(), written), secrets };
}

function withComments(
  tree: unknown,
  written: readonly { readonly path: Field["path"]; readonly doc: string }[],
): string {
  const document = new Document(tree);
  for (const { path, doc } of written) {
    const node = commentedAt(document, path);
    if (node) node.commentBefore = ` ${doc}`;
  }
  for (const { key } of isMap(document.contents) ? document.contents.items.slice(1) : []) {
    if (isScalar(key)) key.spaceBefore = true;
  }
  document.commentBefore = HEADER;
  document.comment = FOOTER;
  return document.toString({ lineWidth: 0 });
}

/** The key at a path; of the only key of a list's item, the item. */
function commentedAt(document: Document, path: Field["path"]) {
  const map = document.getIn(path.slice(0, -1));
  if (!isMap(map)) return undefined;
  if (typeof path.at(-2) === "number") return map;
  return map.items.map(({ key }) => key).find((key) => isScalar(key) && key.value === path.at(-1)) as
    | Scalar
    | undefined;
}

/** What the daemon would make of it. */
export function loadDraft({ text, secrets }: Draft): Config | readonly ConfigProblem[] {
  const readSecret = (path: string) => secrets.get(path) ?? "";
  const parsed = parseConfig(text, { file: "lenswatch.yaml", env: {}, readSecret });
  return "config" in parsed ? parsed.config : parsed.problems;
}
