/** The immediate effect of a new silence: a misspelled name makes one that silences nothing. */
import { z } from "zod";
import { matchesAll } from "../../alerting/matcher.ts";
import type { Matcher } from "../../alerting/route.ts";
import { counted } from "../../lib/format.ts";
import { type Daemon, DaemonError } from "./daemon.ts";

const FiringAlert = z.object({ labels: z.record(z.string(), z.string()) });

/** A sentence about the silence that was just added. A failed request is no failure: the silence exists. */
export async function effectOf(daemon: Daemon, matchers: readonly Matcher[]): Promise<string> {
  try {
    const alerts = await daemon.get("/api/v2/alerts", {}, z.array(FiringAlert));
    const silenced = alerts.filter(({ labels }) => matchesAll(matchers, labels)).length;
    if (silenced > 0) return `${counted(silenced, "firing alert")} silenced.`;
    const unknown = await unknownName(daemon, matchers);
    return unknown === undefined
      ? "No firing alert matches."
      : `No firing alert matches, and there is no ${unknown}: check the names with \`lenswatch status\`.`;
  } catch (thrown) {
    if (thrown instanceof DaemonError) return "The firing alerts could not be read.";
    throw thrown;
  }
}

/** `location "Bathh"`: the first name or id in the matchers that is not in the fleet. */
async function unknownName(daemon: Daemon, matchers: readonly Matcher[]): Promise<string | undefined> {
  for (const { name, operator, value } of matchers) {
    const parameter = /^(recording|location)(_id)?$/.exec(name)?.[1];
    if (parameter === undefined || operator !== "=" || value === "") continue;
    const query = { [parameter]: value, limit: "1" };
    const { items } = await daemon.get("/api/v1/recordings", query, z.object({ items: z.array(z.unknown()) }));
    if (items.length === 0) return `${parameter} ${JSON.stringify(value)}`;
  }
  return undefined;
}
