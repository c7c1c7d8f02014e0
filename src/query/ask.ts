/** The options of a query as people type them, checked before anything is requested. */
import { IANAZone } from "luxon";
import type { Labels } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { CodedError } from "../lib/errors.ts";
import { PAST_EXAMPLES, type PastSpan, parsePast } from "../lib/moment.ts";
import { own } from "../lib/own.ts";
import { closestRows } from "../lib/suggest.ts";
import { cut, stripControls } from "../lib/text.ts";
import type { EntriesQuery } from "../service/service.ts";

export const queryErrorCodes = ["bad_option", "unknown_name", "too_much"] as const;

/** A query that cannot be answered as it is; the message is one sentence with the next step. */
export class QueryError extends CodedError<(typeof queryErrorCodes)[number]> {
  constructor(code: (typeof queryErrorCodes)[number], message: string) {
    super(code, message, { retryable: false });
  }
}

/** Texts as typed; a list holds what was repeated or separated by commas. */
export type QueryOptions = Readonly<
  Partial<Record<"from" | "to" | "timezone" | "every" | "facet", string | undefined>> &
    Partial<Record<"location" | "recording" | "zone" | "by" | "only", readonly string[]>>
>;

const SPAN = ["from", "to", "timezone", "every"] as const;
const SPLIT = ["by", "only"] as const;

/** The routes, and the options that each takes besides `location`. */
const TAKES = {
  entries: [...SPAN, ...SPLIT, "facet"],
  zones: [...SPAN, ...SPLIT, "zone"],
  dwell: [...SPAN, ...SPLIT],
  conversion: [...SPAN, ...SPLIT],
  areas: ["recording"],
  uptime: [...SPAN, "recording"],
  status: ["recording"],
  locations: [],
} satisfies Record<string, readonly (keyof QueryOptions)[]>;

export type QueryRoute = keyof typeof TAKES;
export const queryRoutes = Object.keys(TAKES) as QueryRoute[];

const demographics = ["age", "gender", "role"] as const;
type Demographic = (typeof demographics)[number];
type Every = "hour" | "day" | "week" | "month";

/** A query that is complete and consistent. */
export interface Ask extends Pick<QueryOptions, "from" | "to" | "timezone"> {
  readonly route: QueryRoute;
  readonly locations: readonly string[];
  readonly recordings: readonly string[];
  readonly zones: readonly string[];
  /** In the order of `demographics`: `true` a row for each value, a list only those values. */
  readonly split: Pick<NonNullable<EntriesQuery["breakdown"]>, Demographic>;
  /** Undefined: one row for the whole span. */
  readonly every: Every | undefined;
  readonly estimates: boolean;
}

/** Throws QueryError `bad_option`. */
export function toAsk(route: QueryRoute, options: QueryOptions, now: Instant): Ask {
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value.length > 0);
  const takes: readonly string[] = ["location", ...TAKES[route]];
  const other = given.find(([name]) => !takes.includes(name));
  if (other) throw refused(`${other[0]} is no option of ${route}, which takes ${takes.join(", ")}`);
  const { from, to, timezone, location = [], recording = [], zone = [], every, facet } = options;
  if (timezone !== undefined && !IANAZone.isValidZone(timezone))
    throw refused(`timezone ${quoted(timezone)} is not known: give an IANA name such as Europe/London`);
  if (facet !== undefined && facet !== "estimates") throw refused("facet can only be estimates");
  const ask: Ask = {
    ...{ route, from, to, timezone, locations: location, recordings: recording, zones: zone },
    split: splitOf(route, options),
    every: every === undefined ? undefined : periodOf(route, every),
    estimates: facet !== undefined,
  };
  // A day that has begun somewhere may be asked for.
  if (takes.includes("from")) spanIn(ask, timezone ?? (to === undefined ? "Pacific/Kiritimati" : "UTC"), now);
  return ask;
}

function periodOf(route: QueryRoute, every: string): Every {
  const known: readonly Every[] = route === "uptime" ? ["hour", "day", "week", "month"] : ["day", "week", "month"];
  const period = known.find((one) => one === every);
  if (!period) throw refused(`every ${quoted(every)} is not served: give ${known.join(" or ")}`);
  return period;
}

/** A filter is a breakdown with values, so that neither can be requested without the other (contract: "Rules" 1). */
function splitOf(route: QueryRoute, { by = [], only = [] }: QueryOptions): Ask["split"] {
  const own = route === "zones" ? ["location", "entity", "zone", "taxonomy"] : ["location", "entity"];
  const values = new Map<string, true | string[]>();
  for (const name of listed(by)) {
    if (isDemographic(name)) values.set(name, true);
    else if (!own.includes(name)) throw refused(`by ${quoted(name)}: give ${demographics.join(", ")} or ${own[0]}`);
  }
  for (const pair of listed(only)) {
    const [, name = "", value = ""] = /^(\w+)=(.+)$/.exec(pair) ?? [];
    if (!isDemographic(name)) throw refused(`only ${quoted(pair)}: give pairs such as age=25_34 or role=customer`);
    if (name === "age" && !/^\d{1,3}_\d{1,3}$/.test(value)) throw refused("only age: give a band such as 25_34");
    const before = values.get(name);
    values.set(name, [...(Array.isArray(before) ? before : []), value]);
  }
  if (route === "conversion" && values.size > 0)
    throw refused("conversion has no age, gender or role, as sales carry no visitor attributes: leave out by and only");
  return Object.fromEntries(demographics.flatMap((name) => (values.has(name) ? [[name, values.get(name)]] : [])));
}

function listed(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(",").map((part) => part.trim()));
}

function isDemographic(name: string): name is Demographic {
  return demographics.some((one) => one === name);
}

/** `end` is not included; `days` are, as uptime takes them (contract: uptime rules 1 and 2). */
export interface QuerySpan {
  readonly start: Instant;
  readonly end: Instant;
  readonly days: { readonly start: string; readonly end: string };
}

/** The span in a zone: from seven days ago until now where nothing is given. Throws QueryError `bad_option`. */
export function spanIn({ from = "7d", to = "now", route }: Ask, zone: string, now: Instant): QuerySpan {
  const first = moment("from", from, now, zone);
  const last = moment("to", to, now, zone);
  if (route === "uptime" && (first.day === undefined || last.day === undefined))
    throw refused("uptime is of whole days: give from and to as days such as 2026-01-31, yesterday or 7d");
  if (first.start >= last.end) throw refused("from must be before to");
  return { start: first.start, end: last.end, days: { start: first.day ?? "", end: last.day ?? "" } };
}

function moment(name: string, text: string, now: Instant, zone: string): PastSpan {
  const parsed = parsePast(text, now, zone);
  if (!parsed) throw refused(`${name} ${quoted(text)} is no day or time: give one such as ${PAST_EXAMPLES}`);
  return parsed;
}

type NamedRow = { readonly id: string; readonly name: string };

/** The same of locations, which may also be asked for by a label of the directory: `region=north`. */
export function pickPlaces<Row extends NamedRow>(
  rows: readonly Row[],
  asked: readonly string[],
  labelsOf: (row: Row) => Labels | undefined,
): Row[] {
  const picked = asked.flatMap((text) => {
    const [, name = "", value] = /^(\w+)=(.+)$/.exec(text) ?? [];
    const found = rows.filter((row) => value !== undefined && own(labelsOf(row) ?? {}, name) === value);
    return found.length > 0 ? found : pickNamed("location", rows, [text]);
  });
  return asked.length === 0 ? [...rows] : [...new Set(picked)];
}

/**
 * The rows asked for by id or full name in any case, all of them where none is asked for. Throws QueryError
 * `unknown_name`, also where several have a name, with those that are similar.
 */
export function pickNamed<Row extends NamedRow>(kind: string, rows: readonly Row[], asked: readonly string[]): Row[] {
  if (asked.length === 0) return [...rows];
  const picked = asked.map((text) => {
    const wanted = text.trim().toLowerCase();
    const byId = rows.find(({ id }) => id.toLowerCase() === wanted);
    const found = byId ? [byId] : rows.filter(({ name }) => name.toLowerCase() === wanted);
    if (found.length === 1) return found;
    const near = found.length > 0 ? found.slice(0, 5) : closestRows(wanted, rows);
    const listed = near
      .map(({ id, name }) => (name === id ? quoted(id) : `${quoted(name)} (${quoted(id)})`))
      .join(", ");
    if (found.length > 1)
      throw new QueryError(
        "unknown_name",
        `${found.length} have the name ${quoted(text)}: give the id of one: ${listed}`,
      );
    const hint = near.length > 0 ? `; similar: ${listed}` : ": check the name, or leave it out";
    throw new QueryError("unknown_name", `no ${kind} has the id or name ${quoted(text)}${hint}`);
  });
  return [...new Set(picked.flat())];
}

function refused(why: string): QueryError {
  return new QueryError("bad_option", why);
}

function quoted(text: string): string {
  return `"${cut(stripControls(text), 100)}"`;
}
