/** What a silence does at once: a mistyped name makes one that holds nothing, and nobody would know. */
import { z } from "zod";
import { matchesAll } from "../../alerting/matcher.ts";
import type { Matcher } from "../../alerting/route.ts";
import { counted } from "../../lib/format.ts";
import { type Daemon, DaemonError } from "./daemon.ts";

const FiringAlert = z.object({ labels: z.record(z.string(), z.string()) });
const Anything = z.object({ items: z.array(z.unknown()) });

/** A sentence on the silence that was just made. That it cannot be told is no failure: the silence stands. */
export async function effectOf(daemon: Daemon, matchers: readonly Matcher[]): Promise<string> {
  try {
    const alerts = await daemon.get("/api/v2/alerts", {}, z.array(FiringAlert));
    const held = alerts.filter(({ labels }) => matchesAll(matchers, labels)).length;
    if (held > 0) return `It holds ${counted(held, "alert")} now.`;
    const unknown = await unknownName(daemon, matchers);
    return unknown === undefined
      ? "No alert that fires now matches."
      : `No alert that fires now matches, and there is no ${unknown}: check the names with \`lenswatch status\`.`;
  } catch (thrown) {
    if (thrown instanceof DaemonError) return "What it holds now could not be read.";
    throw thrown;
  }
}

/** By the label: what a name or an id is looked up as. */
const LOOKUPS: ReadonlyMap<string, "recording" | "location"> = new Map([
  ["recording", "recording"],
  ["recording_id", "recording"],
  ["location", "location"],
  ["location_id", "location"],
]);

/** `location "Bathh"`: what the matchers name that is not in the fleet. */
async function unknownName(daemon: Daemon, matchers: readonly Matcher[]): Promise<string | undefined> {
  for (const { name, operator, value } of matchers) {
    const parameter = LOOKUPS.get(name);
    if (parameter === undefined || operator !== "=" || value === "") continue;
    const query = { [parameter]: value, limit: "1" };
    const { items } = await daemon.get("/api/v1/recordings", query, Anything);
    if (items.length === 0) return `${parameter} ${JSON.stringify(value)}`;
  }
  return undefined;
}
