/** What a page is made of: the fleet and its alerts at one moment. */
import type { Silence } from "../../alerting/silence.ts";
import type { Alert } from "../../health/alert.ts";
import type { FleetSnapshot } from "../../health/shard-state.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { timesSeenAt } from "../../lib/when.ts";
import type { ActiveAlert, HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { unreachableOf } from "./headline.ts";
import type { Page } from "./layout.ts";
import type { Moment } from "./when.ts";

export interface PageData {
  readonly fleet: FleetSnapshot;
  /** Those that fire. */
  readonly alerts: readonly Alert[];
  /** The same by `key`, each with what holds it back. */
  readonly suppressed: ReadonlyMap<string, ActiveAlert>;
  /** By id, also those that were over not long ago. */
  readonly silences: ReadonlyMap<string, Silence>;
  readonly moment: Moment;
}

/** Longer than any answer takes that comes at all: what is read waits for Redis while that is away. */
const READ_DEADLINE_MS = 3_000;

export type PageDataDeps = Pick<HttpDeps, "fleet" | "alerts" | "silences" | "readDeadlineMs">;

/** Throws HttpError `unavailable` where it cannot be read in time. */
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

/** What was read, or HttpError `unavailable` once it takes too long. */
export async function inTime<T>(reading: Promise<T>, deps: Pick<HttpDeps, "readDeadlineMs">): Promise<T> {
  const outcome = reading.then((value) => ({ value }));
  const late = setAfter(deps.readDeadlineMs ?? READ_DEADLINE_MS);
  const first = await Promise.race([outcome, late.passed]).finally(late.clear);
  if (first) return first.value;
  throw new HttpError(
    "unavailable",
    "What lenswatch remembers cannot be read in time, Redis may be slow or away: how the recordings are is not known now. /readyz says more.",
  );
}

function setAfter(ms: number): { readonly passed: Promise<undefined>; readonly clear: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  return { passed: promise, clear: () => clearTimeout(timer) };
}

/** Whether an alert says that lenswatch does not see all of the fleet. */
export function isServiceUnreachable({ subject }: Alert): boolean {
  return subject.kind === "service";
}

/** Said on every page that shows the state of less than the fleet. */
export function unreachableNotice({ alerts, moment }: PageData): Markup {
  const said = alerts
    .filter(isServiceUnreachable)
    .map((alert) => html`<p>${unreachableOf(alert, moment.now)}</p>`);
  return said.length === 0 ? nothing : html`<div class="lead unknown" role="note">${said}</div>`;
}

/** A page loads itself anew unless its reader pages on, searches, or asked it not to. */
export function refreshOf(query: {
  readonly cursor?: string | undefined;
  readonly q?: string | undefined;
  readonly refresh?: "off" | undefined;
}): NonNullable<Page["refresh"]> {
  if (query.cursor !== undefined || query.q !== undefined) return "never";
  return query.refresh === "off" ? "off" : "on";
}
