/**
 * A pager over the real scripts, at a stand-in of PagerDuty: whatever fires, ends, is acknowledged in lenswatch or there,
 * released, silenced, routed elsewhere, refused or of unknown outcome, whatever is new is paged, and incidents are what is true
 * in the end.
 */
import fc from "fast-check";
import type { Redis } from "ioredis";
import { expect, it } from "vitest";
import type { Notification } from "../../src/alerting/model.ts";
import { keysOf } from "../../src/alerting/pages.ts";
import type { Alert } from "../../src/health/alert.ts";
import {
  integration,
  MINUTE,
  markStarted,
  openTestStore,
  T0,
  type TestStore,
  useTestStore,
} from "../store/fixtures.ts";
import { PagerDuty } from "../support/pagerduty.ts";
import { describeWithRedis } from "../support/redis.ts";
import { down, Lab, lost, runsOf } from "./lab.ts";

const pager = integration("ops/pagerduty/0", { type: "pagerduty", conversation: "edits", isPager: true });
const other = integration("other/slack/0", { endpoint: "other" });
const PLACES = { a: "1", b: "1", c: "1", d: "2", e: "3" } as const;
type Name = keyof typeof PLACES;
const NAMES = Object.keys(PLACES) as Name[];

const KINDS = ["flip", "flip", "flip", "ack", "ack", "ackForAnHour", "withdraw", "silence", "unsilence"] as const;
type Step =
  | { readonly kind: (typeof KINDS)[number]; readonly name: Name }
  | { readonly kind: "pass"; readonly minutes: number }
  | { readonly kind: (typeof RARE)[number] };

const change = fc.record({ kind: fc.constantFrom(...KINDS), name: fc.constantFrom(...NAMES) });
const pass = fc.record({ kind: fc.constant("pass" as const), minutes: fc.constantFrom(0.1, 1, 6, 70) });
const RARE = ["acknowledgeThere", "down", "lost", "lost", "regroup", "routeElsewhere"] as const;
const step = fc.oneof(
  { weight: 8, arbitrary: change },
  { weight: 5, arbitrary: pass },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom(...RARE) }) },
);
const steps: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 20, maxLength: 40, size: "max" });

class World {
  readonly lab: Lab;
  readonly pagerDuty = new PagerDuty();
  readonly firing = new Map<Name, Alert>();
  readonly silences = new Map<Name, string>();
  /** Episodes that an incident paged for, each time it opened. */
  readonly paged = new Set<string>();
  /** What was sent as new, or as attended no more, without a page. */
  readonly unpaged: string[] = [];
  minute = 0;
  #isDown = false;
  /** Messages whose answer will be lost, and the alerts that such messages paged for, by key. */
  #lost = 0;
  readonly #lostPages = new Set<string>();

  constructor(testStore: TestStore, stormGroups: number | undefined) {
    this.lab = new Lab(testStore, [pager, other]);
    this.lab.route = { ...this.lab.route, stormGroups };
    this.lab.answer = (id, n) => (id === pager.id ? this.#take(n) : undefined);
    this.lab.how = (id) => {
      if (id !== pager.id) return "ok";
      if (this.#isDown) return down;
      return this.#lost > 0 ? lost : "ok";
    };
  }

  static async start(redis: Redis, stormGroups: number | undefined): Promise<World> {
    const testStore = openTestStore(redis);
    await markStarted(testStore);
    return new World(testStore, stormGroups);
  }

  #take(n: Notification) {
    const before = this.pagerDuty.pages.length;
    const answer = this.pagerDuty.take(n, this.lab.now);
    const opened = new Set(this.pagerDuty.pages.slice(before).map(({ key }) => key));
    const changes = n.conversation?.paging?.changes ?? [];
    const isLost = this.#lost > 0;
    if (isLost) this.#lost--;
    const rung = new Set<string>();
    for (const { key, firing } of changes)
      for (const { id } of firing) {
        const isRinging =
          this.#lostPages.has(`${key} ${id}`) && this.pagerDuty.incidents.get(key)?.state === "triggered";
        if (opened.has(key) || isRinging) rung.add(id);
        if (opened.has(key) && isLost) this.#lostPages.add(`${key} ${id}`);
        if (opened.has(key)) this.paged.add(id);
      }
    const rings = n.firing.filter(({ isNew, page }) => isNew || page?.isAcknowledged);
    this.unpaged.push(...rings.flatMap(({ id }) => (rung.has(id) ? [] : `${this.lab.minute()} ${id}`)));
    return answer;
  }

  async apply(step: Step): Promise<void> {
    const { lab, firing } = this;
    if (step.kind === "pass") return this.pass(step.minutes);
    if (step.kind === "acknowledgeThere") return this.pagerDuty.acknowledge();
    if (step.kind === "down") {
      this.#isDown = !this.#isDown;
      return;
    }
    if (step.kind === "lost") {
      this.#lost++;
      return;
    }
    if (step.kind === "routeElsewhere")
      return lab.reroute({ ...lab.route, receiver: lab.route.receiver === "ops" ? "other" : "ops" });
    if (step.kind === "regroup") {
      const groupBy = lab.route.groupBy[0] === "location_id" ? ["recording_id"] : ["location_id"];
      return lab.reroute({ ...lab.route, groupBy });
    }
    if (!("name" in step)) return;
    const { kind, name } = step;
    const alert = firing.get(name);
    if (kind === "flip") return this.flip(name);
    if (kind === "ack" && alert) await lab.ack(alert);
    if (kind === "ackForAnHour" && alert) await lab.ack(alert, 60 * MINUTE);
    if (kind === "withdraw" && alert) await lab.withdraw(alert);
    const silence = this.silences.get(name);
    if (kind === "silence" && !silence) {
      this.silences.set(name, await lab.silence(`recording_id=${name}`, this.minute + 600));
    }
    if (kind === "unsilence" && silence) {
      this.silences.delete(name);
      await lab.unsilence(silence);
    }
  }

  async flip(name: Name): Promise<void> {
    const alert = this.firing.get(name);
    if (alert) await this.lab.ends(alert);
    if (alert) this.firing.delete(name);
    else this.firing.set(name, await this.lab.fires(name, PLACES[name]));
  }

  async pass(minutes: number): Promise<void> {
    this.minute += minutes;
    await this.lab.until(this.minute);
    this.minute = Math.max(this.minute, (this.lab.now - T0) / MINUTE);
  }

  async settle(): Promise<void> {
    this.#isDown = false;
    this.#lost = 0;
    await this.pass(20);
  }

  async suppressed(): Promise<Map<string, string>> {
    const all = await this.lab.suppression().ofAll();
    return new Map(
      all.map((one) => [
        one.alert.id,
        one.silencedBy.length > 0 ? "silenced" : one.acknowledgement ? "acknowledged" : "",
      ]),
    );
  }
}

/** What fires, by the incident that it is in, with what suppresses it. */
async function truthOf({ lab }: World, suppressed: ReadonlyMap<string, string>) {
  const entries = await lab.store.groups.notified(pager.id);
  const pages = entries.flatMap((entry) =>
    keysOf(entry).map((key) => ({
      id: entry.alert.id,
      key,
      isUnsure: !entry.page,
      by: suppressed.get(entry.alert.id),
    })),
  );
  return Map.groupBy(pages, ({ key }) => key);
}

async function check(world: World): Promise<void> {
  const { pagerDuty, firing, paged } = world;
  const suppressed = await world.suppressed();
  const history = JSON.stringify(pagerDuty.events.map(({ at, action, key }) => [(at - T0) / MINUTE, action, key]));
  expect(world.unpaged, history).toEqual([]);
  const isRouted = world.lab.route.receiver === "ops";
  for (const { id } of firing.values()) if (isRouted && suppressed.get(id) === "") expect(paged, history).toContain(id);
  const truth = await truthOf(world, suppressed);
  const sure = [...truth].filter(([, all]) => all.some(({ isUnsure }) => !isUnsure)).map(([key]) => key);
  expect([...pagerDuty.incidents.keys()], history).toEqual(expect.arrayContaining(sure));
  expect([...truth.keys()], history).toEqual(expect.arrayContaining([...pagerDuty.incidents.keys()]));
  for (const [key, { state, isTheirs }] of pagerDuty.incidents) {
    const all = truth.get(key)?.filter(({ isUnsure }) => !isUnsure) ?? [];
    // Under a silence it is not known at the pager whether what it hides is acknowledged still.
    if (isTheirs || all.length === 0 || all.some(({ by }) => by === "silenced")) continue;
    const isAcknowledged = all.every(({ by }) => by === "acknowledged");
    expect([key, state], history).toEqual([key, isAcknowledged ? "acknowledged" : "triggered"]);
  }
}

describeWithRedis("a pager, whatever happens", () => {
  const testStore = useTestStore();

  it.each([undefined, 1])("pages for what is new, and knows what is true, storms above %s groups", async (size) => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = await World.start(testStore().redis, size);
        for (const step of all) await world.apply(step);
        await world.settle();
        await check(world);
        for (const name of [...world.firing.keys()]) await world.flip(name);
        await world.settle();
        expect([...world.pagerDuty.incidents.keys()]).toEqual([]);
      }),
      { seed: 28, numRuns: runsOf(2) },
    );
  });
});
