/** A group under any events: nothing that is to be sent is forgotten, put off by something else, or sent too soon. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  configured,
  type GroupState,
  laterNews,
  postponed,
  released,
  rewound,
  type Served,
  served,
  taken,
  touched,
  withNews,
} from "../../src/alerting/group.ts";

const [WAIT, INTERVAL, REPEAT, LEASE] = [30_000, 300_000, 3_600_000, 13_000];
const never = Number.POSITIVE_INFINITY;
const min = (...all: (number | undefined)[]) => Math.min(...all.map((one) => one ?? never));
const SEED = Number(process.env.LENSWATCH_SEED ?? 20_261_130);

const ahead = fc.option(fc.constantFrom(0, 1_000, 45_000, INTERVAL, REPEAT), { nil: undefined });
const of = <Kind extends string, More>(kind: Kind, more: { [Key in keyof More]: fc.Arbitrary<More[Key]> }) =>
  fc.record<More>(more).map((one) => ({ kind, ...one }));
const turn = { isSent: fc.boolean(), isDue: fc.boolean(), members: fc.nat(1), nextIn: ahead, rootIn: ahead };
const lateIn = fc.option(fc.constantFrom(-60_000, 0, 60_000), { nil: undefined, freq: 2 });
const event = fc.oneof(
  { weight: 3, arbitrary: of("pass", { ms: fc.constantFrom(1, 5_000, 30_000, 300_000) }) },
  of("news", {}),
  of("released", { isPaced: fc.boolean() }),
  of("touched", { isAny: fc.boolean() }),
  { weight: 3, arbitrary: of("take", {}) },
  { weight: 3, arbitrary: of("serve", { ...turn, lateIn, hasRoot: fc.boolean() }) },
  of("postpone", { ms: fc.constantFrom(0, 1_000, 120_000), isRefused: fc.boolean() }),
  of("rewind", { ms: fc.constantFrom(6_000, 600_000, 36_000_000) }),
);
const stories = fc.array(event, { maxLength: 40 });
const escalations = fc.constantFrom(undefined, 600_000);
type Event = typeof event extends fc.Arbitrary<infer One> ? One : never;
type Of<Kind> = Extract<Event, { readonly kind: Kind }>;

class World {
  now = 1_800_000_000_000;
  state: GroupState;
  /** What was asked for and not served is due by then; of this, what was asked for during a claim; and late from then on. */
  owedBy = never;
  asked = never;
  lateBy = never;
  /** Of the claim, where it is for the root alone. */
  newsAt: number | undefined;

  constructor(escalateAfterMs: number | undefined) {
    const timers = { groupWaitMs: WAIT, groupIntervalMs: INTERVAL, repeatIntervalMs: REPEAT, escalateAfterMs };
    this.state = { head: configured(undefined, { labels: {}, ...timers }), due: undefined };
  }

  apply(event: Event): void {
    const { now, state } = this;
    const { sentAt, claimed } = state.head;
    const paced = Math.max(now, (sentAt ?? -never) + INTERVAL);
    if (event.kind === "pass") this.now += event.ms;
    if (event.kind === "news") this.asks(withNews(state, now), sentAt === undefined ? now + WAIT : paced);
    if (event.kind === "released") this.asks(released(state, now, event.isPaced), event.isPaced ? paced : now);
    if (event.kind === "touched") this.stays(touched(state, now, event.isAny) ?? state);
    if (event.kind === "take" && min(state.due) <= now) this.take();
    if (event.kind === "serve" && claimed !== undefined) this.serve(event);
    if (event.kind === "postpone" && claimed !== undefined) this.postpone(event);
    if (event.kind === "rewind") this.rewind(event);
    this.check();
  }

  /** Never puts off what is due, and is sent no sooner than it may be. */
  asks(next: GroupState, at: number): void {
    expect(next.due).toBe(min(this.state.due, at));
    this.state = next;
    this.lateBy = min(this.lateBy, at);
    if (next.head.claimed === undefined) this.owedBy = min(this.owedBy, at);
    else this.asked = min(this.asked, at);
  }

  stays(next: GroupState): void {
    expect(min(next.due)).toBeLessThanOrEqual(min(this.state.due));
    this.state = next;
  }

  take(): void {
    const taking = { token: "t", now: this.now, leaseMs: LEASE };
    this.newsAt = laterNews(this.state.head, this.now);
    this.state = taken(this.state, taking);
    expect(taken(this.state, taking)).toEqual(this.state);
    expect(this.state.due).toBe(this.now + LEASE);
    this.asked = never;
    if (this.newsAt === undefined) this.owedBy = never;
  }

  serve({ isSent, isDue, members, nextIn, rootIn, lateIn, hasRoot }: Of<"serve">): void {
    const { now, newsAt, asked } = this;
    const at = (ms: number | undefined) => (ms === undefined ? undefined : now + ms);
    const turn: Served = {
      ...{ now, newsAt, isDue, members, nextAt: at(nextIn), rootAt: at(rootIn), lateFrom: at(lateIn) },
      // A message tells the news: none is sent where only the root was looked at.
      isSent: isSent && newsAt === undefined,
      ...{ clocks: undefined, suppressed: undefined, maybe: undefined },
      ...{ conversation: hasRoot ? { id: "c", openedAt: now } : null, shown: hasRoot ? "s" : undefined },
    };
    const wasTouched = this.state.head.touched !== undefined;
    this.state = served(this.state, turn);
    const { head, due } = this.state;
    expect([head.claimed, head.began, head.want, head.touched]).toEqual([undefined, undefined, undefined, undefined]);
    const paced = turn.isSent && asked !== never ? Math.max(asked, now + INTERVAL) : asked;
    const first = isDue ? now : paced;
    const isKept = members > 0 || hasRoot;
    this.owedBy = min(first, newsAt === undefined || !isKept ? never : this.owedBy);
    this.lateBy = lateIn === undefined || isDue ? min(first, newsAt === undefined ? never : this.lateBy) : never;
    // Soon after a message: what the decision itself or an edit of the root asks for, and what is over since it was made.
    const soonest = min(now + INTERVAL, turn.nextAt, hasRoot ? turn.rootAt : never, wasTouched || isDue ? now : never);
    if (turn.isSent) expect(min(due)).toBeGreaterThanOrEqual(soonest);
    if (isKept) expect(due).toBeLessThanOrEqual(min(newsAt ?? turn.nextAt ?? now + REPEAT));
  }

  postpone({ ms, isRefused }: Of<"postpone">): void {
    const { now } = this;
    this.state = postponed(this.state, { now, at: now + ms, isRefused });
    this.owedBy = now + ms;
    this.lateBy = min(this.lateBy, now);
  }

  rewind({ ms }: Of<"rewind">): void {
    const { head, due } = this.state;
    const [before, now] = [this.now, this.now - ms];
    const lateTimer = (head.since ?? never) <= before ? 300_000 : Math.max(WAIT, INTERVAL);
    const timer = head.claimed !== undefined ? 120_000 : head.since === undefined ? REPEAT : lateTimer;
    this.stays(rewound(this.state, before, now));
    if (due !== undefined) expect(this.state.due).toBeLessThanOrEqual(now + Math.max(timer, due - before));
    this.now = now;
  }

  check(): void {
    const { head, due } = this.state;
    if (head.claimed === undefined) expect(min(due), "forgotten").toBeLessThanOrEqual(this.owedBy);
    if (this.lateBy < never) expect(min(head.since), "late from").toBeLessThanOrEqual(this.lateBy);
  }
}

describe("a group at an integration", () => {
  it("is due for all that was asked for, in time and not too soon, whatever happens meanwhile", () => {
    const property = fc.property(stories, escalations, (events, escalateAfterMs) => {
      const world = new World(escalateAfterMs);
      for (const one of events) world.apply(one);
    });
    fc.assert(property, { seed: SEED, numRuns: 3_000 * Number(process.env.TEST_RUNS ?? 1) });
  });
});
