/** `/lenswatch …` as somebody typed it: what is asked, and of which recording or location. Pure. */
import { parseDuration } from "../../lib/duration.ts";
import { closestWord, findClosestRows } from "../../lib/suggest.ts";
import { clean } from "../name.ts";
import { bold, mrkdwn } from "./mrkdwn.ts";

/** A recording or a location of the fleet; `at` is the location's name. */
export interface Place {
  readonly kind: "recording" | "location";
  readonly id: string;
  readonly name: string;
  readonly at: string;
  readonly timezone: string;
}

export type SlackRequest =
  | { readonly verb: "help" }
  | { readonly verb: "status"; readonly place?: Place }
  | { readonly verb: "why"; readonly place: Place }
  | { readonly verb: "silence"; readonly place: Place; readonly forMs: number; readonly comment: string };

/** A sentence for the person, escaped. */
type Problem = { readonly problem: string };

export const slackHelp = [
  "`/lenswatch status [location]`: what needs somebody, or the recordings of a location",
  "`/lenswatch why NAME`: the last decisions about a recording or location",
  "`/lenswatch silence NAME 2h [comment]`: no notifications about it for that long",
  "NAME is a full name or an id.",
].join("\n");

const MOST_WORDS = 100;
const LONGEST_MS = 365 * 86_400_000;
const VERBS = ["help", "status", "why", "silence"] as const;

/** Yields after each place: of a fleet there are many, and anybody in the channel may mistype a name. */
export function* readCommand(typed: string, places: readonly Place[]): Generator<void, SlackRequest | Problem> {
  const [first = "help", ...rest] = unescaped(typed).split(" ").filter(Boolean).slice(0, MOST_WORDS);
  const verb = VERBS.find((one) => one === first.toLowerCase());
  if (verb === "help") return { verb };
  if (verb === undefined) {
    const near = closestWord(first.toLowerCase(), VERBS);
    return { problem: `There is no command ${mrkdwn(clean(first))}${near ? `; ${near}?` : "."}\n${slackHelp}` };
  }
  if (rest.length === 0) return verb === "status" ? { verb } : { problem: slackHelp };
  const named = yield* byName(places);
  if (verb === "silence") return yield* readSilence(rest, named, places);
  const name = rest.join(" ");
  const place = only(named, name);
  if (!place) return yield* unknown(name, places);
  return "problem" in place ? place : { verb, place };
}

/** The name ends where a duration follows that makes it known. */
function* readSilence(
  words: readonly string[],
  named: Names,
  places: readonly Place[],
): Generator<void, SlackRequest | Problem> {
  const ends = words.keys().filter((i) => i > 0 && parseDuration(words[i] ?? "") !== undefined);
  let name: string | undefined;
  for (const end of ends) {
    const forMs = parseDuration(words[end] ?? "") ?? 0;
    const found = only(named, words.slice(0, end).join(" "));
    name ??= words.slice(0, end).join(" ");
    if (!found) continue;
    if ("problem" in found) return found;
    if (forMs <= 0 || forMs > LONGEST_MS) return { problem: "A silence lasts a year at most: give 30m, 2h or 1d12h." };
    return { verb: "silence", place: found, forMs, comment: words.slice(end + 1).join(" ") };
  }
  return name === undefined
    ? { problem: `For how long? Give 30m, 2h or 1d12h after the name.\n${slackHelp}` }
    : yield* unknown(name, places);
}

type Names = ReadonlyMap<string, readonly Place[]>;

/** By id, else by name. */
function* byName(places: readonly Place[]): Generator<void, Names> {
  const [names, ids] = [new Map<string, Place[]>(), new Map<string, Place[]>()];
  for (const place of places) {
    for (const [by, text] of [[names, place.name] as const, [ids, place.id] as const]) {
      const key = unescaped(text).toLowerCase();
      const known = by.get(key);
      if (known) known.push(place);
      else by.set(key, [place]);
    }
    yield;
  }
  for (const [id, all] of ids) names.set(id, all);
  return names;
}

/** Undefined where nothing has that name. */
function only(named: Names, name: string): Place | Problem | undefined {
  const found = named.get(name.toLowerCase()) ?? [];
  if (found.length < 2) return found[0];
  return { problem: `${found.length} have that name, give an id:\n${listed(found)}` };
}

function* unknown(name: string, places: readonly Place[]): Generator<void, Problem> {
  const near = yield* findClosestRows(name.slice(0, 60), places);
  const hint = near.length === 0 ? "" : ` Similar:\n${listed(near)}`;
  return { problem: `No recording or location is called ${bold(clean(name))}.${hint}` };
}

function listed(places: readonly Place[]): string {
  const line = ({ id, name, at, kind }: Place) => [
    clean(name),
    ...(kind === "recording" ? [clean(at)] : []),
    clean(id),
  ];
  return places
    .slice(0, 10)
    .map((place) => `• ${line(place).map(mrkdwn).join(" · ")}`)
    .join("\n");
}

/** Slack writes `& < >` as entities; names may be in quotes. */
function unescaped(text: string): string {
  const plain = text.replace(/&(amp|lt|gt);/g, (_, name: string) => ({ amp: "&", lt: "<", gt: ">" })[name] ?? "");
  return plain.replace(/["“”]/g, " ").replace(/\s+/g, " ").trim();
}
