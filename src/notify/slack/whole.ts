/** The title of a root of which all is over: the whole conversation, each recording counted once, and how it ended. */
import { extentOf, isOutage } from "../../alerting/extent.ts";
import type { EndedEpisode } from "../../alerting/incident.ts";
import type { Notification } from "../../alerting/model.ts";
import { looks } from "../../alerting/tone.ts";
import { type Described, nounOf, sizeOf, wordsOf } from "../../alerting/words.ts";
import { counted } from "../../lib/format.ts";
import { cut } from "../../lib/text.ts";
import { timesSeenAt } from "../../lib/when.ts";
import { locationName, NAME_IN_TITLE } from "../name.ts";
import { nameOf } from "../silence-scope.ts";

const TITLE_LENGTH = 150;
const RECOVERED = "recovered";
const OFFLINE = "was offline";

/** `240 recordings at 30 locations were offline, 02:30–03:41 GMT, all recovered`, and how it ended where that is not all. */
export function sumOf(notification: Notification) {
  const { conversation, resolved, now, timezone } = notification;
  const { ended, unknown } = conversation?.whole ?? { ended: [], unknown: 0 };
  // The last time of each alert says how it is now.
  const last = [...new Map(ended.map((one) => [one.id.slice(0, one.id.lastIndexOf("@")), one])).values()];
  const [[word, first] = [RECOVERED, []], ...others] = Map.groupBy(last, endWord);
  const isAlike = unknown === 0 && others.length === 0;
  const tone = isAlike && word === RECOVERED && first.length > 0 ? "good" : "unknown";
  if (ended.length === 0) return { title: `${looks[tone].sign} All over`, tone, lead: [] } as const;
  const isNotKnown = word === RECOVERED && others.length === 0;
  const mixed = isNotKnown ? "not all known to have recovered" : "not all recovered";
  const outcome = isAlike ? `${last.length > 1 ? "all " : ""}${word}` : mixed;
  const since = ended.reduce((least, { startsAt }) => Math.min(least, startsAt), now);
  const until = ended.reduce((most, { endsAt = since }) => Math.max(most, endsAt), since);
  const range = timesSeenAt(now, timezone).between(since, until, resolved[0]?.facts.timezone ?? "UTC");
  const was = cut(wasPhrase(notification), TITLE_LENGTH - range.length - outcome.length);
  const ends = [[word, first] as const, ...others].flatMap(([how, of]) =>
    [...Map.groupBy(of.map(described), nounOf)].map(([noun, some]) => `${counted(sizeOf(some), noun)} ${how}`),
  );
  const more = unknown > 0 ? [`${counted(unknown, "alert")} not known`] : [];
  return {
    title: `${looks[tone].sign} ${was}, ${range}, ${outcome}`,
    tone,
    lead: isAlike ? [] : [`${[...ends, ...more].join(", ")}.`],
  } as const;
}

function endWord({ endReason = "expired", isPartial, problem }: EndedEpisode): string {
  if (endReason !== "recovered") return endReason.replaceAll("_", " ");
  if (!isPartial) return RECOVERED;
  return problem === "flapping" ? "steady again" : "partly recovered";
}

/** `240 recordings at 30 locations were offline`, `Till 3 · Leeds Briggate was offline 3 times`. */
function wasPhrase({ conversation, resolved: [known] }: Notification): string {
  const { ended = [], unknown = 0 } = conversation?.whole ?? {};
  const all = ended.map(described);
  const wordOf = (one: Described) => (isOutage(one) ? OFFLINE : wordsOf(one).was);
  const kinds = [...Map.groupBy(all, wordOf)].sort(([a], [b]) => Number(a !== OFFLINE) - Number(b !== OFFLINE));
  if (known && unknown === 0 && sizeOf(all) === 1 && known.subject.id === all[0]?.subject.id) {
    const often = kinds.length === 1 && all.length > 1 ? ` ${all.length} times` : "";
    return `${nameOf(known, NAME_IN_TITLE)} ${kinds.map(([was]) => was).join(", ")}${often}`;
  }
  const phrases = kinds.map(([was, of]) => {
    const { offline, isExact, locations, areLocationsExact } = extentOf(was === OFFLINE ? of : []);
    const isNamed = locations === 1 && areLocationsExact && known;
    const place = isNamed ? locationName(known, NAME_IN_TITLE) : counted(locations, "location");
    const nouns = [...Map.groupBy(of, nounOf)].map(([noun, some]) => counted(sizeOf(some), noun));
    // Locations of which it is not known how many recordings were offline are counted themselves.
    const recordings = `${isExact ? "" : "at least "}${counted(offline, "recording")}${locations > 0 ? ` at ${place}` : ""}`;
    const isOne = (offline || sizeOf(of)) === 1;
    return `${offline > 0 ? recordings : nouns.join(" and ")} ${isOne ? was : was.replace(/^was/, "were")}`;
  });
  return `${unknown > 0 ? "At least " : ""}${phrases.join(", ")}`;
}

/** An episode as the words of alerts take it. */
function described({ subject, alertname = "", locationId, groups, problem, offline }: EndedEpisode): Described {
  const labels = { ...groups, location_id: locationId || undefined, alertname };
  const known = Object.entries(labels).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { subject, labels: Object.fromEntries(known), facts: { timezone: "UTC", problem, offline } };
}
