/**
 * Conversations over the real scripts, at a channel that keeps what it was sent: whatever fires, ends, is acknowledged,
 * silenced, refused, deleted or killed, news is posted once and each root shows the present in the end.
 */
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import type { FoundPost, Notification } from "../../src/alerting/model.ts";
import type { Destination } from "../../src/alerting/route.ts";
import {
  HOUR,
  integration,
  LEASE,
  MINUTE,
  markStarted,
  openTestStore,
  SECOND,
  T0,
  type TestStore,
  to,
  useTestStore,
} from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { down, Lab, type How as LabHow, lost, refusal, runsOf } from "./lab.ts";

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
  /** By conversation, what it was about. */
  readonly about = new Map<string, Set<string>>();
  /** What a root that is over says it was about, and what it was. */
  readonly sums: { readonly whole: readonly string[]; readonly about: readonly string[] }[] = [];

  /** Takes a message as Slack does: a root, or a reply beside an edit of the root. */
  take({ reason, conversation, messageId, group, firing, resolved, standing }: Notification, isStale: boolean) {
    const news = [
      ...firing.flatMap(({ id, isNew }) => (isNew ? `+${id}` : [])),
      ...resolved.map(({ id }) => `-${id}`),
      ...(reason === "reminder" ? [`reminder ${messageId}`] : []),
    ];
    const { id = "", handle = `root ${this.roots.size}`, isOver = false, groups } = conversation ?? {};
    const root = conversation?.handle === undefined ? undefined : this.roots.get(handle);
    if (conversation?.handle !== undefined && (root?.isDeleted ?? true)) throw refusal("conversation_gone");
    const isPlainReply = root !== undefined && reason === "resolved";
    const post = { conversation: id, handle, notificationId: messageId, news, isPlainReply };
    if (reason !== "update") this.posts.push(post);
    this.ends.push(resolved.map(({ id: ended }) => ended));
    const about = new Set([...(this.about.get(id) ?? []), ...[...firing, ...resolved].map((one) => one.id)]);
    this.about.set(id, about);
    const whole = conversation?.whole?.ended.map((one) => one.id).sort();
    if (isOver && whole) this.sums.push({ whole, about: [...about].sort() });
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

  /** Plain replies are found with the newest root alone. */
  find({ id, handle }: { readonly id: string; readonly handle?: string | undefined }): FoundPost[] | undefined {
    const posts = this.posts.filter((post) => post.conversation === id);
    const newest = posts.findLast(({ isPlainReply }) => !isPlainReply)?.handle ?? handle;
    return this.canFind ? posts.filter((post) => !post.isPlainReply || post.handle === newest) : undefined;
  }
}

function shownOf(reason: string | undefined): string {
  return reason === "acknowledged" || reason === "silenced" ? reason : "";
}

const HOWS: Readonly<Record<How, LabHow>> = {
  accepted: "ok",
  stale: "ok",
  down,
  timeout: lost,
  killed_before: "killed_before",
  killed_after: "killed_after",
};

class World {
  readonly channel = new Channel();
  readonly lab: Lab;
  readonly keys: () => Promise<string[]>;
  readonly #silences = new Map<Name, { readonly id: string; readonly until: number }>();
  crashes = 0;
  #how: How = "accepted";

  constructor(testStore: TestStore, stormGroups: number | undefined) {
    const { lab, channel } = { lab: new Lab(testStore, [chat, plain]), channel: this.channel };
    this.lab = lab;
    this.keys = testStore.keys;
    const more = stormGroups === undefined ? {} : { stormGroups };
    lab.placesOf = ({ key }) => [chat, plain].map(({ id }) => to(id, groupOfName[key as Name], more));
    lab.answer = (id, n) => (id === chat.id ? channel.take(n, this.#how === "stale") : undefined);
    lab.deps.isRouted = () => true;
    lab.find = (_, asked) => channel.find(asked);
    lab.how = (id, { reason }) => {
      if (id !== chat.id) return "ok";
      const isUnknown = ["timeout", "killed_after"].includes(this.#how);
      if (reason !== "update" && isUnknown) this.crashes++;
      return HOWS[this.#how];
    };
  }

  get plainPosts() {
    return this.lab.log.filter(({ id }) => id === plain.id);
  }

  flip = (name: Name) => this.lab.flip(name);

  /** A reload with other routes. */
  async regroup(groups: Partial<Record<Name, string>>, more: Partial<Destination> = {}): Promise<void> {
    const groupOf = (name: Name) => groups[name] ?? groupOfName[name];
    this.lab.placesOf = ({ key }) => [chat, plain].map(({ id }) => to(id, groupOf(key as Name), more));
    await this.lab.reroute();
  }

  async #suppress({ kind, name }: Extract<Event, { name: Name }>): Promise<void> {
    const { lab } = this;
    const alert = lab.current.get(name);
    const silenced = this.#silenced(name);
    if (kind === "acknowledge" && alert) await lab.ack(alert);
    if (kind === "withdraw" && alert) await lab.withdraw(alert);
    if (kind === "unsilence" && silenced) {
      await lab.unsilence(silenced.id);
      this.#silences.delete(name);
    }
    if (kind !== "silence" || silenced) return;
    const until = lab.now + 2 * HOUR;
    this.#silences.set(name, { id: await lab.silence(`recording_id=${name}`, (until - T0) / MINUTE), until });
  }

  #silenced(name: Name) {
    const silence = this.#silences.get(name);
    return silence && silence.until > this.lab.now ? silence : undefined;
  }

  async apply(event: Event): Promise<void> {
    this.lab.now += 1;
    if (event.kind === "deliver") return this.deliver(event.how);
    if (event.kind === "pass") {
      this.lab.now += event.seconds * SECOND;
    } else if (event.kind === "delete") {
      const root = [...this.channel.roots.values()].findLast(({ isOver, isDeleted }) => !isOver && !isDeleted);
      if (root) root.isDeleted = true;
    } else if (event.kind === "flip") await this.flip(event.name);
    else await this.#suppress(event);
  }

  /** One delivery run at each integration, by a replica that may be killed in it. */
  async deliver(how: How): Promise<void> {
    this.#how = how;
    await this.lab.deliver(chat.id);
    await this.lab.deliver(plain.id);
  }

  /** Delivers until nothing but reminders is due. */
  async settle(): Promise<void> {
    const { lab } = this;
    lab.now += LEASE;
    for (let round = 0; round < 60; round++) {
      await this.deliver("accepted");
      const next = Math.min(...(await lab.store.groups.nextDue([chat.id, plain.id])).values());
      if (next > lab.now + 10 * MINUTE) return;
      lab.now = Math.max(lab.now, next);
      if (round > 20 && (await this.#isAtRest())) return;
    }
  }

  /** Rechecks alone are due. */
  async #isAtRest(): Promise<boolean> {
    const before = JSON.stringify([this.channel.posts.length, [...this.channel.roots]]);
    this.lab.now += 6 * MINUTE;
    await this.deliver("accepted");
    return before === JSON.stringify([this.channel.posts.length, [...this.channel.roots]]);
  }

  /** What each open root has to show: what was notified and fires, by group. */
  async truth(): Promise<Map<string, string[]>> {
    const { store, now, current } = this.lab;
    const entries = await store.groups.notified(chat.id);
    const acks = await store.acks.read();
    const shown = entries.flatMap(({ alert }) => {
      const name = alert.key as Name;
      if (current.get(name)?.id !== alert.id) return [];
      const ack = acks.get(alert.id);
      const isAcknowledged = ack && (ack.until ?? Number.POSITIVE_INFINITY) > now;
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
  for (const { whole, about } of world.channel.sums) expect(whole).toEqual(expect.arrayContaining([...about]));
  for (const { group, shows, isShared } of open) if (!isShared) expect(shows).toEqual(truth.get(group) ?? []);
  const own = open.filter(({ isShared }) => !isShared).map(({ group }) => group);
  expect(new Set(own).size, "open roots of one group").toBe(own.length);
  if (open.some(({ isShared }) => isShared)) expect(truth.size).toBeGreaterThan(0);
}

describeWithRedis("conversations over the real Redis", () => {
  const testStore = useTestStore();

  async function begun(stormGroups?: number): Promise<World> {
    const opened = openTestStore(testStore().redis);
    await markStarted(opened);
    return new World(opened, stormGroups);
  }

  async function story(
    events: readonly Event[],
    { canFind = true, stormGroups }: { canFind?: boolean; stormGroups?: number } = {},
  ) {
    const world = await begun(stormGroups);
    world.channel.canFind = canFind;
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
      { seed: 12, numRuns: runsOf(7) },
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
        { seed: 13, numRuns: runsOf(7) },
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
      { seed: 14, numRuns: runsOf(6) },
    );
  });

  const served = async (world: World, seconds: number, how: How = "accepted") => {
    world.lab.now += seconds * SECOND;
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
    const { posts, roots, sums } = await served(world, 31);
    await world.flip("a");
    await served(world, 301);
    await served(world, 301);
    const ended = () => [roots.size, posts.length, [...roots.values()][0]?.isOver];
    expect(ended()).toEqual([1, 2, false]);
    await world.flip("c");
    await served(world, 301);
    expect(ended()).toEqual([1, 3, true]);
    expect(sums.map(({ whole }) => whole.map((one) => one[0]).join(" "))).toEqual(["a c"]);
    const { keys } = world.lab.store;
    const about = keys.about(chat.id, [...roots.values()][0]?.conversation ?? "");
    expect(await testStore().redis.pttl(about)).toBeLessThanOrEqual(24 * HOUR);
    expect((await world.keys()).filter((key) => key.startsWith("talk:"))).toEqual([]);
  });

  it("go on in roots of their own where that of a summary is gone, and are all closed", async () => {
    const world = await begun(1);
    await world.flip("a");
    await world.flip("c");
    await served(world, 31);
    await world.apply({ kind: "delete" });
    await world.flip("b");
    const { roots, sums } = await served(world, 301);
    const own = () =>
      [...roots.values()].map(({ isShared, isDeleted, isOver, shows }) => [isShared, isDeleted, isOver, shows.length]);
    expect(own()).toEqual([
      [true, true, false, 2],
      [false, false, false, 2],
    ]);
    for (const name of ["a", "b", "c"] as const) await world.flip(name);
    await served(world, 301);
    await served(world, 301);
    expect(own().slice(1)).toEqual([
      [false, false, true, 0],
      [false, false, true, 0],
    ]);
    expect(sums.map(({ whole }) => whole.map((one) => one[0]).join(" ")).sort()).toEqual(["a b", "a c"]);
    const ids = new Set([...roots.values()].map(({ conversation }) => conversation));
    expect(ids.size).toBe(roots.size);
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
    const talk = await world.lab.store.conversations.open(chat.id, {
      group: "all",
      conversation: root?.conversation ?? "",
    });
    expect(talk?.episodes.size).toBe(2);
    await world.flip("a");
    await served(world, 301);
    expect([posts.length, roots.size, root?.isOver]).toEqual([2, 1, false]);
    await world.flip("b");
    await served(world, 301);
    expect([posts.length, roots.size, root?.isOver]).toEqual([3, 1, true]);
    expect((await world.keys()).filter((key) => key.startsWith("talk:"))).toEqual([]);
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
    expect(await world.lab.store.groups.nextDue([chat.id])).toEqual(new Map());
  });

  it("find a reply whose root was never settled", async () => {
    const world = await begun();
    await world.flip("a");
    await served(world, 31, "killed_after");
    await world.flip("a");
    // The first is found, and its end is due `group_interval` after it.
    await served(world, 1);
    await served(world, 301, "killed_after");
    const { posts, ends: shown } = await served(world, 1);
    expect(posts.map(({ news }) => news.length)).toEqual([1, 1]);
    // The reply may be all there is: the root says what ended.
    expect(shown).toEqual([[], [expect.stringMatching(/^a@/)], [expect.stringMatching(/^a@/)]]);
  });
});
