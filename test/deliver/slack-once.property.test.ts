/**
 * The Slack app over the real store: whatever is lost, refused, limited, revoked, deleted, taken late or killed between two
 * replicas, each notification is posted once.
 */
import fc from "fast-check";
import { afterEach, expect, it, vi } from "vitest";
import type { Notification, Posted } from "../../src/alerting/model.ts";
import type { NotifyRefusal } from "../../src/deliver/retry-policy.ts";
import { silentLogger } from "../../src/lib/log.ts";
import type { Notifier } from "../../src/notify/notifier.ts";
import { createSlackAppNotifier } from "../../src/notify/slack/app.ts";
import { HOUR, integration, markStarted, openTestStore, SECOND, to, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { type SlackStandIn, startSlackStandIn } from "../support/slack/stand-in.ts";
import { Lab, refusal, runsOf } from "./lab.ts";

const app = integration("ops/slack/0", { conversation: "edits" });
const NAMES = ["a", "b", "c", "d"] as const;
const GROUPS = { a: "all", b: "all", c: "c", d: "d" } as const;
/** Short beside the patience with a channel that cannot be asked, so that much is sent in it. */
const TIMERS = { groupWaitMs: 2 * SECOND, groupIntervalMs: 15 * SECOND, repeatIntervalMs: 4 * HOUR };
/** `late`: accepted after the wait for its answer is over, and before it is asked about. */
const HOWS = ["ok", "reset", "resetAfter", "unavailable", "killed_before", "killed_after", "late"] as const;
type How = (typeof HOWS)[number];
/** What fails while one delivery lasts; Slack limits a method for 20 s. */
const FAULTS = {
  none: () => {},
  history: (slack: SlackStandIn) => slack.refuse("conversations.history", { status: 429, retryAfter: 20 }, 1),
  replies: (slack: SlackStandIn) => slack.refuse("conversations.replies", { status: 429, retryAfter: 20 }, 1),
  broken: (slack: SlackStandIn) => slack.refuse("conversations.history", "internal_error", 2),
  edits: (slack: SlackStandIn) => slack.refuse("chat.update", "reset", 2),
  revoked: (slack: SlackStandIn) => slack.refuse("*", "token_revoked"),
  left: (slack: SlackStandIn) => slack.left.add("ops"),
  archived: (slack: SlackStandIn) => slack.archived.add("ops"),
} as const;
type Fault = keyof typeof FAULTS;
const FAULT_NAMES = Object.keys(FAULTS) as Fault[];
/** A channel that cannot be asked for five minutes delays no message any longer. */
const LONG_S = 60;

const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("flip" as const), name: fc.constantFrom(...NAMES) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pass" as const), seconds: fc.constantFrom(30, 301) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), nth: fc.nat(3) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("deliver" as const),
      how: fc.constantFrom<How>(...HOWS, "resetAfter", "resetAfter", "killed_after"),
      fault: fc.constantFrom(...FAULT_NAMES, "none", "none", "none"),
      by: fc.constantFrom([0], [1], [0, 1]),
      after: fc.constantFrom(1, 3, 11, 16),
    }),
  },
);
type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;
/** `by`: replicas; `after`: seconds. */
type Delivery = { readonly how: How; readonly fault: Fault; readonly by: readonly number[]; readonly after: number };
const events = fc.array(event, { minLength: 60, maxLength: 90, size: "max" });

class World {
  readonly slack: SlackStandIn;
  readonly lab: Lab;
  readonly #notifier: Notifier;
  readonly #replicas: ReturnType<Lab["anotherReplica"]>[];
  /** Requests that Slack takes later. */
  #late: { readonly at: number; readonly take: () => Promise<unknown> }[] = [];
  #how: How = "ok";
  #kill = () => {};

  constructor(lab: Lab, slack: SlackStandIn, stormGroups: number | undefined) {
    this.lab = lab;
    this.slack = slack;
    const settings = { apiBase: slack.apiUrl.slice(0, -1), botToken: slack.tokens.bot, channel: "#ops" };
    const none = { appToken: undefined, mention: [], actions: undefined };
    this.#notifier = createSlackAppNotifier({ app: { ...settings, ...none }, timeoutMs: 60_000, log: silentLogger });
    lab.placesOf = ({ key }) => [to(app.id, GROUPS[key as keyof typeof GROUPS], { ...TIMERS, stormGroups })];
    const find: Notifier["find"] = async (...asked) => this.#notifier.find?.(...asked);
    const sender = { integration: app, find, send: (n: Notification) => this.#send(n) };
    lab.deps = { senders: new Map([[app.id, sender]]), isRouted: () => true };
    this.#replicas = [lab.anotherReplica(), lab.anotherReplica()];
  }

  async #send(notification: Notification): Promise<Posted | undefined> {
    const how = notification.reason === "update" ? "ok" : this.#how;
    this.#how = "ok";
    const { signal } = new AbortController();
    const send = () => this.#notifier.send(notification, { signal });
    if (how === "late") {
      this.#late.push({ at: this.lab.now + 4 * SECOND, take: () => send().catch(() => {}) });
      throw refusal("timeout");
    }
    if (how === "reset" || how === "resetAfter") this.slack.refuse("chat.postMessage", how, 1);
    if (how === "unavailable") this.slack.refuse("chat.postMessage", { status: 503 }, 1);
    if (how !== "killed_before") {
      const posted = await send().catch((thrown: NotifyRefusal) => {
        throw { ...refusal(thrown.code), retryAfterMs: thrown.retryAfterMs, scope: thrown.scope, isUnsent: false };
      });
      if (how !== "killed_after") return posted;
    }
    this.#kill();
    return new Promise(() => {});
  }

  async pass(seconds: number): Promise<void> {
    if (seconds > LONG_S) {
      await this.#pass(LONG_S);
      await this.deliver({});
    }
    await this.#pass(seconds);
  }

  async #pass(seconds: number): Promise<void> {
    this.lab.now += seconds * SECOND;
    const taken = this.#late.filter(({ at }) => at <= this.lab.now);
    this.#late = this.#late.filter((one) => !taken.includes(one));
    for (const { take } of taken) await take();
  }

  async deliver({ how = "ok", fault = "none", by = [0], after = 0 }: Partial<Delivery>): Promise<void> {
    await this.#pass(after);
    this.#how = how;
    FAULTS[fault](this.slack);
    const { promise: killed, resolve } = Promise.withResolvers<"killed">();
    this.#kill = () => resolve("killed");
    const all = by.map((i) => Promise.race([this.#replicas[i]?.deliver(app.id), killed]));
    const ends = await Promise.all(all);
    for (const set of [this.slack.refusals, this.slack.left, this.slack.archived]) set.clear();
    if (!ends.includes("killed")) return;
    for (const i of by) this.#replicas[i] = this.lab.anotherReplica();
    await this.#pass(14);
    await this.lab.endLease(app.id);
  }

  async apply(one: Event): Promise<void> {
    if (one.kind === "flip") await this.lab.flip(one.name);
    else if (one.kind === "pass") await this.pass(one.seconds);
    else if (one.kind === "deliver") await this.deliver(one);
    else this.slack.delete(this.slack.channel("#ops"), this.slack.channel("#ops").messages.at(-1 - one.nth)?.ts ?? "");
    this.lab.now += 1;
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 12; i++) await this.deliver({ by: [i % 2], after: i < 8 ? 16 : 301 });
  }

  /** The notifications that are in the channel more than once. */
  repeated(): string[] {
    const ids = this.slack.posts("#ops").flatMap(({ metadata }) => String(metadata?.event_payload.notification_id));
    return ids.filter((id, i) => ids.indexOf(id) !== i);
  }

  async close(): Promise<void> {
    await this.#notifier.close();
    await this.slack.close();
  }
}

describeWithRedis("the Slack app", () => {
  const testStore = useTestStore();
  afterEach(() => vi.restoreAllMocks());

  it.each([undefined, 1])("has each notification once, storms above %s groups", async (stormGroups) => {
    let posts = 0;
    await fc.assert(
      fc.asyncProperty(events, async (all) => {
        const opened = openTestStore(testStore().redis);
        await markStarted(opened);
        const lab = new Lab(opened, [app]);
        vi.spyOn(performance, "now").mockImplementation(() => lab.now);
        const slack = await startSlackStandIn({ clock: { now: () => lab.now } as never });
        const world = new World(lab, slack, stormGroups);
        try {
          for (const one of all) await world.apply(one);
          await world.settle();
          posts += world.slack.posts("#ops").length;
          expect(world.repeated()).toEqual([]);
        } finally {
          await world.close();
        }
      }),
      { seed: 31, numRuns: runsOf(10) },
    );
    expect(posts).toBeGreaterThan(20);
  });
});
