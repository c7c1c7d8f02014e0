/** A lab: the store's scripts, suppression and delivery over a real Redis, on a clock that the test moves. */
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import type { InhibitRule } from "../../src/alerting/inhibit.ts";
import type { Maintenance } from "../../src/alerting/maintenance.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { FoundPost, Notification, Posted } from "../../src/alerting/model.ts";
import { destinationsOf, type Integration, isRoutedTo, type Route } from "../../src/alerting/route.ts";
import { createDeliver } from "../../src/deliver/deliver.ts";
import type { Sender } from "../../src/deliver/model.ts";
import type { NotifyRefusal } from "../../src/deliver/retry-policy.ts";
import { createSuppression } from "../../src/deliver/suppression.ts";
import { createSuppressionChanges } from "../../src/deliver/suppression-changes.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { titleOf } from "../../src/notify/title.ts";
import { rootRoute } from "../http/serve.ts";
import { committer, fires, firing, LEASE, MINUTE, over, T0, type TestStore } from "../store/fixtures.ts";

export const by = { actor: { via: "token", name: "ana" } } as const;

/** A refusal; `lost`: the message was accepted all the same. */
type Refusal = NotifyRefusal & { readonly lost?: true };
/** The outcome of a send: accepted, the replica killed after or before the channel accepted it, or refused. */
export type How = "ok" | "killed_after" | "killed_before" | Refusal;

/** The answer to a message that was accepted does not arrive in time. */
export const lost: Refusal = {
  code: "timeout",
  retryAfterMs: undefined,
  scope: "endpoint",
  message: "no answer in time",
  lost: true,
};
export const down: Refusal = { code: "network", retryAfterMs: undefined, scope: "endpoint", message: "no" };

type More = Partial<Omit<Alert, "labels">> & { readonly labels?: Record<string, string> };
interface Accepted {
  readonly at: Instant;
  /** Of the integration. */
  readonly id: string;
  readonly n: Notification;
}

const MOST_ROUNDS = 20_000;

export class Lab {
  now = T0;
  route: Route = { ...rootRoute, groupBy: ["location_id"] };
  inhibitRules: readonly InhibitRule[] = [];
  maintenance: readonly Maintenance[] = [];
  integrations: readonly Integration[];
  /** What was accepted, in order. */
  readonly log: Accepted[] = [];
  how: (id: string, n: Notification) => How = () => "ok";
  /** The answer of a channel to a message that it accepted. */
  answer: (id: string, n: Notification) => Posted | undefined = (_, { conversation }) =>
    conversation && { handle: conversation.handle ?? `root-${conversation.id}` };
  /** Undefined: no channel can be asked for its posts. */
  find?: (id: string, asked: Parameters<NonNullable<Sender["find"]>>[0]) => FoundPost[] | undefined;
  /** Runs while a message is under way. */
  during: (id: string, n: Notification) => Promise<void> = async () => {};

  readonly #testStore: TestStore;
  readonly #commit: ReturnType<typeof committer>;
  readonly #clock = { now: () => this.now };
  #stuckMs = 0;

  constructor(testStore: TestStore, integrations: readonly Integration[]) {
    this.#testStore = testStore;
    this.#commit = committer(testStore);
    this.integrations = integrations;
  }

  get store() {
    return this.#testStore.store;
  }

  minute = () => Math.round((this.now - T0) / 600) / 100;

  /** An alert fires: of a recording, unless `more` says otherwise. */
  async fires(name: string, location = "1", { labels, ...more }: More = {}): Promise<Alert> {
    const alert = { ...firing(name, this.now, { location_id: location, ...labels }), ...more };
    await this.#commit(this.now, fires(alert, ...destinationsOf(alert, this.route, this.integrations)));
    return alert;
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
    await this.#commit(this.now, fires(alert, ...destinationsOf(alert, this.route, this.integrations)));
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

  /** A reload with another route, or other integrations. */
  async reroute(route = this.route, integrations = this.integrations): Promise<void> {
    this.route = route;
    this.integrations = integrations;
    const alerts = (await this.store.shards.alerts()).map((alert) => ({
      id: alert.id,
      to: alert.state === "firing" ? destinationsOf(alert, route, integrations) : [],
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

  /** One wake-up of an integration. */
  async deliver(id: string): Promise<void> {
    const integration = this.integrations.find((one) => one.id === id);
    if (!integration) throw new Error(`due at ${id}`);
    const { promise: killed, resolve: kill } = Promise.withResolvers<"killed">();
    const find = this.find;
    const sender: Omit<Sender, "close"> = {
      integration,
      send: (n) => this.#send(id, n, () => kill("killed")),
      ...(find && { find: async (asked) => find(id, asked) }),
    };
    const { deliver } = createDeliver({
      clock: this.#clock,
      log: silentLogger,
      groups: this.store.groups,
      senders: new Map([[id, sender]]),
      externalUrl: "https://lw.test",
      stormMs: 30_000,
      suppressions: this.suppression().ofGroups,
      isRouted: (alert, { receiver }, group) => isRoutedTo(alert, this.route, receiver, group),
      toRefusal: (thrown) => thrown as NotifyRefusal,
      wake: async () => {},
      notified() {},
      failed() {},
      suppressed() {},
    });
    if ((await Promise.race([deliver(id), killed])) !== "killed") return;
    this.now += LEASE;
    await this.#testStore.endLease(id);
  }

  async #send(id: string, n: Notification, kill: () => void): Promise<Posted | undefined> {
    const how = this.how(id, n);
    if (typeof how === "object" && !how.lost) throw how;
    await this.during(id, n);
    if (how === "killed_before") return this.#kill(kill);
    this.log.push({ at: this.now, id, n });
    const posted = this.answer(id, n);
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
    const [minute, who] = [Math.round((at - T0) / 600) / 100, id.split("/").slice(0, 2).join("/")];
    return [minute, who, n.reason, ...(n.groups ? [`[${n.groups} groups]`] : []), ...names].join(" ");
  }
  lines = (id?: string) => this.#logOf(id).map((one) => this.line(one));
  /** As `lines`, without edits of roots. */
  news = (id?: string) => this.#logOf(id).flatMap((one) => (one.n.reason === "update" ? [] : [this.line(one)]));
  titles = (id?: string) => this.#logOf(id).map(({ n }) => titleOf(n));

  #logOf = (id: string | undefined) => this.log.filter((one) => id === undefined || one.id === id);
}
