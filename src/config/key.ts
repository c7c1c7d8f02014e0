/** Each configuration key is declared once: schema, description, default; validation and documents derive from that. */
import { z } from "zod";
import type { Raw } from "./document.ts";

export interface Key<T = unknown> {
  readonly schema: z.ZodType<T>;
  /** One sentence for the documentation. */
  readonly doc: string;
  readonly required: boolean;
  /** The value of an absent key, as written in a file; undefined: none, or as `doc` describes. */
  readonly fallback: Raw | undefined;
  /** Never shown; `<key>_file` is accepted too. */
  readonly secret: boolean;
  /** The keys below, also where it is a list of such mappings. */
  readonly section: (() => ConfigSection) | undefined;
  readonly list: boolean;
}

type ConfigKeys = Readonly<Record<string, Key>>;

/** The values of a mapping of keys, as validated. */
export type Parsed<K extends ConfigKeys> = { readonly [Name in keyof K]: z.output<K[Name]["schema"]> };

/** A mapping of known keys. */
export type ConfigSection<T = object> = { readonly keys: ConfigKeys; readonly schema: z.ZodType<T> };

/** A list of mappings; the section is a function so that it may contain itself. */
type SectionList<T> = Pick<Key<T>, "schema"> & { readonly section: () => ConfigSection };
type ValueOf<T> = z.ZodType<T> | ConfigSection<T> | SectionList<T>;
type KeyOptions = Partial<Pick<Key, "secret">>;

function key<T, Out>(
  doc: string,
  value: ValueOf<T>,
  wrap: (schema: z.ZodType<T>) => z.ZodType<Out>,
  { required = false, fallback, secret = false }: Partial<Key>,
): Key<Out> {
  const own = { doc, required, fallback, secret };
  if (value instanceof z.ZodType) return { ...own, schema: wrap(value), section: undefined, list: false };
  const list = "section" in value;
  return { ...own, schema: wrap(value.schema), section: list ? value.section : () => value as ConfigSection, list };
}

export function required<T>(doc: string, value: ValueOf<T>, options: KeyOptions = {}): Key<T> {
  return key(doc, value, (schema) => schema, { ...options, required: true });
}

export function optional<T>(doc: string, value: ValueOf<T>, options: KeyOptions = {}): Key<T | undefined> {
  return key(doc, value, (schema) => schema.optional(), options);
}

/** An absent key takes its parent's value; `fallback`, as written in a file, is the value at the root. */
export function inherited<T>(doc: string, value: ValueOf<T>, fallback: Raw): Key<T | undefined> {
  return key(doc, value, (schema) => schema.optional(), { fallback });
}

/** `fallback` is written as in a file, and parsed the same way. */
export function withDefault<T>(doc: string, value: ValueOf<T>, fallback: Raw): Key<T> {
  return key(doc, value, (schema) => schema.prefault(fallback), { fallback });
}

/** A mapping of exactly these keys; `check` adds constraints between them once each is valid. */
export function section<K extends ConfigKeys>(
  keys: K,
  check?: (value: Parsed<K>, context: z.RefinementCtx) => void,
  expected = "a mapping",
): ConfigSection<Parsed<K>> {
  const shape = Object.fromEntries(Object.entries(keys).map(([name, { schema }]) => [name, schema]));
  const object = z.strictObject(shape, {
    error: (issue) => (issue.code === "invalid_type" ? expected : undefined),
  }) as unknown as z.ZodType<Parsed<K>>;
  return { keys, schema: check ? object.superRefine(check) : object };
}

/** A list of mappings, not empty where `atLeastOne` describes its one required item. */
export function listOf<T>(item: ConfigSection<T>, expected = "a list", atLeastOne?: string): SectionList<T[]> {
  const list = z.array(item.schema, { error: expected });
  const schema = atLeastOne === undefined ? list : list.min(1, { error: atLeastOne });
  return { schema, section: () => item as ConfigSection };
}

/** Adds a problem at a key of the mapping under validation; `expected` finishes the sentence "expected …". */
export function refuse(context: z.RefinementCtx, name: string, expected: string): void {
  context.addIssue({ code: "custom", path: [name], message: expected });
}

/** The declaration of the key at a path, at any position in a list. */
export function keyAt(root: ConfigSection, path: readonly (string | number)[]): Key | undefined {
  let here: ConfigSection | undefined = root;
  let found: Key | undefined;
  for (const step of path) {
    if (typeof step === "number") continue;
    found = here && Object.hasOwn(here.keys, step) ? here.keys[step] : undefined;
    here = found?.section?.();
  }
  return found;
}

/** The keys of the mapping at a path, including those for secret files. */
export function knownKeys(root: ConfigSection, path: readonly (string | number)[]): string[] {
  const here = path.some((step) => typeof step === "string") ? keyAt(root, path)?.section?.() : root;
  return Object.entries(here?.keys ?? {}).flatMap(([name, { secret }]) => (secret ? [name, `${name}_file`] : [name]));
}

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type CamelKeys<T> = { readonly [Name in keyof T as Camel<Name>]: T[Name] };

/** `request_timeout` becomes `requestTimeout`; values stay as they are. */
export function camelKeys<T extends object>(value: T): CamelKeys<T> {
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const entries = Object.entries(value).map(([name, one]) => [camel(name), one]);
  return Object.fromEntries(entries) as CamelKeys<T>;
}
