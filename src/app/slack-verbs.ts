/**
 * What people do from Slack, made once however often they ask and at how many replicas: an acknowledgement is the first
 * person's, and the id of a silence follows from what it silences.
 */
import { createHash } from "node:crypto";
import type { AuditOrigin } from "../alerting/audit.ts";
import { formatMatcher, parseMatchers } from "../alerting/matcher.ts";
import { requestBudget } from "../alerting/pattern.ts";
import { equalMatchers, matchersOf } from "../alerting/prepared-silence.ts";
import { silenceState } from "../alerting/silence.ts";
import type { SuppressibleAlert } from "../deliver/suppression.ts";
import type { createSuppressionChanges } from "../deliver/suppression-changes.ts";
import type { Alert } from "../health/alert.ts";
import type { Subject } from "../health/evaluation.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { counted } from "../lib/format.ts";
import { timesSeenAt } from "../lib/when.ts";
import { locationName, plainName, shortName } from "../notify/name.ts";
import { whyText } from "../notify/slack/answers.ts";
import { bold, link, mrkdwn } from "../notify/slack/mrkdwn.ts";
import type { Store } from "../store/store.ts";

export interface SlackVerbsDeps {
  readonly clock: Clock;
  readonly changes: Pick<ReturnType<typeof createSuppressionChanges>, "silences" | "setSilence" | "acknowledgeEach">;
  readonly store: Pick<Store, "log">;
  readonly externalUrl: string | undefined;
  active(): Promise<readonly SuppressibleAlert[]>;
}

/** As Slack has them: the user's id and display name. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

/** What is silenced or explained. */
interface About {
  readonly name: string;
  /** What the silences are about. */
  readonly scope: string;
  readonly timezone: string;
  /** With their names. */
  readonly subjects: readonly (readonly [Subject, name: string])[];
  /** The matchers of each silence, as text; undefined: it would take too many. */
  readonly silences: readonly string[] | undefined;
}

const WEEK_MS = 7 * 86_400_000;
/** A silence that ends at most this much earlier than the one asked for is the same. */
const SAME_MS = 60_000;
const MOST_SUBJECTS = 50;
const MOST_LOCATIONS = 100;
const MOST_SILENCES = 10;

export class SlackVerbs {
  readonly #deps: SlackVerbsDeps;

  constructor(deps: SlackVerbsDeps) {
    this.#deps = deps;
  }

  /** Of alerts that nobody has acknowledged; no answer where that changed something, as the message shows it. */
  async acknowledge(firing: readonly SuppressibleAlert[], person: Person): Promise<string | undefined> {
    const alerts = firing.map(({ alert }) => alert);
    const request = { author: person.name, comment: "", isFirst: true };
    const outcomes = await this.#deps.changes.acknowledgeEach(alerts, request, originOf(person));
    const done = outcomes.filter((one) => one.outcome === "done");
    if (done.some(({ before }) => before === undefined)) return undefined;
    const authors = [...new Set(done.flatMap(({ before }) => before?.author ?? []))];
    if (authors.length === 0) return "Nothing fires there any more. Nothing was changed.";
    return `Acknowledged already, by ${mrkdwn(authors.slice(0, 5).join(", "))}.`;
  }

  async silence(
    { scope, silences, timezone }: About,
    { endsAt, comment }: { endsAt: Instant; comment: string },
    person: Person,
  ): Promise<{ readonly text: string; readonly done?: string }> {
    const { clock, externalUrl } = this.#deps;
    const page = externalUrl === undefined ? "" : link({ label: "status page", url: `${externalUrl}/?show=silences` });
    if (!silences) return { text: `That would take too many silences. Set one on the ${page || "status page"}.` };
    const by = new Set<string>();
    let until = endsAt;
    for (const matchers of silences) {
      const set = await this.#silenceOnce(matchers, endsAt, comment || "from Slack", person);
      if ("problem" in set) return { text: `It was not silenced: ${mrkdwn(set.problem)}.` };
      if ("by" in set) {
        by.add(set.by);
        until = Math.max(until, set.endsAt);
      }
    }
    const done = `${bold(scope)}: silenced until ${timesSeenAt(clock.now()).at(until, timezone)}`;
    const end = `To end it: ${page ? `the ${page}` : "`lenswatch silence expire`"}.`;
    if (by.size > 0) return { text: `${done}, already by ${mrkdwn([...by].join(", "))}. ${end}` };
    return { text: `${done}. ${end}`, done };
  }

  /** `by`: the author of the silence that is in force already, and covers the time. */
  async #silenceOnce(
    text: string,
    endsAt: Instant,
    comment: string,
    person: Person,
  ): Promise<
    { readonly by: string; readonly endsAt: Instant } | { readonly problem: string } | { readonly id: string }
  > {
    const { clock, changes } = this.#deps;
    const matchers = parseMatchers(text, requestBudget());
    const fields = { id: undefined, matchers, startsAt: undefined, endsAt, comment, annotations: {} };
    for (;;) {
      const now = clock.now();
      const stored = new Map((await changes.silences()).map((one) => [one.id, one]));
      let id = idOf(text, 0);
      for (let n = 1; stored.has(id); id = idOf(text, n++)) {
        const known = stored.get(id);
        if (known && silenceState(known, now) === "active" && known.endsAt >= endsAt - SAME_MS)
          return { by: known.createdBy, endsAt: known.endsAt };
      }
      const set = await changes.setSilence({ ...fields, createdBy: person.name }, originOf(person), id);
      if (set.outcome === "refused") return { problem: set.why };
      if (set.outcome === "set") return { id };
    }
  }

  async why({ name, subjects, timezone }: About): Promise<string> {
    const now = this.#deps.clock.now();
    const different = new Map(subjects.map(([subject, of]) => [`${subject.kind}/${subject.id}`, { subject, of }]));
    const asked = [...different].slice(0, MOST_SUBJECTS);
    const about = asked.map(([, { subject }]) => subject);
    const lines = await this.#deps.store.log.read(about, now - WEEK_MS);
    return whyText({ name, names: new Map(asked.map(([key, { of }]) => [key, of])), timezone }, lines, now);
  }
}

/** Silences the location that all of them are at, or each of their locations; without locations, each alert. */
export function aboutAlerts(firing: readonly Pick<SuppressibleAlert, "alert">[]): About {
  const alerts = firing.map(({ alert }) => alert);
  const [first] = alerts;
  const names = [...new Set(alerts.map((alert) => locationName(alert) || plainName(alert)))];
  const ids = [...new Set(alerts.map(({ labels }) => labels.location_id ?? ""))];
  const scope = names.length === 1 ? (names[0] ?? "") : counted(ids.length, "location");
  return {
    name: alerts.length === 1 && first ? nameOf(first) : scope,
    scope,
    timezone: first?.facts.timezone ?? "UTC",
    subjects: alerts.map((alert) => [alert.subject, plainName(alert)]),
    silences: ids.includes("") ? ofEach(alerts.map(matchersOf)) : ofLocations(ids),
  };
}

/** `Till 3 · Leeds Briggate`. */
function nameOf(alert: Alert): string {
  return [...new Set([shortName(alert), locationName(alert)])].filter(Boolean).join(" · ");
}

function ofEach(all: readonly string[]): string[] | undefined {
  const different = [...new Set(all)];
  return different.length > MOST_SILENCES ? undefined : different;
}

function ofLocations(ids: readonly string[]): string[] | undefined {
  const [only] = ids;
  if (ids.length === 1) return [equalMatchers([["location_id", only]])];
  if (ids.length > MOST_LOCATIONS) return undefined;
  const value = ids
    .map((id) => id.replace(/[^\w-]/g, "\\$&"))
    .sort()
    .join("|");
  return [formatMatcher({ name: "location_id", operator: "=~", value })];
}

function originOf({ id, name }: Person): AuditOrigin {
  return { actor: { via: "slack", name: id, person: name } };
}

/** A UUID of version 8: made of what it silences, so that two replicas make the same. */
function idOf(matchers: string, n: number): string {
  const hex = createHash("sha256").update(`slack ${n} ${matchers}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
