/** A rehearsal as text: the messages, to whom and when. */
import type { z } from "zod";
import { integrationName } from "../alerting/integration-name.ts";
import { suppressionText } from "../alerting/suppression-words.ts";
import type { ApiWhatIf } from "../http/v1/what-if.ts";
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { count, counted } from "../lib/format.ts";
import { stripControls } from "../lib/text.ts";
import { timesSeenAt } from "../lib/when.ts";

type WhatIf = z.infer<typeof ApiWhatIf>;
type Item = WhatIf["items"][number];

/** A message a line, the earliest first; then what is never sent. `isNow`: the state of what is not online. */
export function whatIfText(
  name: string,
  { now, timezone, recordings, readWithinSeconds, items }: WhatIf,
  { zone, isNow }: { readonly zone: string; readonly isNow: string | undefined },
): string {
  const times = timesSeenAt(Date.parse(now), zone);
  const at = (instant: Instant) => times.at(instant, timezone, true);
  const [sent, never] = [items.filter(({ at }) => at !== null), items.filter(({ at }) => at === null)];
  const within = `All of it up to ${humanDuration(readWithinSeconds * 1_000)} later, at the next reading; a recording outside its schedule fires later.`;
  const lines = [
    ...(isNow === undefined ? [] : [`Not all of it is online: ${isNow}. This is of an outage that begins now.`]),
    `If ${name} (${counted(recordings, "recording")}) went offline now, ${at(Date.parse(now))}:`,
    "",
    ...sent.map((item) => `  ${at(Date.parse(item.at ?? now))}  ${messageText(item, at)}`),
    ...never.map((item) => `  not sent  ${messageText(item, at)}`),
    ...(items.length === 0
      ? ["  Nobody would be notified: no rule fires, or no route leads to an integration."]
      : ["", within]),
  ];
  return `${lines.map(stripControls).join("\n")}\n`;
}

/** `Slack (ops): LocationOffline, again every 4 h`. */
function messageText(item: Item, at: (instant: Instant) => string): string {
  const { integration, alertname, alerts, escalateAfterSeconds, repeatSeconds, suppressions } = item;
  const what = `${alertname}${alerts > 1 ? ` of ${count(alerts)}` : ""}`;
  const waits = suppressions.map(({ until, ...one }) =>
    suppressionText({ ...one, until: until === null ? undefined : Date.parse(until) }, at),
  );
  const escalates =
    escalateAfterSeconds === null
      ? []
      : [`if nobody acknowledges it for ${humanDuration(escalateAfterSeconds * 1_000)}`];
  const again = item.at === null ? [] : [`again every ${humanDuration(repeatSeconds * 1_000)}`];
  return [`${integrationName(integration)}: ${what}`, ...waits, ...escalates, ...again].join(", ");
}
