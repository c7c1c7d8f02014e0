/**
 * The configuration's keys as a JSON Schema (draft 7), for validation by Helm and editors: names, nesting, required keys
 * and secrets by reference. Values are validated by `lenswatch check-config` only.
 */
import type { ConfigSection, Key } from "../src/config/key.ts";

export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A text with an environment variable, without a default: that would be the secret itself. */
const REFERENCE = "\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-)?\\}";
const NO_LOGIN = "^[a-z]+://[^@/?#]*(/[^@?#]*)?$";
const REFERENCE_OR_NO_LOGIN = "^\\$\\{[A-Za-z_][A-Za-z0-9_]*:-[^@]*\\}$";
/** Secret only where they contain a login. */
const PUBLIC = new Set(["redis.url"]);

/** The schema of a section; `at` is its JSON pointer, such as `#/properties/config`. */
export function toJsonSchema(root: ConfigSection, at: string): JsonSchema {
  return mapping(root, []);

  function mapping(here: ConfigSection, path: readonly string[], above: Above[] = []): JsonSchema {
    const within = [...above, { section: here, ref: pointer(at, path) }];
    const properties = Object.entries(here.keys).flatMap(([name, key]) => property(name, key, [...path, name], within));
    const required = Object.entries(here.keys).filter(([, { required }]) => required);
    const [plain, secret] = [required.filter(([, { secret }]) => !secret), required.filter(([, { secret }]) => secret)];
    return {
      type: "object",
      additionalProperties: false,
      ...(plain.length > 0 ? { required: plain.map(([name]) => name) } : {}),
      ...(secret.length > 0 ? { allOf: secret.map(([name]) => oneOfBoth(name)) } : {}),
      properties: Object.fromEntries(properties),
    };
  }

  function property(name: string, key: Key, path: readonly string[], above: Above[]): [string, JsonSchema][] {
    if (key.secret) {
      const file = { description: `The file that holds \`${name}\`.`, type: "string" };
      return [
        [name, { description: key.doc, ...byReference(path) }],
        [`${name}_file`, file],
      ];
    }
    const below = key.section?.();
    if (!below) return [[name, { description: key.doc }]];
    const known = above.find(({ section }) => section === below);
    const inner = key.list ? [...path, "items"] : path;
    const schema = known ? { $ref: known.ref } : mapping(below, inner, above);
    if (key.list) return [[name, { description: key.doc, type: "array", items: schema }]];
    return [[name, known ? schema : { description: key.doc, ...schema }]];
  }
}

interface Above {
  readonly section: ConfigSection;
  readonly ref: string;
}

function oneOfBoth(name: string): JsonSchema {
  return { oneOf: [{ required: [name] }, { required: [`${name}_file`] }] };
}

function byReference(path: readonly string[]): JsonSchema {
  const reference = { type: "string", pattern: REFERENCE };
  const open = [NO_LOGIN, REFERENCE_OR_NO_LOGIN].map((pattern) => ({ type: "string", pattern }));
  return PUBLIC.has(path.join(".")) ? { anyOf: [reference, ...open] } : reference;
}

/** `items` is the schema of a list's items, every other step a property. */
function pointer(at: string, path: readonly string[]): string {
  return path.reduce((here, step) => `${here}/${step === "items" ? step : `properties/${step}`}`, at);
}
