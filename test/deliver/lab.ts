/** A lab: the store's scripts, suppression and delivery over a real Redis, on a clock that the test moves. */
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import type { InhibitRule } from "../../src/alerting/inhibit.ts";
import type { Maintenance } from "../../src/alerting/maintenance.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { FoundPost, Notification, NotifyErrorCode, Posted } from "../../src/alerting/model.ts";
import {
  type Destination,
  destinationsOf,
  type Integration,
  isRoutedTo,
  type Route,
} from "../../src/alerting/route.ts";
import { createDeliver } from "../../src/deliver/deliver.ts";
import type { DeliverDeps, Sender } from "../../src/deliver/model.ts";
import type { NotifyRefusal } from "../../src/deliver/retry-policy.ts";
import { createSuppression } from "../../src/deliver/suppression.ts";
import { createSuppressionChanges } from "../../src/deliver/suppression-changes.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { Logger } from "../../src/lib/log.ts";
import { titleOf } from "../../src/notify/title.ts";
import { keysUnder } from "../../src/store/keys.ts";
import { rootRoute } from "../http/serve.ts";
import {
  committer,
  ends,
  fires,
  firing,
  LEASE,
  MINUTE,
  over,
  T0,
  type TestStore,
  useTestStore,
} from "../store/fixtures.ts";

export const by = { actor: { via: "token", name: "ana" } } as const;

/** A refusal; `lost`: the message was accepted all the same. */
type Refusal = NotifyRefusal & { readonly lost?: true };
/** The outcome of a send: accepted, the replica killed after or before the channel accepted it, or refused. */
export type How = "ok" | "killed_after" | "killed_before" | Refusal;

export const refusal = (code: NotifyErrorCode, more: Partial<Refusal> = {}): Refusal => {
  return { code, retryAfterMs: undefined, scope: "endpoint", message: "No.", isUnsent: code === "network", ...more };
};
/** The answer to a message that was accepted does not arrive in time. */
export const lost = refusal("timeout", { lost: true });
export const down = refusal("network");
/** What becomes of the messages, in their order; later ones are accepted. */
export const inTurn = (...all: readonly How[]) => {
  const hows = [...all];
  return () => hows.shift() ?? "ok";
};

type More = Partial<Omit<Alert, "labels">> & { readonly labels?: Record<string, string> };
interface Accepted {
  readonly at: Instant;
  /** Of the integration. */
  readonly id: string;
  readonly n: Notification;
  readonly isPlain: boolean;
}

/** How often a property is tried: `TEST_RUNS=10` takes ten times as many; `npm run soak` runs for as long as it is let. */
export const runsOf = (few: number) => few * Number(process.env.TEST_RUNS ?? 1);

const MOST_ROUNDS = 20_000;

export class Lab {
  now = T0;
  route: Route = { ...rootRoute, groupBy: ["location_id"] };
  inhibitRules: readonly InhibitRule[] = [];
  maintenance: readonly Maintenance[] = [];
  integrations: readonly Integration[];
  /** What was accepted, in order. */
  readonly log: Accepted[] = [];
  how: (id: string, n: Notification, isPlain: boolean) => How = () => "ok";
  /** The answer of a channel to a message that it accepted. */
  answer: (id: string, n: Notification) => Posted | undefined = (_, { conversation }) =>
    conversation && { handle: conversation.handle ?? `root-${conversation.id}` };
  /** Undefined: no channel can be asked for its posts. */
  find?: (id: string, asked: Parameters<NonNullable<Sender["find"]>>[0]) => FoundPost[] | undefined;
  /** Runs while a message is under way. */
  during: (id: string, n: Notification) => Promise<void> = async () => {};
  /** Runs once it was accepted, before delivery learns that. */
  accepted: (id: string, n: Notification) => Promise<void> = async () => {};
  /** Where an alert that fires belongs. */
  placesOf: (alert: Alert) => readonly Destination[] = (alert) => destinationsOf(alert, this.route, this.integrations);
  /** In place of what delivery is given. */
  deps: { -readonly [Key in keyof Omit<DeliverDeps, "groups">]?: DeliverDeps[Key] } = {};
  groups: Partial<DeliverDeps["groups"]> = {};
  /** What delivery reported: `notified first 30`, `failed timeout`, `suppressed silenced`, `wake 5`. */
  readonly reports: string[] = [];
  readonly logged: string[] = [];
  /** Leases of a killed delivery are over when time passes; otherwise at once. */
  keepsLeases = false;
  /** What fires, by the name that it was flipped with. */
  readonly current = new Map<string, Alert>();
  readonly #leases = new Map<string, Instant>();
  #delivery: ReturnType<typeof createDeliver> | undefined;

  readonly #testStore: TestStore;
  readonly #commit: ReturnType<typeof committer>;
  readonly #clock = { now: () => this.now };
  #stuckMs = 0;

  /** `commits`: the store that alerts are committed to, where it is not the same. */
  constructor(
    testStore: TestStore,
    integrations: readonly Integration[],
    commits: Pick<TestStore, "store"> = testStore,
  ) {
    this.#testStore = testStore;
    this.#commit = committer(commits);
    this.integrations = integrations;
  }

  get store() {
    return this.#testStore.store;
  }

  #minuteOf = (at: Instant) => Math.round((at - T0) / 600) / 100;
  minute = () => this.#minuteOf(this.now);

  /** An alert fires: of a recording, unless `more` says otherwise. */
  async fires(name: string, location = "1", { labels, ...more }: More = {}): Promise<Alert> {
    const alert = { ...firing(name, this.now, { location_id: location, ...labels }), ...more };
    await this.#commit(this.now, fires(alert, ...this.placesOf(alert)));
    return alert;
  }

  /** An alert fires, each at a location of its own. */
  async fireAll(names: readonly string[]): Promise<Alert[]> {
    const all: Alert[] = [];
    for (const [i, name] of names.entries()) all.push(await this.fires(name, `${i + 1}`));
    return all;
  }

  /** The alert of that name fires, or ends. */
  async flip(name: string, location?: string): Promise<void> {
    const alert = this.current.get(name);
    if (alert) this.current.delete(name);
    else this.current.set(name, await this.fires(name, location));
    if (alert) await this.ends(alert);
  }

  /** The alert of a whole location fires. */
  async location(location: string): Promise<Alert> {
    const alert: Alert = {
      ...firing(`loc${location}`, this.now),
      key: `LocationOffline/${location}`,
      id: `LocationOffline/${location}@${this.now}`,
      ruleId: "LocationOffline",
      labels: { alertname: "LocationOffline", location_id: location },
      subject: { kind: "location", id: location },
      facts: { timezone: "UTC", problem: "location_offline", offline: 2, of: 2 },
    };
    await this.#commit(this.now, fires(alert, ...this.placesOf(alert)));
    return alert;
  }

  async update(alert: Alert, facts: Partial<Alert["facts"]>): Promise<Alert> {
    const next = { ...alert, updatedAt: this.now, facts: { ...alert.facts, ...facts } };
    await this.#commit(this.now, { kind: "updated", alert: next, to: [] });
    return next;
  }

  /** The alert resolves now; its problem was over at `endsAt`. */
  async ends(alert: Alert, endsAt = this.now, more: Partial<Alert> = {}): Promise<void> {
    const ended = { ...over(alert, this.now), endsAt, ...more };
    await this.#commit(this.now, { kind: "resolved", alert: ended, to: [] });
  }

  /** These resolve in one commit. */
  async endAll(alerts: readonly Alert[], endsAt = this.now): Promise<void> {
    await this.#commit(this.now, ...alerts.map((alert) => ends(alert, endsAt)));
  }

  /** The alert of an episode is lost from Redis. */
  async loses({ id }: Alert): Promise<void> {
    const { redis, prefix } = this.#testStore;
    if ((await redis.hdel(keysUnder(prefix).alerts, id)) !== 1) throw new Error(`${id} is not in Redis`);
  }

  changes = () => createSuppressionChanges({ clock: this.#clock, store: this.store, wake: async () => {} });
  ack = (alert: Alert, forMs?: number) =>
    this.changes().acknowledge(fingerprint(alert.labels), { author: "ana", comment: "", forMs }, by);
  withdraw = (alert: Alert) => this.changes().withdraw(fingerprint(alert.labels), by);
  unsilence = (id: string) => this.changes().endSilence(id, by);

  async silence(matchers: string, untilMinute: number, fromMinute?: number, id?: string): Promise<string> {
    const endsAt = T0 + untilMinute * MINUTE;
    const startsAt = fromMinute === undefined ? undefined : T0 + fromMinute * MINUTE;
    const wanted = { id, matchers: parseMatchers(matchers), startsAt, endsAt };
    const set = await this.changes().setSilence({ ...wanted, createdBy: "ana", comment: "c", annotations: {} }, by);
    if (set.outcome !== "set") throw new Error(JSON.stringify(set));
    return set.id;
  }

  /** Nothing is sent before the summary of a cold start is made. */
  async beginCold(): Promise<void> {
    await this.#testStore.redis.hset(this.store.keys.started, { state: "gathering", since: this.now });
  }

  /** What Redis comes back with, where it loses what is written from now on. */
  async snapshot(): Promise<() => Promise<void>> {
    const { redis, keys } = this.#testStore;
    const prefix = `{${this.#testStore.prefix}}:`;
    const dumps = await Promise.all(
      (await keys()).map(async (name) => {
        const key = `${prefix}${name}`;
        return { key, dump: await redis.dumpBuffer(key), ttl: Math.max(0, await redis.pttl(key)) };
      }),
    );
    return async () => {
      for (const name of await keys()) await redis.del(`${prefix}${name}`);
      for (const { key, dump, ttl } of dumps) if (dump) await redis.restore(key, ttl, dump);
    };
  }

  /** A reload with another route, or other integrations. */
  async reroute(route = this.route, integrations = this.integrations): Promise<void> {
    this.route = route;
    this.integrations = integrations;
    this.#delivery = undefined;
    const alerts = (await this.store.shards.alerts()).map((alert) => ({
      id: alert.id,
      to: alert.state === "firing" ? this.placesOf(alert) : [],
    }));
    await this.store.groups.reroute(alerts, this.#ids(), this.now);
  }

  suppression() {
    const { store, route, inhibitRules, maintenance, integrations } = this;
    const configured = { route, inhibitRules, maintenance, integrations };
    return createSuppression({ clock: this.#clock, store, groups: store.groups, ...configured });
  }

  /** Lets time pass, and delivers what is due meanwhile. */
  async until(minutes: number): Promise<void> {
    const end = T0 + minutes * MINUTE;
    for (let rounds = 0; ; rounds++) {
      const [next] = [...(await this.store.groups.nextDue(this.#ids()))].sort(([, a], [, b]) => a - b);
      if (!next || next[1] > end) break;
      if (rounds > MOST_ROUNDS) throw new Error(`never at rest at ${this.minute()}: ${next}`);
      const [id, at] = next;
      this.now = Math.max(this.now, at);
      await this.deliver(id);
      await this.#passBackoff(id);
    }
    this.now = Math.max(this.now, end);
  }

  /** A backoff, or a lease, is over only after a while. */
  async #passBackoff(id: string): Promise<void> {
    const dueAt = (await this.store.groups.nextDue([id])).get(id) ?? Number.POSITIVE_INFINITY;
    if (dueAt > this.now) this.#stuckMs = 0;
    else {
      this.#stuckMs = this.#stuckMs > 0 ? Math.min(8_000, this.#stuckMs * 2) : 500;
      this.now += this.#stuckMs;
    }
  }

  endLease = (id: string) => this.#testStore.endLease(id);

  /** Lets time pass, and delivers nothing. */
  async pass(ms: number): Promise<void> {
    this.now += ms;
    for (const [id, until] of this.#leases) {
      if (until > this.now) continue;
      this.#leases.delete(id);
      await this.#testStore.endLease(id);
    }
  }

  /** One wake-up of an integration; `by`: the replica, the one of the last time unless that was killed. */
  async deliver(id: string, by = this.replica()): Promise<void> {
    const { promise: killed, resolve: kill } = Promise.withResolvers<"killed">();
    this.#kills.set(id, () => kill("killed"));
    if ((await Promise.race([by.deliver(id), killed])) !== "killed") return;
    this.#delivery = undefined;
    this.#leases.set(id, this.now + LEASE);
    if (!this.keepsLeases) await this.pass(LEASE);
  }

  readonly #kills = new Map<string, () => void>();

  /** The replica that delivers. */
  replica(): ReturnType<typeof createDeliver> {
    this.#delivery ??= this.anotherReplica();
    return this.#delivery;
  }

  anotherReplica(): ReturnType<typeof createDeliver> {
    const find = this.find;
    const senders = this.integrations.map((integration): [string, Omit<Sender, "close">] => [
      integration.id,
      {
        integration,
        send: (n, { plain }) => this.#send(integration.id, n, plain ?? false),
        ...(find && { find: async (asked) => find(integration.id, asked) }),
      },
    ]);
    const report = (...words: readonly unknown[]) => void this.reports.push(words.join(" "));
    const line = (level: string) => (_: object, text: string) => void this.logged.push(`${level}: ${text}`);
    const log = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
    return createDeliver({
      clock: this.#clock,
      log: log as unknown as Logger,
      groups: { ...this.store.groups, ...this.groups },
      conversations: this.store.conversations,
      senders: new Map(senders),
      externalUrl: "https://lw.test",
      stormMs: 30_000,
      suppressions: (...asked) => this.suppression().ofGroups(...asked),
      isRouted: (alert, integration, group) => isRoutedTo(alert, this.route, integration, group),
      toRefusal: (thrown) => thrown as NotifyRefusal,
      wake: async (due) => report("wake", ...due.values().map(this.#minuteOf)),
      notified: (_, reason, latency) => report("notified", reason, ...(latency === undefined ? [] : [latency])),
      failed: (_, code) => report("failed", code),
      suppressed: (_, why) => report("suppressed", why),
      ...this.deps,
    });
  }

  async #send(id: string, n: Notification, isPlain: boolean): Promise<Posted | undefined> {
    const kill = this.#kills.get(id) ?? (() => {});
    const how = this.how(id, n, isPlain);
    if (typeof how === "object" && !how.lost) throw how;
    await this.during(id, n);
    if (how === "killed_before") return this.#kill(kill);
    const posted = this.answer(id, n);
    this.log.push({ at: this.now, id, n, isPlain });
    await this.accepted(id, n);
    if (typeof how === "object") throw how;
    return how === "ok" ? posted : this.#kill(kill);
  }

  #kill(kill: () => void): Promise<never> {
    kill();
    return new Promise(() => {});
  }

  #ids = () => this.integrations.map(({ id }) => id);

  /** `0.5 ops/slack first +a`: `+` begins, `-` ends, `±` both, `=` listed again, `c` covered, `~` suppressed. */
  line({ at, id, n }: Accepted): string {
    const names = [
      ...n.firing.map(({ key, isNew, isCovered }) => `${isNew ? "+" : isCovered ? "c" : "="}${key}`),
      ...n.resolved.map(({ key, isNew }) => `${isNew ? "±" : "-"}${key}`),
      ...n.standing.map(({ key, suppressedBy }) => `~${key}(${suppressedBy?.reason})`),
    ];
    return [
      this.#minuteOf(at),
      id.split("/").slice(0, 2).join("/"),
      n.reason,
      ...(n.groups ? [`[${n.groups} groups]`] : []),
      ...names,
    ].join(" ");
  }
  lines = (id?: string) => this.#logOf(id).map((one) => this.line(one));
  /** As `lines`, without edits of roots. */
  news = (id?: string) => this.#logOf(id).flatMap((one) => (one.n.reason === "update" ? [] : [this.line(one)]));
  titles = (id?: string) => this.#logOf(id).map(({ n }) => titleOf(n));

  #logOf = (id: string | undefined) => this.log.filter((one) => id === undefined || one.id === id);
}

/** The channel of a lab can be asked for what it accepted. */
export function canBeAsked(lab: Lab): void {
  lab.find = (_, { id }) =>
    lab.log.flatMap(({ n: { conversation, messageId, reason } }) =>
      conversation?.id === id && reason !== "update"
        ? [{ handle: conversation.handle ?? `root-${id}`, notificationId: messageId }]
        : [],
    );
}

/** Call in a `describeWithRedis`; gives a lab of the test that is running, with a route that differs so. */
export function useLab(...integrations: readonly Integration[]): (route?: Partial<Route>) => Lab {
  const testStore = useTestStore();
  return (route) => {
    const lab = new Lab(testStore(), integrations);
    lab.route = { ...lab.route, ...route };
    return lab;
  };
}
