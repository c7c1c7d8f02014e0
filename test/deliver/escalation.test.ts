/** Escalation over the real scripts, on a virtual clock: when a group is sent to which receiver, and that it ends there. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Notification } from "../../src/alerting/model.ts";
import type { EscalationStep } from "../../src/alerting/route.ts";
import type { Alert } from "../../src/health/alert.ts";
import {
  integration,
  MINUTE,
  markStarted,
  openTestStore,
  T0,
  type TestStore,
  to,
  useTestStore,
} from "../store/fixtures.ts";
import { PagerDuty } from "../support/pagerduty.ts";
import { describeWithRedis } from "../support/redis.ts";
import { down, Lab, runsOf } from "./lab.ts";

const [ops, managers] = [integration("ops/slack/0"), integration("managers/slack/0")];
const phone = integration("phone/pagerduty/0", { type: "pagerduty", conversation: "edits", isPager: true });
const steps: EscalationStep[] = [
  { afterMs: 15 * MINUTE, receiver: "phone" },
  { afterMs: 45 * MINUTE, receiver: "managers" },
];

class World extends Lab {
  readonly refuses = new Set<string>();
  /** How many of the next messages are accepted, and kill the replica. */
  kills = 0;
  /** What a first message says. */
  readonly after: Record<string, number | undefined> = { phone: 15 * MINUTE, managers: 45 * MINUTE };
  readonly heard: string[] = [];
  readonly #pagerDuty = new PagerDuty();

  constructor(testStore: TestStore) {
    super(testStore, [ops, phone, managers]);
    this.route = { ...this.route, escalate: steps };
    this.how = (_, { receiver }) => (this.refuses.has(receiver) ? down : this.kills-- > 0 ? "killed_after" : "ok");
    this.during = async (_, n) => void (n.reason !== "update" && this.note(n));
    this.answer = (id, n) => (id === phone.id ? this.#pagerDuty.take(n, this.now) : undefined);
  }

  #tenth = (at = this.now) => Math.round((at - T0) / 6_000) / 10;

  note({ receiver, reason, firing, resolved, groups, escalatedAfterMs }: Notification): void {
    expect(escalatedAfterMs, receiver).toBe(reason === "first" ? this.after[receiver] : undefined);
    const names = [...firing.map(({ key }) => `+${key}`), ...resolved.map(({ key }) => `-${key}`)].join(" ");
    this.heard.push(`${this.#tenth()} ${receiver} ${reason} ${groups ? `${groups} groups` : names}`);
  }

  /** What PagerDuty got: minute, action and incident. */
  get events(): string[] {
    return this.#pagerDuty.events.map(({ at, action, key }) => `${this.#tenth(at)} ${action} ${key}`);
  }

  /** Alerts that this receiver was notified of last as firing. */
  async owed(id: string): Promise<string[]> {
    return (await this.store.groups.notified(id)).map(({ alert }) => alert.key).sort();
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
      "260.5 phone reminder +b",
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
    await world.until(60);
    await world.ends(b);
    await world.until(70);
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
    await world.silence("location_id=1", 40, 10);
    await world.until(41);
    await world.ack(a, 59 * MINUTE);
    await world.until(140);
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

  it("leaves late what it would be sent of by another route, to the same integration", async () => {
    const lab = new Lab(testStore(), [ops]);
    lab.how = () => (lab.minute() < 8 ? down : "ok");
    lab.placesOf = () => [to(ops.id, "own"), to(ops.id, "other", { escalateAfterMs: 15 * MINUTE })];
    const a = await lab.fires("a");
    await lab.until(5);
    await lab.ends(a);
    await lab.until(60);
    expect(lab.lines()).toEqual([expect.stringMatching(/resolved ±a$/)]);
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
    world.after.phone = 5 * MINUTE;
    await world.reroute({ ...world.route, escalate: [{ afterMs: 5 * MINUTE, receiver: "phone" }] });
    await world.until(9);
    expect(world.of("phone")).toEqual(["8 phone first +a"]);
    await world.reroute({ ...world.route, escalate: undefined });
    await world.reroute({ ...world.route, escalate: steps });
    await world.until(14);
    await world.reroute({ ...world.route, escalate: undefined });
    await world.until(60);
    await world.ends(a);
    await world.until(70);
    expect(world.of("phone", "managers")).toEqual(["8 phone first +a", "60 phone resolved -a"]);
  });

  it("makes incidents of a group at PagerDuty: one acknowledged, one of the news, each resolved once", async () => {
    const world = new World(testStore());
    const a = await world.fires("a");
    await world.until(20);
    await world.ack(a);
    await world.until(25);
    const b = await world.fires("b");
    await world.until(30);
    await world.ends(a);
    await world.until(40);
    await world.ends(b);
    await world.until(50);
    const [one, , other] = world.events.map((line) => line.split(" ")[2]);
    expect(other).not.toBe(one);
    const events = [`15.5 trigger ${one}`, `20 acknowledge ${one}`, `25 trigger ${other}`];
    expect(world.events).toEqual([...events, `30 resolve ${one}`, `40 resolve ${other}`]);
  });

  it("makes one incident of each storm at PagerDuty, which ends with the last of its groups", async () => {
    const world = new World(testStore());
    world.route = { ...world.route, stormGroups: 3 };
    const alerts: Alert[] = [];
    for (let i = 1; i <= 5; i++) alerts.push(await world.fires(`s${i}`, `${i}`));
    await world.until(10);
    for (let i = 6; i <= 10; i++) alerts.push(await world.fires(`s${i}`, `${i}`));
    await world.until(30);
    await world.ends(alerts.pop() as Alert);
    await world.until(40);
    for (const alert of alerts) await world.ends(alert);
    await world.until(50);
    const [one, other] = world.events.map((line) => line.split(" ")[2]);
    expect(other).not.toBe(one);
    expect(world.events.slice(0, 2)).toEqual([`15.5 trigger ${one}`, `25.5 trigger ${other}`]);
    expect(world.events.slice(2).sort()).toEqual([`40 resolve ${one}`, `40 resolve ${other}`].sort());
  });

  /** How long each alert was unattended since it was first notified, counted apart from the code. */
  class Model {
    readonly counted = new Map<string, number>();
    readonly unattended = new Map<string, number>();
    readonly silencedUntil = new Map<string, number>();
    readonly ackedUntil = new Map<string, number>();
    readonly firstAt = new Map<string, number>();
    readonly firing = new Map<string, Alert>();

    isAttended = ({ id }: Alert, now: number) =>
      (this.ackedUntil.get(id) ?? 0) > now || (this.silencedUntil.get(id) ?? 0) > now;

    /** Advances by a second, so that no change lies within a step. */
    tick(now: number): void {
      for (const alert of this.firing.values()) {
        const { id } = alert;
        const started = now >= (this.firstAt.get(id) ?? alert.firedAt + 30_000);
        const runs = started && !this.isAttended(alert, now);
        if (runs) this.counted.set(id, (this.counted.get(id) ?? 0) + 1_000);
        this.unattended.set(id, runs ? (this.unattended.get(id) ?? 0) + 1_000 : 0);
      }
    }
  }

  const name = fc.constantFrom("a", "b");
  const minutes = fc.integer({ min: 1, max: 12 });
  const change = fc.oneof(
    fc.record({ kind: fc.constant("flip" as const), name }),
    fc.record({ kind: fc.constant("ack" as const), name, minutes: fc.option(minutes, { nil: undefined }) }),
    fc.record({ kind: fc.constant("withdraw" as const), name }),
    fc.record({ kind: fc.constant("silence" as const), name, minutes: fc.integer({ min: 6, max: 20 }) }),
    fc.record({ kind: fc.constant("kill" as const) }),
    fc.record({ kind: fc.constant("reload" as const), label: fc.constantFrom("location_id", "recording_id") }),
  );
  const story = fc.array(fc.record({ change, wait: minutes }), { minLength: 3, maxLength: 9 });

  it("escalates exactly what was unattended for long enough, and ends it, whatever happens", async () => {
    await fc.assert(
      fc.asyncProperty(story, async (steps) => {
        const world = new World(openTestStore(testStore().redis));
        await world.store.coldStart.begin(T0);
        await markStarted({ redis: testStore().redis, store: world.store });
        const model = new Model();
        let minute = 0;
        let tickedAt = T0;
        const tickTo = (until: number) => {
          for (; tickedAt < until; tickedAt += 1_000) model.tick(tickedAt);
        };
        world.note = ({ receiver, reason, firing }) => {
          for (const { id } of firing) {
            if (receiver === "ops" && !model.firstAt.has(id)) model.firstAt.set(id, world.now);
          }
          tickTo(world.now);
          if (receiver !== "phone" || reason !== "first") return;
          const longest = Math.max(...firing.map(({ id }) => model.counted.get(id) ?? 0));
          expect(longest, `${world.now - T0} ${JSON.stringify(steps)}`).toBeGreaterThanOrEqual(15 * MINUTE - 2_000);
        };
        const to = async (at: number) => {
          await world.until(at);
          tickTo(world.now);
          minute = at;
          const owed = await world.owed(phone.id);
          for (const { id, key } of model.firing.values()) {
            const isDue = (model.counted.get(id) ?? 0) > 15 * MINUTE + 1_000;
            const isLate = isDue && (model.unattended.get(id) ?? 0) > 6 * MINUTE;
            if (isLate) expect(owed, `${key} at ${minute} ${JSON.stringify(steps)}`).toContain(key);
          }
        };
        const apply = async (one: (typeof steps)[number]["change"]) => {
          if (one.kind === "kill") {
            world.kills = 1;
            return;
          }
          if (one.kind === "reload") return world.reroute({ ...world.route, groupBy: [one.label] });
          const alert = model.firing.get(one.name);
          if (one.kind === "flip" && alert) {
            model.firing.delete(one.name);
            return world.ends(alert);
          }
          if (one.kind === "flip") return void model.firing.set(one.name, await world.fires(one.name));
          if (!alert) return;
          if (one.kind === "withdraw") {
            model.ackedUntil.delete(alert.id);
            await world.withdraw(alert);
          } else if (one.kind === "ack") {
            await world.ack(alert, one.minutes && one.minutes * MINUTE);
            model.ackedUntil.set(alert.id, one.minutes ? world.now + one.minutes * MINUTE : Number.POSITIVE_INFINITY);
          } else if ((model.silencedUntil.get(alert.id) ?? 0) <= world.now) {
            await world.silence(`recording_id=${alert.subject.id}`, minute + one.minutes, minute);
            model.silencedUntil.set(alert.id, world.now + one.minutes * MINUTE);
          }
        };
        await world.fires("a").then((alert) => model.firing.set("a", alert));
        for (const one of steps) {
          await to(minute + one.wait);
          await apply(one.change);
        }
        await to(minute + 12);
        world.kills = 0;
        for (const alert of model.firing.values()) await world.ends(alert);
        model.firing.clear();
        await to(minute + 40);
        for (const { id } of world.integrations) expect(await world.owed(id)).toEqual([]);
      }),
      { seed: 20_261_122, numRuns: runsOf(8) },
    );
  });
});
