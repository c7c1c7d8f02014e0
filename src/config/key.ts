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
  /** A duration: the name as loaded ends in `Ms`. */
  readonly isDuration: boolean;
}

type ConfigKeys = Readonly<Record<string, Key>>;

/** The values of a mapping of keys under their names in the file. */
export type Parsed<K extends ConfigKeys> = { readonly [Name in keyof K]: Plain<z.output<K[Name]["schema"]>> };

/** The values under their names as loaded: `status_interval: 30s` is `statusIntervalMs: 30_000`. */
export type Loaded<K extends ConfigKeys> = {
  readonly [Name in keyof K as LoadedName<Name, z.output<K[Name]["schema"]>>]: Plain<z.output<K[Name]["schema"]>>;
};
type LoadedName<Name, T> = NonNullable<T> extends Ms ? `${Camel<Name> & string}Ms` : Camel<Name>;
type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type Plain<T> = T extends Ms ? number : T;

declare const unit: unique symbol;
/** A duration while it is parsed. */
type Ms = number & { readonly [unit]: "ms" };

const durations = new WeakSet<z.ZodType>();

/** Marks a schema of numbers as one of durations. */
export function inMs(schema: z.ZodType<number>): z.ZodType<Ms> {
  durations.add(schema);
  return schema as z.ZodType<Ms>;
}

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
  const isDuration = value instanceof z.ZodType && durations.has(value);
  const own = { doc, required, fallback, secret, isDuration };
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

/** A mapping of exactly these keys, with its values as loaded; `check` adds constraints once each is valid. */
export function section<K extends ConfigKeys>(
  keys: K,
  check?: (value: Parsed<K>, context: z.RefinementCtx) => void,
  expected = "a mapping",
): ConfigSection<Loaded<K>> {
  const shape = Object.fromEntries(Object.entries(keys).map(([name, { schema }]) => [name, schema]));
  const object = z.strictObject(shape, {
    error: (issue) => (issue.code === "invalid_type" ? expected : undefined),
  }) as unknown as z.ZodType<Parsed<K>>;
  const checked = check ? object.superRefine(check) : object;
  const toLoaded = (value: Parsed<K>) =>
    Object.fromEntries(Object.entries(value).map(([name, one]) => [loadedName(name, keys[name]), one])) as Loaded<K>;
  return { keys, schema: checked.transform(toLoaded) };
}

function loadedName(name: string, key: Key | undefined): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) + (key?.isDuration ? "Ms" : "");
}

/** The section with its values in another shape. */
export function mapped<T, Out>({ keys, schema }: ConfigSection<T>, map: (value: T) => Out): ConfigSection<Out> {
  return { keys, schema: schema.transform(map) };
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
