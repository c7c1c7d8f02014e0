/**
 * Reloads between any two steps of a turn, over the real transactions: an earlier configuration sends and decides nothing
 * once a later one is active, and what the later one changes is due at once.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { Notification } from "../../src/alerting/model.ts";
import {
  integration,
  MINUTE,
  markStarted,
  openTestStore,
  SECOND,
  type TestStore,
  useTestStore,
} from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { Lab, runsOf } from "./lab.ts";

const slack = integration("ops/slack/0");
const LOCATIONS = ["1", "2"] as const;
const ALWAYS = [{ name: "always", intervals: [{ location: "UTC" }] }];

const config = fc.record({ sendResolved: fc.boolean(), muted: fc.constantFrom<string[]>([], ["1"]) });
type Config = typeof config extends fc.Arbitrary<infer One> ? One : never;
const event = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("flip"), locations: fc.subarray([...LOCATIONS], { minLength: 1 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("load"), config }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("pass"),
      minutes: fc.constantFrom(0.6, 2, 31),
      // A reload before that step of what is delivered meanwhile.
      during: fc.option(fc.record({ step: fc.nat(6), config }), { freq: 3, nil: undefined }),
    }),
  },
);
type Event = typeof event extends fc.Arbitrary<infer One> ? One : never;

class World {
  readonly lab: Lab;
  readonly #testStore: TestStore;
  #config: Config = { sendResolved: true, muted: [] };
  #loads = 0;
  #flips = 0;
  /** The configuration that wrote down the message under way. */
  #sending = this.#config;
  #next: { steps: number; readonly config: Config } | undefined;
  readonly #freeFrom = new Map<string, number>();
  readonly #heard = new Map<string, string>();
  /** Episodes whose end is owed. */
  readonly #owed = new Set<string>();

  constructor(testStore: TestStore, stormGroups: number | undefined) {
    this.#testStore = testStore;
    this.lab = new Lab(testStore, [slack]);
    this.lab.route = { ...this.lab.route, groupBy: ["recording_id"], groupIntervalMs: 30 * MINUTE, stormGroups };
    this.lab.during = async (_, n) => {
      this.#hear(n);
      await this.#step();
    };
    this.lab.accepted = () => this.#step();
  }

  async #step(): Promise<void> {
    const next = this.#next;
    if (!next || next.steps-- > 0) return;
    this.#next = undefined;
    await this.load(next.config);
  }

  #hear({ firing, resolved }: Notification): void {
    const { muted, sendResolved } = this.#sending;
    for (const { id, labels, isNew } of firing) {
      if (!isNew) continue;
      expect(muted, `${id} is muted`).not.toContain(labels.location_id);
      expect(this.#heard.has(id), `${id} was sent before`).toBe(false);
      this.#heard.set(id, "firing");
      if (this.#config.sendResolved) this.#owed.add(id);
    }
    for (const { id } of resolved) {
      expect(sendResolved, `the end of ${id} is not wanted`).toBe(true);
      expect(this.#heard.get(id), `the end of ${id} was sent before`).not.toBe("resolved");
      this.#heard.set(id, "resolved");
    }
  }

  async load(config: Config): Promise<void> {
    const { lab } = this;
    const { redis, store } = this.#testStore;
    const before = lab.replica();
    const hash = `${++this.#loads}`;
    for (const one of this.#config.muted) if (!config.muted.includes(one)) this.#freeFrom.set(one, lab.now);
    this.#config = config;
    await redis.hset(store.keys.active, "notify", hash);
    this.#owed.clear();
    const known = config.sendResolved ? await store.groups.notified(slack.id) : [];
    for (const { alert } of known) this.#owed.add(alert.id);

    lab.integrations = [{ ...slack, sendResolved: config.sendResolved }];
    lab.maintenance = config.muted.map((one) => {
      return { name: one, matchers: parseMatchers(`location_id=${one}`), timeIntervals: ALWAYS, comment: "" };
    });
    lab.deps.suppressions = lab.suppression().ofGroups;
    lab.deps.checkActive = () => store.replicas.checkActive("notify", hash);
    const { claim, pace, intend, settle } = store.groups;
    const stepped =
      <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
      async (...args: A) => {
        await this.#step();
        return call(...args);
      };
    lab.groups = {
      claim: stepped(claim),
      pace: stepped(pace),
      settle: stepped(settle),
      intend: stepped(async (...args) => {
        const isIntended = await intend(...args);
        if (isIntended) expect(this.#config, "another configuration is active").toBe(config);
        this.#sending = config;
        return isIntended;
      }),
    };
    await lab.reroute();
    before.stop();
  }

  async flip(location: string): Promise<void> {
    const { lab } = this;
    lab.now += SECOND;
    const known = [...lab.current].find(([, { labels }]) => labels.location_id === location);
    await lab.flip(known?.[0] ?? `cam${++this.#flips}`, location);
  }

  async apply(event: Event): Promise<void> {
    if (event.kind === "flip") for (const location of event.locations) await this.flip(location);
    if (event.kind === "load") await this.load(event.config);
    if (event.kind !== "pass") return;
    this.#next = event.during && { steps: event.during.step, config: event.during.config };
    await this.lab.until(this.lab.minute() + event.minutes);
    this.#next = undefined;
    this.#checkFiring();
  }

  /** What fires and is not muted was sent within a minute. */
  #checkFiring(): void {
    for (const { id, firedAt, labels } of this.lab.current.values()) {
      const location = labels.location_id ?? "";
      const dueAt = Math.max(firedAt + 30 * SECOND, this.#freeFrom.get(location) ?? 0);
      if (this.#config.muted.includes(location) || this.lab.now < dueAt + MINUTE) continue;
      expect(this.#heard.get(id), `${id} fires since ${firedAt}`).toBe("firing");
    }
  }

  async checkEnds(): Promise<void> {
    for (const location of LOCATIONS)
      if ([...this.lab.current.values()].some(({ labels }) => labels.location_id === location))
        await this.flip(location);
    await this.lab.until(this.lab.minute() + 62);
    for (const id of this.#owed) expect(this.#heard.get(id), `${id} is over`).toBe("resolved");
    expect(await this.#testStore.store.groups.notified(slack.id)).toEqual([]);
  }
}

describeWithRedis("a reload between any two steps", () => {
  const testStore = useTestStore();

  it("overtakes what an earlier configuration decides, and makes due at once what it changes", async () => {
    const stories = fc.array(event, { minLength: 4, maxLength: 24, size: "max" });
    await fc.assert(
      fc.asyncProperty(stories, fc.constantFrom(1, undefined), async (events, stormGroups) => {
        const own = openTestStore(testStore().redis);
        await markStarted(own);
        const world = new World(own, stormGroups);
        await world.load({ sendResolved: true, muted: [] });
        for (const one of events) await world.apply(one);
        await world.checkEnds();
      }),
      { seed: 20_261_127, numRuns: runsOf(80) },
    );
  });
});
