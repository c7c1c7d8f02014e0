/** Label texts of the fleet's series. */
import { createHash } from "node:crypto";
import { renderLabel } from "./text.ts";

/** `a="…",b="…"`. */
export function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, i) => renderLabel(name, values[i] ?? "")).join(",");
}

/** Adds a digest to an id that rendering may alter, so that no two recordings or groups share a series. */
export function distinct(id: string): string {
  if (/^[ -~]{1,128}$/.test(id)) return id;
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 12);
  return `${id.slice(0, 100)}~${digest}`;
}
