/**
 * Changes that people make from Slack, made once however often they ask and at how many replicas: an acknowledgement is the first
 * person's, and the id of a silence follows from what it silences.
 */
import { createHash } from "node:crypto";
import type { AuditOrigin } from "../alerting/audit.ts";
import { parseMatchers } from "../alerting/matcher.ts";
import { requestBudget } from "../alerting/pattern.ts";
import { type Silence, silenceState } from "../alerting/silence.ts";
import { isMatched, lookBudget } from "../alerting/silence-verdicts.ts";
import { handledText } from "../alerting/suppression-words.ts";
import type { SuppressibleAlert } from "../deliver/suppression.ts";
import type { createSuppressionChanges } from "../deliver/suppression-changes.ts";
import type { Alert } from "../health/alert.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { counted } from "../lib/format.ts";
import { type Times, timesSeenAt } from "../lib/when.ts";
import { locationName, plainName } from "../notify/name.ts";
import { nameOf, type SilenceScope } from "../notify/silence-scope.ts";
import { type Button, type InputBlock, undoAckButton, undoButtons } from "../notify/slack/actions.ts";
import { whyText } from "../notify/slack/answers.ts";
import { bold, link, mrkdwn } from "../notify/slack/mrkdwn.ts";
import type { Store } from "../store/store.ts";

export interface SlackVerbsDeps {
  readonly clock: Clock;
  readonly changes: Pick<
    ReturnType<typeof createSuppressionChanges>,
    "silences" | "setSilence" | "extendSilence" | "undoSilence" | "acknowledgeEach" | "undoAckOfEach"
  >;
  readonly store: Pick<Store, "log">;
  readonly externalUrl: string | undefined;
  /** The zone of times; undefined: the location's. */
  readonly timezone?: string | undefined;
  active(): Promise<readonly SuppressibleAlert[]>;
}

/** A user of Slack: id and display name. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

/** The answer to a person. */
export interface Answer {
  readonly text: string;
  /** The change, for others to read. */
  readonly done?: string | undefined;
  /** Below it: fields, and buttons that change what was done. */
  readonly inputs?: readonly InputBlock[];
  readonly buttons?: readonly Button[];
}

const MOST_MORE_MS = 2 * 86_400_000;
const WEEK_MS = 7 * 86_400_000;
/** A silence that ends at most this much earlier than the one asked for is the same. */
const SAME_MS = 60_000;
const MOST_SUBJECTS = 50;
const MOST_UNDONE = 20;
/** An id as `idOf` makes it. */
const MADE_HERE = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;

export class SlackVerbs {
  readonly #deps: SlackVerbsDeps;

  constructor(deps: SlackVerbsDeps) {
    this.#deps = deps;
  }

  /** Acknowledges alerts that nobody has acknowledged. */
  async acknowledge(firing: readonly SuppressibleAlert[], person: Person): Promise<Answer> {
    const alerts = firing.map(({ alert }) => alert);
    const request = { author: person.name, comment: "", isFirst: true };
    const outcomes = await this.#deps.changes.acknowledgeEach(alerts, request, originOf(person));
    const done = outcomes.filter((one) => one.outcome === "done");
    const at = done.find(({ before }) => before === undefined)?.after?.at;
    if (at !== undefined)
      return { text: `${bold(namesOf(alerts))}: acknowledged.`, done: "Acknowledged", buttons: [undoAckButton(at)] };
    const authors = [...new Set(done.flatMap(({ before }) => before?.author ?? []))];
    if (authors.length === 0) return { text: "Nothing fires there any more. Nothing was changed." };
    return { text: `Acknowledged already, by ${mrkdwn(authors.slice(0, 5).join(", "))}.` };
  }

  /** Undoes what this person acknowledged at that time. */
  async undoAck(firing: readonly SuppressibleAlert[], at: Instant, person: Person): Promise<Answer> {
    const alerts = firing.map(({ alert }) => alert);
    const outcomes = await this.#deps.changes.undoAckOfEach(alerts, at, originOf(person));
    const undone = new Set(alerts.filter((_, i) => outcomes[i]?.outcome === "done").map(({ id }) => id));
    if (undone.size === 0)
      return { text: "Only your own change of the last 15 minutes is undone. Nothing was changed." };
    const released = (await this.#deps.active()).filter(({ alert }) => undone.has(alert.id));
    return { text: undoneText(released, this.times()), done: "Acknowledgement undone" };
  }

  /** Times as people read them here. */
  times(): Times {
    return timesSeenAt(this.#deps.clock.now(), this.#deps.timezone);
  }

  /** `endsAt` at shops of this zone; `comment` is the reason. */
  async silence(
    { name, note, silences }: SilenceScope,
    { endsAt, timezone, comment }: { readonly endsAt: Instant; readonly timezone: string; readonly comment: string },
    person: Person,
  ): Promise<Answer> {
    const by = new Set<string>();
    const set: string[] = [];
    let until = endsAt;
    for (const matchers of silences) {
      const one = await this.#silenceOnce(matchers, { endsAt, comment }, person);
      if ("problem" in one) {
        const text = set.length > 0 ? "Not all of it was silenced" : "It was not silenced";
        return { text: `${text}: ${mrkdwn(one.problem)}.`, buttons: this.#undo(set, until, timezone) };
      }
      if ("id" in one) set.push(one.id);
      else {
        by.add(one.by);
        until = Math.max(until, one.endsAt);
      }
    }
    const done = `${bold(name)}: silenced until ${this.times().at(until, timezone)}`;
    const also = note === undefined ? "" : ` ${note}`;
    if (set.length === 0)
      return { text: `${done}, already by ${mrkdwn([...by].join(", "))}.${also} ${this.#pageLink()}` };
    return { text: `${done}.${also}`, done, buttons: this.#undo(set, until, timezone) };
  }

  #undo(silences: readonly string[], until: Instant, shop: string): Button[] {
    return silences.length === 0
      ? []
      : undoButtons(silences, { until, now: this.#deps.clock.now(), times: this.times(), shop });
  }

  /** Lets silences that suppress something here last until then, for two days more at most. */
  async extend(silences: readonly string[], until: Instant, timezone: string, person: Person): Promise<Answer> {
    const { changes } = this.#deps;
    const known = (await changes.silences()).filter(({ id, endsAt }) => silences.includes(id) && endsAt <= until);
    const isMeant = known.length > 0 && known.every(({ endsAt }) => until <= endsAt + MOST_MORE_MS);
    const extended: string[] = [];
    for (const { id } of isMeant ? known : [])
      if (await changes.extendSilence(id, until, originOf(person))) extended.push(id);
    if (extended.length === 0) return { text: "This silence is over, or lasts longer already: nothing was changed." };
    const done = `Silence extended until ${this.times().at(until, timezone)}`;
    return { text: `${done}.`, done, buttons: this.#undo(extended, until, timezone) };
  }

  /**
   * Undoes the last change of silences, unless it was made after `at`: one that was set from Slack ends, one that was
   * extended ends as before.
   */
  async undo(silences: readonly string[], at: Instant, person: Person): Promise<Answer> {
    const { changes, clock, active } = this.#deps;
    const now = clock.now();
    const isOurs = ({ id, last }: Silence) =>
      silences.includes(id) && (last?.at ?? 0) <= at && (MADE_HERE.test(id) || last?.before !== undefined);
    const ours = (await changes.silences()).filter(isOurs).slice(0, MOST_UNDONE);
    const outcomes: string[] = [];
    for (const { id } of ours) outcomes.push(await changes.undoSilence(id, originOf(person)));
    if (ours.length === 0)
      return { text: "These silences were changed since, or are not known any more. Nothing was changed." };
    const [known, firing] = await Promise.all([changes.silences(), active()]);
    const before = known.filter(({ id }) => ours.some((one) => one.id === id));
    const left = before.filter((one) => silenceState(one, now) !== "expired");
    if (left.length > 0) {
      const still = firing.find(({ silencedBy }) => left.some(({ id }) => silencedBy.includes(id)));
      const shop = still?.alert.facts.timezone ?? "UTC";
      const ends = this.times().at(Math.max(...left.map(({ endsAt }) => endsAt)), shop);
      if (outcomes.includes("done")) return { text: `Undone: silenced until ${ends}.`, done: "Silence changed back" };
      return { text: `Silenced until ${ends}: only a change of the last 15 minutes is undone. ${this.#pageLink()}` };
    }
    const budget = lookBudget();
    const released = firing.filter(({ alert }) => before.some(({ matchers }) => isMatched(matchers, alert, budget)));
    return { text: undoneText(released, this.times()), done: "Silence ended" };
  }

  #pageLink(): string {
    const { externalUrl } = this.#deps;
    if (externalUrl === undefined) return "To end it: `lenswatch silence expire`.";
    return `To end it: the ${link({ label: "status page", url: `${externalUrl}/?show=silences` })}.`;
  }

  /** `by`: the author of the silence that is in force already, and covers the time. */
  async #silenceOnce(
    text: string,
    { endsAt, comment }: { readonly endsAt: Instant; readonly comment: string },
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
        if (known && silenceState(known, now) !== "expired" && known.endsAt >= endsAt - SAME_MS)
          return { by: known.createdBy, endsAt: known.endsAt };
      }
      const set = await changes.setSilence({ ...fields, createdBy: person.name }, originOf(person), id);
      if (set.outcome === "refused") return { problem: set.why };
      if (set.outcome === "set") return { id };
    }
  }

  async why(firing: readonly SuppressibleAlert[]): Promise<string> {
    const now = this.#deps.clock.now();
    const alerts = firing.map(({ alert }) => alert);
    const different = new Map(
      alerts.map((alert) => [`${alert.subject.kind}/${alert.subject.id}`, { ...alert, of: plainName(alert) }]),
    );
    const asked = [...different].slice(0, MOST_SUBJECTS);
    const about = asked.map(([, { subject }]) => subject);
    const lines = await this.#deps.store.log.read(about, now - WEEK_MS);
    const names = new Map(asked.map(([key, { of }]) => [key, of]));
    return whyText({ name: namesOf(alerts), names, timezone: alerts[0]?.facts.timezone ?? "UTC" }, lines, this.times());
  }
}

/** Says whether the alerts that ended silences matched are notified again, or what else keeps them from it. */
function undoneText(alerts: readonly SuppressibleAlert[], times: Times): string {
  const held = alerts.flatMap((one) => handledText(one, times) || []);
  const words = [...new Set(held)];
  const still = mrkdwn([...words.slice(0, 5), ...(words.length > 5 ? ["more"] : [])].join(", "));
  if (held.length === 0) return "Undone: what still fires is notified again.";
  if (held.length === alerts.length) return `Undone. Still ${still}: nothing is notified now.`;
  return `Undone: what still fires is notified again, except what is still ${still}.`;
}

/** The alert, or the place, that these are about; else how many they are. */
function namesOf(alerts: readonly Alert[]): string {
  const [first, ...others] = alerts;
  if (first && others.length === 0) return nameOf(first);
  const [place, ...places] = new Set(alerts.map((alert) => locationName(alert) || plainName(alert)));
  return places.length === 0 && place ? place : counted(alerts.length, "alert");
}

function originOf({ id, name }: Person): AuditOrigin {
  return { actor: { via: "slack", name: id, person: name } };
}

/** A UUID of version 8: made of what it silences, so that two replicas make the same. */
function idOf(matchers: string, n: number): string {
  const hex = createHash("sha256").update(`slack ${n} ${matchers}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
