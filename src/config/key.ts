/**
 * The configuration's vocabulary: every key is declared once, with its schema, what it is for and its default.
 * Validation, suggestions, secrets from files and the documentation all come from that one declaration.
 */
import { z } from "zod";
import type { Raw } from "./document.ts";

export interface Key<T = unknown> {
  readonly schema: z.ZodType<T>;
  /** One sentence for people. */
  readonly doc: string;
  readonly required: boolean;
  /** What an absent key means; undefined: nothing, or what `doc` says. */
  readonly fallback: Raw | undefined;
  /** Never shown, and `<key>_file` is taken as well. */
  readonly secret: boolean;
  /** The keys below, also where it is a list of such mappings. */
  readonly section: (() => Section) | undefined;
  readonly list: boolean;
}

export type Keys = Readonly<Record<string, Key>>;

export type Parsed<K extends Keys> = { readonly [Name in keyof K]: z.output<K[Name]["schema"]> };

export interface Section<T extends object = object> {
  readonly keys: Keys;
  readonly schema: z.ZodType<T>;
}

interface KeyOptions {
  readonly secret?: true;
  readonly section?: () => Section;
  /** Of mappings, each with the section's keys. */
  readonly list?: true;
}

function key<T>(schema: z.ZodType<T>, doc: string, rest: Partial<Key> & KeyOptions): Key<T> {
  const { required = false, fallback, secret = false, section, list = false } = rest;
  return { schema, doc, required, fallback, secret, section, list };
}

export function required<T>(doc: string, schema: z.ZodType<T>, options: KeyOptions = {}): Key<T> {
  return key(schema, doc, { ...options, required: true });
}

export function optional<T>(doc: string, schema: z.ZodType<T>, options: KeyOptions = {}): Key<T | undefined> {
  return key(schema.optional(), doc, options);
}

/** An absent key takes what its parent has; `fallback`, as it would be written, is what the first one has. */
export function inherited<T>(doc: string, schema: z.ZodType<T>, fallback: Raw): Key<T | undefined> {
  return key(schema.optional(), doc, { fallback });
}

/** `fallback` is written as it would be in the file, and read the same way. */
export function withDefault<T>(
  doc: string,
  schema: z.ZodType<T>,
  fallback: Raw,
  options: KeyOptions = {},
): Key<T> {
  return key(schema.prefault(fallback), doc, { ...options, fallback });
}

/** A mapping of exactly these keys; `check` adds what holds between them once each is right. */
export function section<K extends Keys>(
  keys: K,
  check?: (value: Parsed<K>, context: z.RefinementCtx) => void,
): Section<Parsed<K>> {
  const shape = Object.fromEntries(Object.entries(keys).map(([name, { schema }]) => [name, schema]));
  const object = z.strictObject(shape, {
    error: (issue) => (issue.code === "invalid_type" ? "a mapping" : undefined),
  }) as unknown as z.ZodType<Parsed<K>>;
  return { keys, schema: check ? object.superRefine(check) : object };
}

/** A list of mappings. */
export function listOf<T>(schema: z.ZodType<T>): z.ZodType<T[]> {
  return z.array(schema, { error: "a list" });
}

/** The declaration of the key at a path, whatever its position in lists. */
export function keyAt(root: Section, path: readonly (string | number)[]): Key | undefined {
  let here: Section | undefined = root;
  let found: Key | undefined;
  for (const step of path) {
    if (typeof step === "number") continue;
    found = here && Object.hasOwn(here.keys, step) ? here.keys[step] : undefined;
    here = found?.section?.();
  }
  return found;
}

/** The keys known in the mapping at a path, those for files with secrets included. */
export function knownKeys(root: Section, path: readonly (string | number)[]): string[] {
  const here = path.some((step) => typeof step === "string") ? keyAt(root, path)?.section?.() : root;
  return Object.entries(here?.keys ?? {}).flatMap(([name, { secret }]) =>
    secret ? [name, `${name}_file`] : [name],
  );
}

/** A key as documentation shows it. */
export interface KeyDoc {
  /** `rules[].for`; a route's own routes are not listed again. */
  readonly path: string;
  readonly doc: string;
  readonly required: boolean;
  /** As it would be written; undefined where there is none or it is a mapping with defaults of its own. */
  readonly fallback: string | undefined;
  readonly secret: boolean;
}

/** Every key there is, in the order of declaration. */
export function documentKeys(root: Section): KeyDoc[] {
  return visit(root, "", []);

  function visit(here: Section, prefix: string, above: readonly Section[]): KeyDoc[] {
    if (above.includes(here)) return [];
    return Object.entries(here.keys).flatMap(([name, { section, list, fallback, doc, required, secret }]) => {
      const own = { path: prefix + name, doc, required, secret, fallback: writeFallback(fallback) };
      const below = section?.();
      if (!below) return [own];
      return [own, ...visit(below, `${own.path}${list ? "[]" : ""}.`, [...above, here])];
    });
  }
}

function writeFallback(fallback: Raw | undefined): string | undefined {
  if (typeof fallback === "string") return fallback;
  if (!Array.isArray(fallback) || fallback.some((item) => typeof item !== "string")) return undefined;
  return fallback.length === 0 ? "none" : `[${fallback.join(", ")}]`;
}
