/**
 * Plays a ledger through the real evaluation, routing and delivery. A site is swept at every interval only around
 * changes and while something of it is pending, clearing or recently changed; otherwise sweeps would change nothing.
 */

import type { Redis } from "ioredis";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { Config } from "../../src/config/config.ts";
import type { AlertStates } from "../../src/health/alert-machine.ts";
import type { Attempt } from "../../src/health/attempt.ts";
import { evaluateSelf, type SelfAlertState } from "../../src/health/evaluate-self.ts";
import type { EvaluationContext, Transition } from "../../src/health/evaluation.ts";
import { judgeShard } from "../../src/health/judge.ts";
import { patched } from "../../src/health/shard-patch.ts";
import type { ShardState } from "../../src/health/shard-state.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { Agenda } from "./agenda.ts";
import { createFailing, type Failing } from "./failing.ts";
import { type Fleet, HOUR, type Site } from "./fleet.ts";
import { type Incident, SILENCE_MARGIN } from "./ledger.ts";
import { createNotifySide, type SentMessage } from "./notify-side.ts";
import { createSiteView, type SiteView } from "./site-view.ts";

export interface YearInput {
  readonly redis: Redis;
  readonly config: Config;
  readonly fleet: Fleet;
  readonly ledger: readonly Incident[];
  /** Sweeps every site at every interval, for comparison. */
  readonly everyInterval?: boolean;
  /** Called now and then with the time that is being played. */
  progress?(at: Instant): void;
}

interface SitePlay {
  readonly site: Site;
  readonly view: SiteView;
  state: ShardState;
  nonce: string;
}

/** Sweeps before a change, so that readings are fresh and the rhythm of sweeps is known. */
const WARM_UP = 5;
const RANKS = { silence: 0, sweep: 1, self: 2, deliver: 3 } as const;
const EMPTY: ShardState = { sweptAt: 0, recordings: new Map(), locations: new Map() };

/** Every message of the year, in order of time. */
export async function playYear(input: YearInput): Promise<SentMessage[]> {
  const { fleet, config, ledger } = input;
  const agenda = new Agenda(fleet.span.from);
  const messages: SentMessage[] = [];
  const wakes = new Map<string, Instant>();
  const failing = createFailing(ledger, fleet, config.watch.statusIntervalMs);
  const notify = await createNotifySide({
    redis: input.redis,
    clock: agenda,
    config,
    fleet,
    attemptOf: (shard) => failing.attemptOf(shard, agenda.now()),
    rechecks: input.everyInterval === true,
    sent: (message) => messages.push(message),
    wake(integration, due) {
      const at = Math.max(due, agenda.now());
      if ((wakes.get(integration) ?? Number.POSITIVE_INFINITY) <= at) return;
      wakes.set(integration, at);
      agenda.add(at, RANKS.deliver, () => {
        if (wakes.get(integration) !== at) return undefined;
        wakes.delete(integration);
        return notify.deliver(integration);
      });
    },
  });
  const play = new Play(input, agenda, notify, failing);
  play.begin();
  const step = (fleet.span.to - fleet.span.from) / 200;
  for (let at = fleet.span.from; at < fleet.span.to; at += step) {
    await agenda.runUntil(Math.min(at + step, fleet.span.to));
    input.progress?.(agenda.now());
  }
  return messages;
}

type NotifySide = Awaited<ReturnType<typeof createNotifySide>>;

class Play {
  readonly #input: YearInput;
  readonly #agenda: Agenda;
  readonly #notify: NotifySide;
  readonly #intervalMs: number;
  readonly #failing: Failing;
  #self: SelfAlertState = {};
  #selfNonce = "";
  readonly #readNonces = new Map<number, string>();

  constructor(input: YearInput, agenda: Agenda, notify: NotifySide, failing: Failing) {
    this.#input = input;
    this.#agenda = agenda;
    this.#notify = notify;
    this.#intervalMs = input.config.watch.statusIntervalMs;
    this.#failing = failing;
  }

  begin(): void {
    const { fleet, config, ledger } = this.#input;
    const effects = Map.groupBy(
      ledger.flatMap((one) => one.effects),
      ({ recording }) => recording,
    );
    for (const site of fleet.sites) {
      const view = createSiteView(site, { fleet, effects, rules: config.rules, failing: this.#failing });
      const play: SitePlay = { site, view, state: EMPTY, nonce: "" };
      this.#sweepAt(play, this.#failing.tickFrom(site.shard, fleet.span.from));
    }
    this.#evaluateSelfAt(fleet.span.from);
    for (const incident of ledger) this.#silence(incident);
    for (const { to, shards } of ledger.flatMap((one) => one.failing))
      for (const shard of shards) this.#readAgain(shard, this.#failing.tickFrom(shard, to));
  }

  /** As somebody would who knows of the maintenance. */
  #silence({ silenced, from, to }: Incident): void {
    if (!silenced) return;
    const [startsAt, endsAt] = [from - SILENCE_MARGIN, to + SILENCE_MARGIN];
    const matchers = parseMatchers(`location_id="${silenced.id}"`);
    this.#agenda.add(startsAt, RANKS.silence, async () => {
      const wanted = { id: undefined, matchers, startsAt: undefined, endsAt, createdBy: "year", annotations: {} };
      const by = { actor: { via: "token", name: "year" } } as const;
      await this.#notify.changes.setSilence({ ...wanted, comment: "maintenance" }, by);
    });
  }

  #sweepAt(play: SitePlay, at: Instant): void {
    this.#agenda.add(at, RANKS.sweep, () => this.#sweep(play, at));
  }

  async #sweep(play: SitePlay, now: Instant): Promise<void> {
    const { site, view } = play;
    const before = play.state;
    if (!this.#failing.at(site.shard, now)) {
      const evaluation = judgeShard(play.state, view.snapshotAt(now), this.#context(play, now));
      play.state = patched(play.state, evaluation.patch);
      if (evaluation.transitions.length > 0) await this.#commitSite(play, evaluation.transitions, now);
    }
    const isSteady = !this.#input.everyInterval && before !== EMPTY && isSettled(play.state);
    const next = now + this.#intervalMs;
    if (!isSteady) return this.#sweepAt(play, next);
    const change = Math.min(view.nextChange(now), this.#nextExpiry(play.state, now));
    const ahead = this.#failing.tickFrom(site.shard, change) - (WARM_UP + 1) * this.#intervalMs;
    if (change < this.#input.fleet.span.to) this.#sweepAt(play, Math.max(next, ahead));
  }

  /** When an outage next stops to explain a low uptime. */
  #nextExpiry({ recordings }: ShardState, now: Instant): Instant {
    const outages = [...recordings.values()].flatMap(({ outage }) => outage ?? []);
    const windows = this.#input.config.rules.flatMap(({ when }) =>
      when.kind === "overall_uptime" ? [when.overMs] : [],
    );
    const ends = outages.flatMap(({ until = now }) => windows.map((overMs) => until + overMs + HOUR));
    return Math.min(Number.POSITIVE_INFINITY, ...ends.filter((end) => end > now));
  }

  #context({ site, view }: SitePlay, now: Instant): EvaluationContext {
    const { watch, rules } = this.#input.config;
    const isOpen = site.hours?.isOpen(now) ?? true;
    return {
      now,
      intervalMs: this.#intervalMs,
      forgetAfterMs: watch.forgetAfterMs,
      rules,
      inventory: view.inventory,
      locationIds: [site.id],
      isAssigned: () => true,
      excluded: new Set(),
      uptime: (id, figure) => (typeof figure === "number" ? view.uptime(id, figure, now) : undefined),
      inSchedule: () => isOpen,
      scheduleOf: () => (site.hours ? (isOpen ? "within" : "outside") : undefined),
      scheduleBegan: () => undefined,
    };
  }

  async #commitSite(play: SitePlay, transitions: readonly Transition[], now: Instant): Promise<void> {
    const { commit, store } = this.#notify;
    const key = store.keys.shard(play.site.index);
    const stored = await commit.evaluation(transitions, (changes) =>
      store.shards.commit({ key, expected: play.nonce, document: "{}", now, changes }),
    );
    if (stored.outcome === "lost") throw new Error("a commit lost a race with nobody");
    play.nonce = stored.nonce;
  }

  #evaluateSelfAt(at: Instant): void {
    this.#agenda.add(at, RANKS.self, () => this.#evaluateSelf(at));
  }

  async #evaluateSelf(now: Instant): Promise<void> {
    const { fleet, config } = this.#input;
    const shards = Array.from({ length: fleet.shards }, (_, shard) => this.#failing.attemptOf(shard, now));
    const good: Attempt = { goodAt: now, attemptedAt: now };
    const { watch, rules, service } = config;
    const evaluated = evaluateSelf(
      this.#self,
      { shards, inventory: good, uptimes: [good], integrations: [] },
      { ...watch, now, rules, intervalMs: this.#intervalMs, requestTimeoutMs: service.requestTimeoutMs },
    );
    this.#self = evaluated.next;
    if (evaluated.transitions.length > 0) {
      const { commit, store } = this.#notify;
      const { key } = store.selfAlerts;
      const stored = await commit.evaluation(evaluated.transitions, (changes) =>
        store.shards.commit({ key, expected: this.#selfNonce, document: "{}", now, changes }),
      );
      if (stored.outcome === "stored") this.#selfNonce = stored.nonce;
    }
    // A shard fails from its next sweep on.
    const marginMs = WARM_UP * this.#intervalMs;
    const isQuiet = !this.#input.everyInterval && Object.keys(this.#self).length === 0;
    const from = isQuiet ? this.#failing.nextFrom(now - marginMs) - marginMs : 0;
    const next = Math.max(now + this.#intervalMs, Math.floor(from / this.#intervalMs) * this.#intervalMs);
    if (next < fleet.span.to) this.#evaluateSelfAt(next);
  }

  /** Once the shard answers again, what waited for that is due. */
  #readAgain(shard: number, at: Instant): void {
    if (this.#failing.at(shard, at)) return;
    this.#agenda.add(at, RANKS.sweep, async () => {
      const { store, wake } = this.#notify;
      const key = `${store.keys.shard(0)}:again:${shard}`;
      const read = `shard:${shard}`;
      const writes = [["HSET", store.keys.attempts, read, JSON.stringify({ goodAt: at, attemptedAt: at })] as const];
      const expected = this.#readNonces.get(shard) ?? "";
      const stored = await store.shards.commit({ key, expected, document: "{}", now: at, changes: [], read, writes });
      if (stored.outcome === "lost") throw new Error("a commit lost a race with nobody");
      this.#readNonces.set(shard, stored.nonce);
      await wake(stored.wake);
    });
  }
}

/** Whether another sweep with the same answer would change nothing. */
function isSettled({ recordings, locations }: ShardState): boolean {
  for (const { alerts, history } of recordings.values()) if (history || !areSettled(alerts)) return false;
  for (const { alerts } of locations.values()) if (!areSettled(alerts)) return false;
  return true;
}

function areSettled(alerts: AlertStates | undefined): boolean {
  if (!alerts) return true;
  return Object.values(alerts).every(
    (one) => one.state === "firing" && one.clearingSince === undefined && one.unknownMs === undefined,
  );
}
