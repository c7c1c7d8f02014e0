/**
 * Conversations over the real scripts, at a channel that keeps what it was sent: whatever fires, ends, is acknowledged,
 * silenced, refused, deleted or killed, news is posted once and each root shows the present in the end.
 */
import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { FoundPost, Notification, NotifyErrorCode } from "../../src/alerting/model.ts";
import type { Destination } from "../../src/alerting/route.ts";
import { createDeliver, LEASE_MS } from "../../src/deliver/deliver.ts";
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
  HOUR,
  integration,
  MINUTE,
  markStarted,
  openTestStore,
  SECOND,
  T0,
  type TestStore,
  to,
} from "../store/fixtures.ts";
import { describeWithRedis, startTestRedis, type TestRedis } from "../support/redis.ts";

const NAMES = ["a", "b", "c"] as const;
type Name = (typeof NAMES)[number];
const HOW = ["accepted", "down", "timeout", "killed_before", "killed_after", "stale"] as const;
type How = (typeof HOW)[number];
type Event =
  | { readonly kind: "flip" | "acknowledge" | "withdraw" | "silence" | "unsilence"; readonly name: Name }
  | { readonly kind: "pass"; readonly seconds: number }
  | { readonly kind: "delete" }
  | { readonly kind: "deliver"; readonly how: How };

const kinds = ["flip", "flip", "flip", "acknowledge", "withdraw", "silence", "unsilence"] as const;
const change = fc.record({ kind: fc.constantFrom(...kinds), name: fc.constantFrom(...NAMES) });
const pass = fc.record({ kind: fc.constant("pass" as const), seconds: fc.constantFrom(1, 13, 30, 300, 18_000) });
const deliver = (...how: readonly How[]) =>
  fc.record({ kind: fc.constant("deliver" as const), how: fc.constantFrom<How>("accepted", ...how) });
const smooth = fc.array(fc.oneof(change, pass, deliver()), { minLength: 10, maxLength: 40 });
const rough = fc.array(
  fc.oneof<fc.Arbitrary<Event>[]>(
    change,
    change,
    pass,
    deliver(...HOW),
    deliver(...HOW),
    fc.constant({ kind: "delete" }),
  ),
  { minLength: 10, maxLength: 40 },
);

const chat = integration("ops/chat/0", { conversation: "edits" });
const plain = integration("ops/plain/0");
const groupOfName = { a: "all", b: "all", c: "c" } as const;

interface Root {
  readonly conversation: string;
  readonly group: string;
  readonly isShared: boolean;
  isDeleted: boolean;
  isOver: boolean;
  /** What fires in it, and by what it is suppressed. */
  shows: string[];
}

class ChannelError extends Error {
  readonly code: NotifyErrorCode;
  constructor(code: NotifyErrorCode) {
    super(code);
    this.code = code;
  }
}

/** A channel, which is asked for what it has where `canFind`. */
class Channel {
  readonly roots = new Map<string, Root>();
  readonly posts: (FoundPost & {
    readonly conversation: string;
    readonly news: string[];
    readonly isPlainReply: boolean;
  })[] = [];
  canFind = true;
  /** Of each message, the ends in it. */
  readonly ends: string[][] = [];

  /** Takes a message as Slack does: a root, or a reply beside an edit of the root. */
  take({ reason, conversation, messageId, trace, group, firing, resolved, standing }: Notification, isStale: boolean) {
    const news = [
      ...firing.flatMap(({ id, isNew }) => (isNew ? `+${id}` : [])),
      ...resolved.map(({ id }) => `-${id}`),
      ...(reason === "reminder" ? [`reminder ${messageId}`] : []),
    ];
    const { id = "", handle = `root ${this.roots.size}`, isOver = false, groups } = conversation ?? {};
    const root = conversation?.handle === undefined ? undefined : this.roots.get(handle);
    if (conversation?.handle !== undefined && (root?.isDeleted ?? true)) throw new ChannelError("conversation_gone");
    const isPlainReply = root !== undefined && reason === "resolved";
    const post = { conversation: id, handle, notificationId: messageId, alerts: [...trace], news, isPlainReply };
    if (reason !== "update") this.posts.push(post);
    this.ends.push(resolved.map(({ id: ended }) => ended));
    const shows = [...firing, ...standing].map((alert) => `${alert.id} ${shownOf(alert.suppressedBy?.reason)}`).sort();
    if (!root) {
      this.roots.set(handle, {
        conversation: id,
        group: group.id,
        isShared: groups !== undefined,
        isDeleted: false,
        isOver,
        shows,
      });
    } else if (!isStale && (!root.isShared || isOver)) Object.assign(root, { isOver, shows });
    return { handle, ...(isStale && root ? { isStale: true as const } : {}) };
  }

  /** Plain replies are found with their root alone. */
  find({ id, handle }: { readonly id: string; readonly handle?: string | undefined }): FoundPost[] | undefined {
    const isFound = (post: (typeof this.posts)[number]) =>
      post.conversation === id && (!post.isPlainReply || post.handle === handle);
    return this.canFind ? this.posts.filter(isFound) : undefined;
  }
}

function shownOf(reason: string | undefined): string {
  return reason === "acknowledged" || reason === "silenced" ? reason : "";
}

class World {
  readonly testStore: TestStore;
  readonly channel = new Channel();
  readonly plainPosts: string[] = [];
  now = T0;
  readonly #commit: ReturnType<typeof committer>;
  readonly #current = new Map<Name, Alert>();
  readonly #silences = new Map<Name, { readonly id: string; readonly until: number }>();
  readonly #stormGroups: number | undefined;
  crashes = 0;

  constructor(redis: Redis, stormGroups: number | undefined) {
    this.testStore = openTestStore(redis);
    this.#commit = committer(this.testStore);
    this.#stormGroups = stormGroups;
  }

  get #changes() {
    return createSuppressionChanges({
      clock: { now: () => this.now },
      store: this.testStore.store,
      wake: async () => {},
    });
  }

  async flip(name: Name): Promise<void> {
    const alert = this.#current.get(name);
    if (alert) {
      this.#current.delete(name);
      await this.#commit(this.now, ends(alert, this.now));
      return;
    }
    const begun = firing(name, this.now);
    this.#current.set(name, begun);
    const more = this.#stormGroups === undefined ? {} : { stormGroups: this.#stormGroups };
    const group = groupOfName[name];
    await this.#commit(this.now, fires(begun, to(chat.id, group, more), to(plain.id, group)));
  }

  /** As a reload with other routes does. */
  async regroup(groups: Partial<Record<Name, string>>, more: Partial<Destination> = {}): Promise<void> {
    const alerts = [...this.#current].map(([name, { id }]) => {
      const group = groups[name] ?? groupOfName[name];
      return { id, to: [to(chat.id, group, more), to(plain.id, group, more)] };
    });
    await this.testStore.store.groups.reroute(alerts, [chat.id, plain.id], this.now);
  }

  async #suppress({ kind, name }: Extract<Event, { name: Name }>): Promise<void> {
    const by = { actor: { via: "token", name: "ana" } } as const;
    const alert = this.#current.get(name);
    const silenced = this.#silenced(name);
    const print = fingerprint(alert?.labels ?? {});
    if (kind === "acknowledge" && alert) await this.#changes.acknowledge(print, { author: "ana", comment: "" }, by);
    if (kind === "withdraw" && alert) await this.#changes.withdraw(print, by);
    if (kind === "unsilence" && silenced) {
      await this.#changes.endSilence(silenced.id, by);
      this.#silences.delete(name);
    }
    if (kind !== "silence" || silenced) return;
    const matchers = parseMatchers(`recording_id=${name}`);
    const until = this.now + 2 * HOUR;
    const texts = { createdBy: "ana", comment: "x", annotations: {} };
    const wanted = { id: undefined, matchers, startsAt: undefined, endsAt: until, ...texts };
    const set = await this.#changes.setSilence(wanted, by);
    if (set.outcome === "set") this.#silences.set(name, { id: set.id, until });
  }

  #silenced(name: Name) {
    const silence = this.#silences.get(name);
    return silence && silence.until > this.now ? silence : undefined;
  }

  async apply(event: Event): Promise<void> {
    this.now += 1;
    if (event.kind === "deliver") return this.deliver(event.how);
    if (event.kind === "pass") {
      this.now += event.seconds * SECOND;
    } else if (event.kind === "delete") {
      const root = [...this.channel.roots.values()].findLast(({ isOver, isDeleted }) => !isOver && !isDeleted);
      if (root) root.isDeleted = true;
    } else if (event.kind === "flip") await this.flip(event.name);
    else await this.#suppress(event);
  }

  /** One delivery run at each integration by a process that may be killed in it. */
  async deliver(how: How): Promise<void> {
    const { store } = this.testStore;
    const { promise: killed, resolve: kill } = Promise.withResolvers<void>();
    const never = new Promise<never>(() => {});
    const clock = { now: () => this.now };
    const send = async (notification: Notification) => {
      if (how === "down") throw new ChannelError("network");
      const isKilled = how === "killed_before" || how === "killed_after";
      const posted = how === "killed_before" ? undefined : this.channel.take(notification, how === "stale");
      if (!isKilled && how !== "timeout") return posted;
      if (notification.reason !== "update" && how !== "killed_before") this.crashes++;
      if (how === "timeout") throw new ChannelError("timeout");
      kill();
      return never;
    };
    const keep = async (notification: Notification) => {
      this.plainPosts.push(notification.reason);
      return undefined;
    };
    const find = async (asked: { readonly id: string; readonly handle?: string | undefined }) =>
      this.channel.find(asked);
    const { ofGroups } = createSuppression({ clock, store, route: rootRoute, inhibitRules: [] });
    const delivery = createDeliver({
      clock,
      log: silentLogger,
      groups: store.groups,
      senders: new Map([
        [chat.id, { integration: chat, send, find }],
        [plain.id, { integration: plain, send: keep }],
      ]),
      externalUrl: undefined,
      stormMs: 30 * SECOND,
      suppressions: ofGroups,
      toRefusal: (thrown) => ({
        code: thrown instanceof ChannelError ? thrown.code : "other",
        retryAfterMs: undefined,
        scope: "endpoint",
        message: String(thrown),
      }),
      wake: async () => {},
      notified() {},
      failed() {},
      suppressed() {},
    });
    await Promise.race([delivery.deliver(chat.id), killed]);
    if (how === "killed_before" || how === "killed_after") {
      this.now += LEASE_MS;
      await this.testStore.endLease(chat.id);
    }
    await delivery.deliver(plain.id);
  }

  /** Delivers until nothing but reminders is due. */
  async settle(): Promise<void> {
    this.now += LEASE_MS;
    for (let round = 0; round < 60; round++) {
      await this.deliver("accepted");
      const due = await this.testStore.store.groups.nextDue([chat.id, plain.id]);
      const next = Math.min(...due.values());
      if (next > this.now + 10 * MINUTE) return;
      this.now = Math.max(this.now, next);
      if (round > 20 && (await this.#isAtRest())) return;
    }
  }

  /** Rechecks alone are due. */
  async #isAtRest(): Promise<boolean> {
    const before = JSON.stringify([this.channel.posts.length, [...this.channel.roots]]);
    this.now += 6 * MINUTE;
    await this.deliver("accepted");
    return before === JSON.stringify([this.channel.posts.length, [...this.channel.roots]]);
  }

  /** What each open root has to show: what was notified and fires, by group. */
  async truth(): Promise<Map<string, string[]>> {
    const { store } = this.testStore;
    const entries = await store.groups.notified(chat.id);
    const acks = await store.acks.read();
    const shown = entries.flatMap(({ alert }) => {
      const name = alert.key as Name;
      if (this.#current.get(name)?.id !== alert.id) return [];
      const ack = acks.get(alert.id);
      const isAcknowledged = ack && (ack.until ?? Number.POSITIVE_INFINITY) > this.now;
      const shows = this.#silenced(name) ? "silenced" : isAcknowledged ? "acknowledged" : "";
      return { group: groupOfName[name], text: `${alert.id} ${shows}` };
    });
    return new Map(
      [...Map.groupBy(shown, ({ group }) => group)].map(([group, all]) => [group, all.map(({ text }) => text).sort()]),
    );
  }
}

/** News that was posted more than once; reminders by their message. */
function repeated(channel: Channel): string[] {
  const news = channel.posts.flatMap((post) => post.news);
  return news.filter((one, i) => news.indexOf(one) !== i);
}

async function checkRoots(world: World): Promise<void> {
  const truth = await world.truth();
  const open = [...world.channel.roots.values()].filter(({ isDeleted, isOver }) => !isDeleted && !isOver);
  for (const { group, shows, isShared } of open) if (!isShared) expect(shows).toEqual(truth.get(group) ?? []);
  const own = open.filter(({ isShared }) => !isShared).map(({ group }) => group);
  expect(new Set(own).size, "open roots of one group").toBe(own.length);
  if (open.some(({ isShared }) => isShared)) expect(truth.size).toBeGreaterThan(0);
}

describeWithRedis("conversations over the real Redis", () => {
  let server: TestRedis;
  let redis: Redis;
  beforeAll(async () => {
    server = await startTestRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  async function story(
    events: readonly Event[],
    { canFind = true, stormGroups }: { canFind?: boolean; stormGroups?: number } = {},
  ) {
    const world = new World(redis, stormGroups);
    world.channel.canFind = canFind;
    await markStarted(world.testStore);
    for (const event of events) await world.apply(event);
    await world.settle();
    return world;
  }

  it("post exactly what stands alone elsewhere, and edit the root to the present", async () => {
    await fc.assert(
      fc.asyncProperty(smooth, async (events) => {
        const world = await story(events);
        expect(world.channel.posts.length).toBe(world.plainPosts.length);
        expect(repeated(world.channel)).toEqual([]);
        await checkRoots(world);
      }),
      { seed: 12, numRuns: 30 },
    );
  });

  it.each([undefined, 1])(
    "repeat nothing where the channel can be asked, storms above %s groups",
    async (stormGroups) => {
      await fc.assert(
        fc.asyncProperty(rough, async (events) => {
          const world = await story(events, stormGroups === undefined ? {} : { stormGroups });
          expect(repeated(world.channel)).toEqual([]);
          await checkRoots(world);
        }),
        { seed: 13, numRuns: 45 },
      );
    },
  );

  it("repeat at most one message per unknown outcome where it cannot be asked", async () => {
    await fc.assert(
      fc.asyncProperty(rough, async (events) => {
        const world = await story(events, { canFind: false });
        expect(repeated(world.channel).length).toBeLessThanOrEqual(world.crashes * NAMES.length * 2);
        if (world.crashes === 0) await checkRoots(world);
      }),
      { seed: 14, numRuns: 15 },
    );
  });

  async function begun(stormGroups?: number): Promise<World> {
    const world = new World(redis, stormGroups);
    await markStarted(world.testStore);
    return world;
  }
  const served = async (world: World, seconds: number, how: How = "accepted") => {
    world.now += seconds * SECOND;
    await world.deliver(how);
    return world.channel;
  };

  it("show a silence and an acknowledgement at once, without a post, and before the news that waits", async () => {
    const world = await begun();
    await world.flip("b");
    const { posts, roots } = await served(world, 31);
    const [root] = roots.values();
    await world.flip("a");
    await world.apply({ kind: "silence", name: "b" });
    await served(world, 6);
    expect(root?.shows).toEqual([expect.stringMatching(/^b@\d+ silenced$/)]);
    await world.apply({ kind: "unsilence", name: "b" });
    await world.apply({ kind: "acknowledge", name: "b" });
    await served(world, 6);
    expect(root?.shows).toEqual([expect.stringMatching(/^b@\d+ acknowledged$/)]);
    expect(posts).toHaveLength(1);
    await served(world, 300);
    expect(posts).toHaveLength(2);
    expect(root?.shows).toEqual([expect.stringMatching(/^a@/), expect.stringMatching(/^b@\d+ acknowledged$/)]);
  });

  it("are shared by the groups of a summary, whose root is closed with the last of them", async () => {
    const world = await begun(1);
    await world.flip("a");
    await world.flip("c");
    const { posts, roots } = await served(world, 31);
    await world.flip("a");
    await served(world, 301);
    const ended = () => [roots.size, posts.length, [...roots.values()][0]?.isOver];
    expect(ended()).toEqual([1, 2, false]);
    await world.flip("c");
    await served(world, 301);
    expect(ended()).toEqual([1, 3, true]);
    expect((await world.testStore.keys()).filter((key) => key.startsWith("talk:"))).toEqual([]);
  });

  it("are brought up to date after the news of others", async () => {
    const world = await begun();
    await world.flip("a");
    const { posts } = await served(world, 31);
    await world.apply({ kind: "acknowledge", name: "a" });
    await world.flip("c");
    const taken = vi.spyOn(world.channel, "take");
    await served(world, 31);
    expect(posts).toHaveLength(2);
    expect(taken.mock.calls.map(([{ reason }]) => reason)).toEqual(["first", "update"]);
  });

  it("have their reminders sooner once a reload says so", async () => {
    const world = await begun();
    await world.flip("a");
    const { posts } = await served(world, 31);
    await served(world, 301);
    await world.regroup({}, { repeatIntervalMs: 30 * MINUTE });
    for (let minutes = 0; minutes < 30; minutes += 5) await served(world, 300);
    expect(posts.map(({ news }) => news.length)).toEqual([1, 1]);
  });

  it("go with alerts that a reload groups otherwise, and are over with the last of them", async () => {
    const world = await begun();
    await world.flip("a");
    await world.flip("b");
    const { posts, roots } = await served(world, 31);
    const [root] = roots.values();
    await world.regroup({ a: "new a", b: "new b" });
    await served(world, 1);
    await served(world, 301);
    expect([posts.length, roots.size, root?.isOver]).toEqual([1, 1, false]);
    const talk = await world.testStore.store.conversations.open(chat.id, {
      group: "all",
      conversation: root?.conversation ?? "",
      seen: 0,
    });
    expect(talk?.episodes.size).toBe(2);
    await world.flip("a");
    await served(world, 301);
    expect([posts.length, roots.size, root?.isOver]).toEqual([2, 1, false]);
    await world.flip("b");
    await served(world, 301);
    expect([posts.length, roots.size, root?.isOver]).toEqual([3, 1, true]);
    expect((await world.testStore.keys()).filter((key) => key.startsWith("talk:"))).toEqual([]);
  });

  it("are closed later, with their ends, where the root could not be edited", async () => {
    const world = await begun();
    await world.flip("a");
    const { posts, roots, ends: shown } = await served(world, 31);
    const [root] = roots.values();
    await world.flip("a");
    await served(world, 301, "stale");
    expect(root?.isOver).toBe(false);
    await served(world, 6);
    expect(root).toMatchObject({ isOver: true });
    expect(shown.at(-1)).toHaveLength(1);
    expect(posts).toHaveLength(2);
    expect(await world.testStore.store.groups.nextDue([chat.id])).toEqual(new Map());
  });

  it("find a reply whose root was never settled", async () => {
    const world = await begun();
    await world.flip("a");
    await served(world, 31, "killed_after");
    await world.flip("a");
    await served(world, 1, "killed_after");
    const { posts, ends: shown } = await served(world, 1);
    expect(posts.map(({ news }) => news.length)).toEqual([1, 1]);
    // The reply may be all there is: the root says what ended.
    expect(shown).toEqual([[], [expect.stringMatching(/^a@/)], [expect.stringMatching(/^a@/)]]);
  });
});
