/** Escalation over the real scripts, on a virtual clock: when a group is sent to which receiver, and that it ends there. */
import { expect, it } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { Notification } from "../../src/alerting/notification.ts";
import { destinationsOf, type EscalationStep, isRoutedTo, type Route } from "../../src/alerting/route.ts";
import { createDeliver } from "../../src/deliver/deliver.ts";
import { createSuppression } from "../../src/deliver/suppression.ts";
import { createSuppressionChanges } from "../../src/deliver/suppression-changes.ts";
import type { Alert } from "../../src/health/alert.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { rootRoute } from "../http/serve.ts";
import {
  committer,
  ends,
  fires,
  firing,
  integration,
  MINUTE,
  T0,
  type TestStore,
  useTestStore,
} from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const [ops, phone, managers] = [
  integration("ops/slack/0"),
  integration("phone/slack/0"),
  integration("managers/slack/0"),
];
const integrations = [ops, phone, managers];
const steps: EscalationStep[] = [
  { afterMs: 15 * MINUTE, receiver: "phone" },
  { afterMs: 45 * MINUTE, receiver: "managers" },
];
const by = { at: T0, actor: "ana", via: "cli", from: "" } as never;

const wanted = { id: undefined, createdBy: "ana", comment: "c", annotations: {} };

class World {
  readonly store: TestStore["store"];
  readonly #commit: ReturnType<typeof committer>;
  now = T0;
  route: Route = { ...rootRoute, groupBy: ["location_id"], escalate: steps };
  refuses = new Set<string>();
  rounds = 0;
  readonly heard: string[] = [];
  readonly clock = { now: () => this.now };

  constructor(testStore: TestStore) {
    this.store = testStore.store;
    this.#commit = committer(testStore);
  }

  fires(name: string, location = "1"): Promise<Alert> {
    const alert = firing(name, this.now, { location_id: location });
    return this.#commit(this.now, fires(alert, ...destinationsOf(alert, this.route, integrations))).then(() => alert);
  }

  async ends(alert: Alert): Promise<void> {
    await this.#commit(this.now, ends(alert, this.now));
  }

  changes() {
    return createSuppressionChanges({ ...this, wake: async () => {} });
  }

  ack = (alert: Alert, forMs?: number) =>
    this.changes().acknowledge(fingerprint(alert.labels), { author: "ana", comment: "", forMs }, by);

  async silence(matcher: string, from: number, until: number): Promise<void> {
    const matchers = parseMatchers(matcher);
    const [startsAt, endsAt] = [T0 + from * MINUTE, T0 + until * MINUTE];
    const { outcome } = await this.changes().setSilence({ ...wanted, matchers, startsAt, endsAt }, by);
    expect(outcome).toBe("set");
  }

  withdraw = (alert: Alert) => this.changes().withdraw(fingerprint(alert.labels), by);

  async reroute(route: Route): Promise<void> {
    this.route = route;
    const all = await this.store.shards.alerts();
    const alerts = all.map((alert) => ({
      id: alert.id,
      to: alert.state === "firing" ? destinationsOf(alert, route, integrations) : [],
    }));
    await this.store.groups.reroute(
      alerts,
      integrations.map(({ id }) => id),
      this.now,
    );
  }

  /** Delivers everything that is due until this many minutes after T0. */
  async until(minutes: number): Promise<void> {
    for (;;) {
      const due = await this.store.groups.nextDue(integrations.map(({ id }) => id));
      const [next] = [...due].sort(([, a], [, b]) => a - b);
      if (!next || next[1] > T0 + minutes * MINUTE) break;
      this.now = Math.max(this.now, next[1]);
      if (++this.rounds > 500)
        throw new Error(`never at rest at ${this.now - T0} ${JSON.stringify([...due])} ${this.heard.join("; ")}`);
      await this.#deliver(next[0]);
    }
    this.now = T0 + minutes * MINUTE;
  }

  async #deliver(id: string): Promise<void> {
    const who = integrations.find((one) => one.id === id);
    if (!who) throw new Error(`due at ${id}`);
    const { ofGroups } = createSuppression({ ...this, inhibitRules: [], integrations, groups: this.store.groups });
    const send = async (notification: Notification) => {
      if (this.refuses.has(who.receiver)) throw new Error("no");
      this.#note(notification);
    };
    await createDeliver({
      clock: this.clock,
      log: silentLogger,
      groups: this.store.groups,
      senders: new Map([[who.id, { integration: who, send: send as never }]]),
      externalUrl: undefined,
      stormMs: 30_000,
      suppressions: ofGroups,
      isRouted: (labels, { receiver }, group) => isRoutedTo(labels, this.route, receiver, group),
      toRefusal: () => ({ code: "network", retryAfterMs: undefined, scope: "endpoint", message: "no" }),
      wake: async () => {},
      notified() {},
      failed() {},
      suppressed() {},
    }).deliver(who.id);
  }

  #note({ receiver, reason, firing, resolved, groups }: Notification): void {
    const names = [...firing.map(({ key }) => `+${key}`), ...resolved.map(({ key }) => `-${key}`)].join(" ");
    const minutes = Math.round((this.now - T0) / 6_000) / 10;
    this.heard.push(`${minutes} ${receiver} ${reason} ${groups ? `${groups} groups` : names}`);
  }

  of = (...receivers: string[]) => this.heard.filter((line) => receivers.includes(line.split(" ")[1] ?? ""));
}

describeWithRedis("escalation", () => {
  const testStore = useTestStore();

  it("sends a group that stays unattended to each step, which then hears of news, reminders and ends", async () => {
    const world = new World(testStore());
    const a = await world.fires("a");
    await world.until(20);
    const b = await world.fires("b");
    await world.until(50);
    await world.ends(a);
    await world.until(300);
    await world.ends(b);
    await world.until(400);
    expect(world.of("phone", "managers")).toEqual([
      "15.5 phone first +a",
      "20.5 phone more +a +b",
      "45.5 managers first +a +b",
      "50 phone resolved +b -a",
      "50.5 managers resolved +b -a",
      "290 phone reminder +b",
      "290.5 managers reminder +b",
      "300 phone resolved -b",
      "300 managers resolved -b",
    ]);
  });

  it("sends nothing of what resolves, or is acknowledged, before a step", async () => {
    const world = new World(testStore());
    const a = await world.fires("a");
    const b = await world.fires("b");
    await world.until(14);
    await world.ends(a);
    await world.ack(b);
    await world.until(200);
    await world.ends(b);
    await world.until(300);
    expect(world.of("phone", "managers")).toEqual([]);
  });

  it("counts only the time in which an alert was unattended", async () => {
    const world = new World(testStore());
    const a = await world.fires("a");
    await world.until(5);
    await world.ack(a);
    await world.until(7);
    await world.withdraw(a);
    await world.until(10);
    await world.silence("location_id=1", 10, 40);
    await world.until(41);
    await world.ack(a, 59 * MINUTE);
    await world.until(300);
    // 4.5 minutes until the acknowledgement, 3 until the silence, 1 after it: 6.5 are left at 100, and 36.5.
    expect(world.of("phone", "managers")).toEqual(["106.5 phone first +a", "136.5 managers first +a"]);
  });

  it("counts from the message that the route's own receiver accepted", async () => {
    const world = new World(testStore());
    world.refuses.add("ops");
    await world.fires("a");
    await world.until(10);
    world.refuses.delete("ops");
    await world.until(14);
    const [first] = world.of("ops");
    await world.until(40);
    const at = Number(first?.split(" ")[0]);
    expect(at).toBeGreaterThan(9);
    expect(world.of("phone")).toEqual([`${Math.round((at + 15) * 10) / 10} phone first +a`]);
  });

  it("escalates all the same where the route's own receiver accepts nothing", async () => {
    const world = new World(testStore());
    world.refuses.add("ops");
    await world.fires("a");
    await world.until(16);
    expect(world.heard).toEqual(["15.5 phone first +a"]);
  });

  it("goes by the alert that was unattended for longest, and is muted with its route", async () => {
    const world = new World(testStore());
    const a = await world.fires("a");
    await world.until(10);
    await world.fires("b");
    await world.until(12);
    await world.ack(a);
    await world.until(24);
    expect(world.of("phone")).toEqual([]);
    await world.until(26);
    expect(world.of("phone")).toEqual(["25 phone first +b"]);
  });

  it("sends a storm as one message, and each group once", async () => {
    const world = new World(testStore());
    world.route = { ...world.route, stormGroups: 10 };
    for (let i = 1; i <= 12; i++) await world.fires(`s${i}`, `${i}`);
    await world.until(60);
    expect(world.of("phone")).toEqual(["15.5 phone first 12 groups"]);
    expect(world.of("managers")).toEqual(["45.5 managers first 12 groups"]);
  });

  it("follows a reload: a step sooner, a step removed, and what was sent ends where it was sent", async () => {
    const world = new World(testStore());
    const a = await world.fires("a");
    await world.until(8);
    await world.reroute({ ...world.route, escalate: [{ afterMs: 5 * MINUTE, receiver: "phone" }] });
    await world.until(9);
    expect(world.of("phone")).toEqual(["8 phone first +a"]);
    await world.reroute({ ...world.route, escalate: undefined });
    await world.reroute({ ...world.route, escalate: steps });
    await world.until(14);
    await world.reroute({ ...world.route, escalate: undefined });
    await world.until(300);
    await world.ends(a);
    await world.until(310);
    expect(world.of("phone", "managers")).toEqual(["8 phone first +a", "300 phone resolved -a"]);
  });
});
