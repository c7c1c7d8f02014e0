/** Every configuration key as the documentation shows it. */
import type { Raw } from "../../src/config/document.ts";
import type { ConfigSection } from "../../src/config/key.ts";

export interface KeyDoc {
  /** `rules[].for`; a route's own routes are not listed again. */
  readonly path: string;
  readonly doc: string;
  readonly required: boolean;
  /** As written in a file; undefined where there is none or it is a mapping with defaults of its own. */
  readonly fallback: string | undefined;
  readonly secret: boolean;
}

/** Every key, in the order of declaration. */
export function documentKeys(root: ConfigSection): KeyDoc[] {
  return visit(root, "", []);

  function visit(here: ConfigSection, prefix: string, above: readonly ConfigSection[]): KeyDoc[] {
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
