/** The state that a page shows: the fleet and its alerts at one moment. */
import type { Silence } from "../../alerting/silence.ts";
import type { Alert } from "../../health/alert.ts";
import type { FleetSnapshot } from "../../health/shard-state.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { timesSeenAt } from "../../lib/when.ts";
import type { ActiveAlert, HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { unreachableOf } from "./headline.ts";
import type { HtmlPage } from "./layout.ts";
import type { Moment } from "./when.ts";

export interface PageData {
  readonly fleet: FleetSnapshot;
  /** Firing ones. */
  readonly alerts: readonly Alert[];
  /** The same by `key`, with what suppresses them. */
  readonly suppressed: ReadonlyMap<string, ActiveAlert>;
  /** By id, including recently expired ones. */
  readonly silences: ReadonlyMap<string, Silence>;
  readonly moment: Moment;
}

/** Reads wait for as long as Redis is unreachable. */
const READ_DEADLINE_MS = 3_000;

export type PageDataDeps = Pick<HttpDeps, "fleet" | "alerts" | "silences" | "readDeadlineMs">;

/** Throws HttpError `unavailable` where the state cannot be read in time. */
export async function readPageData(deps: PageDataDeps): Promise<PageData> {
  const reading = Promise.all([deps.fleet(), deps.alerts(), deps.silences()]);
  const [fleet, alerts, silences] = await inTime(reading, deps);
  const firing = alerts.filter(({ alert }) => alert.state === "firing");
  return {
    fleet,
    alerts: firing.map(({ alert }) => alert),
    suppressed: new Map(firing.map((active) => [active.alert.key, active])),
    silences: new Map(silences.map((silence) => [silence.id, silence])),
    moment: { now: fleet.now, times: timesSeenAt(fleet.now) },
  };
}

const LATE =
  "The stored state cannot be read in time, Redis may be slow or unreachable: the current status of recordings is not known. /readyz says more.";

/** What was read, or HttpError `unavailable` once it takes too long. */
export async function inTime<T>(reading: Promise<T>, deps: Pick<HttpDeps, "readDeadlineMs">): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const fail = () => reject(new HttpError("unavailable", LATE));
  const timer = setTimeout(fail, deps.readDeadlineMs ?? READ_DEADLINE_MS);
  return Promise.race([reading, late]).finally(() => clearTimeout(timer));
}

/** Whether an alert is about the service, so that part of the fleet is not seen. */
export function isServiceUnreachable({ subject }: Alert): boolean {
  return subject.kind === "service";
}

/** On every page that shows the state of a part of the fleet. */
export function unreachableNotice({ alerts, moment }: PageData): Markup {
  const lines = alerts.filter(isServiceUnreachable).map((alert) => html`<p>${unreachableOf(alert, moment.now)}</p>`);
  return lines.length === 0 ? nothing : html`<div class="lead unknown" role="note">${lines}</div>`;
}

/** A page refreshes itself unless its reader pages on, searches, or paused updates. */
export function refreshOf(
  query: Readonly<Partial<Record<"cursor" | "q" | "refresh", string | undefined>>>,
): NonNullable<HtmlPage["refresh"]> {
  if (query.cursor !== undefined || query.q !== undefined) return "never";
  return query.refresh === "off" ? "off" : "on";
}
