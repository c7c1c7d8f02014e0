/** The sweep of one shard: read its state, ask the service, evaluate, commit. What fails is only noted. */

import { createRepeats } from "../alerting/repeats.ts";
import type { Config } from "../config/config.ts";
import type { Attempt } from "../health/attempt.ts";
import { presenceOf, segmentsOf } from "../health/attempt.ts";
import { areSegmentsBelieved, type Presence } from "../health/belief.ts";
import type { CountsLookup } from "../health/counts.ts";
import type { Decision, Evaluation } from "../health/evaluation.ts";
import { judgeShard } from "../health/judge.ts";
import type { Members } from "../health/members.ts";
import { misreadIn, nothingReadIn } from "../health/misread.ts";
import type { Rule } from "../health/model.ts";
import { lateMs } from "../health/rhythm.ts";
import { sentences } from "../health/self-words.ts";
import { overviewAfter } from "../health/shard-overview.ts";
import type { Figure } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { keptFor } from "../lib/kept.ts";
import { createRecent } from "../lib/recent.ts";
import type { Service } from "../service/service.ts";
import type { CommitResult } from "../store/commit.ts";
import { StoreError } from "../store/errors.ts";
import type { ShardCommit } from "../store/shards.ts";
import type { Store } from "../store/store.ts";
import { FIGURES_FRESH_INTERVALS } from "../store/uptime.ts";
import type { PollContext } from "./commit.ts";
import { createFailureLog } from "./rounds.ts";
import type { ScheduleLookup } from "./schedule-lookup.ts";
import { type Answers, createAskStatus } from "./shard-status.ts";
import { createReadContext } from "./sweep-context.ts";

/** How long what was evaluated of a shard is kept here after another replica took it, ms. */
const EVALUATED_KEPT_MS = 120_000;
/** The cause itself may hold what nobody should read in a message. */
const INTERNAL = "lenswatch failed to evaluate or store what the service answered: its log has the cause";
/** And a tenth of the interval at most. */
const ATTEMPTS_KEPT_MS = 1_000;

interface SweepDeps extends Pick<PollContext, "clock" | "log" | "commit" | "assigned"> {
  readonly service: Pick<Service, "statusUptime">;
  readonly store: Pick<
    Store["shards"],
    "read" | "attempts" | "commitShard" | "noteAttempt" | "forgetShard" | "unstored"
  >;
  readonly inventory: Pick<Store["inventory"], "recording" | "location" | "revision" | "forget" | "saveRecordings">;
  readonly firing: Store["firing"];
  /** Makes sure names are known before they are frozen into labels; never throws, never waits long. */
  nameThem(recordingIds: readonly string[]): Promise<void>;
  readonly uptime: Pick<Store["uptime"], "figure" | "figuresAt" | "refreshFigures">;
  readonly schedules: ScheduleLookup;
  /** What counts show; undefined where no rule is about them. */
  readonly followCounts?: ((now: Instant) => Promise<CountsLookup | undefined>) | undefined;
  readonly rules: readonly Rule[];
  readonly watch: Pick<
    Config["watch"],
    "exclude" | "forgetAfterMs" | "statusIntervalMs" | "uptimeIntervalMs" | "locationsPerRequest"
  >;
  /** Called for a shard that recordings moved to. */
  moved(shard: number): void;
  /** Called after each sweep; `seconds` is its wall time. */
  swept(outcome: SweepOutcome, seconds: number, now: Instant): void;
}

/** `lost`: another replica swept the shard meanwhile, or may not be asked for it any more. */
type SweepOutcome = "ok" | "failed" | "lost";

/** Gives `sweep(shard)`. A sweep of a shard already under way here is not started again. */
export function createSweep(deps: SweepDeps): (shard: number) => Promise<void> {
  const sweeper = new Sweeper(deps);
  const underWay = new Set<number>();
  return async (shard) => {
    if (underWay.has(shard) || !deps.assigned.known()) return;
    underWay.add(shard);
    const began = performance.now();
    try {
      const outcome = await sweeper.sweep(shard);
      deps.swept(outcome, (performance.now() - began) / 1000, deps.clock.now());
    } finally {
      underWay.delete(shard);
    }
  };
}

/** The last sweep of a shard here. */
interface Evaluated {
  readonly answers: Answers;
  /** The nonce under which it was stored, and the members of that state. */
  readonly nonce?: string | undefined;
  readonly members?: Members | undefined;
}

class Sweeper {
  readonly #deps: SweepDeps;
  readonly #excluded: ReadonlySet<string>;
  readonly #startedAt: Instant;
  readonly #askStatus: ReturnType<typeof createAskStatus>;
  /** Of all shards, thousands: sweeps at about the same time read them together. */
  readonly #allAttempts: (now: Instant) => ReturnType<typeof readAttempts>;
  readonly #noteFailing: ReturnType<typeof createFailureLog>;
  readonly #readContext: ReturnType<typeof createReadContext>;
  /** Rows that every sweep ignores are in the decision log once. */
  readonly #repeats = createRepeats();
  readonly #evaluated = createRecent<number, Evaluated>(EVALUATED_KEPT_MS);

  constructor(deps: SweepDeps) {
    this.#deps = deps;
    this.#excluded = new Set(deps.watch.exclude);
    this.#startedAt = deps.clock.now();
    const [failed, again] = ["sweep failed, keeping the last known state", "sweeps of this shard succeed again"];
    this.#noteFailing = createFailureLog(deps.log, failed, again);
    const keptMs = Math.min(ATTEMPTS_KEPT_MS, deps.watch.statusIntervalMs / 10);
    this.#allAttempts = keptFor(keptMs, () => readAttempts(deps));
    this.#askStatus = createAskStatus(deps.service, deps.watch.locationsPerRequest);
    const read = async (shard: number) => {
      const stored = await this.#read(shard);
      return stored instanceof StoreError ? undefined : stored.state;
    };
    this.#readContext = createReadContext({ ...deps, ...deps.watch, read });
  }

  async sweep(shard: number): Promise<SweepOutcome> {
    const answered = { rows: 0 };
    const askedAt = this.#deps.clock.now();
    try {
      return await this.#sweep(shard, answered);
    } catch (thrown) {
      this.#repeats.forget();
      // Where Redis does not answer either, the evidence grows old all the same.
      const known = answered.rows > 0 ? { known: answered.rows } : {};
      await this.#noteFailed(shard, new Error(INTERNAL), askedAt, { fault: "internal", ...known }).catch(() => {});
      throw thrown;
    }
  }

  /** Gives `answered` how many rows were understood, for what may fail afterwards. */
  async #sweep(shard: number, answered: { rows: number }): Promise<SweepOutcome> {
    const { clock, assigned, uptime, watch, commit } = this.#deps;
    const figuresSince = clock.now() - FIGURES_FRESH_INTERVALS * watch.uptimeIntervalMs;
    const subject = `shard:${shard}`;
    const [stored, all, counts] = await Promise.all([
      this.#read(shard),
      this.#allAttempts(clock.now()),
      this.#deps.followCounts?.(clock.now()),
      uptime.refreshFigures([shard], figuresSince),
    ]);
    const locationIds = assigned.locations(shard);
    // An answer is true of some time since the request: it counts as no newer than that, however slow it is.
    const now = clock.now();
    if (stored instanceof StoreError) {
      await this.#noteFailed(shard, stored, now, { fault: "unreadable" });
      return "failed";
    }
    const evaluated = this.#evaluated.get(shard);
    const answer = await this.#ask(shard, locationIds, { askedAt: now, last: evaluated?.answers });
    if (!answer) return "failed";
    const { snapshot, answers, error } = answer;
    const { readings } = snapshot;
    answered.rows = readings.length;
    const swept = { stored, readings, locationIds, attempts: all.attempts, now };
    const { before, lost, ...known } = await this.#readContext(shard, swept);
    const unbroken = before.state.sweptAt >= this.#startedAt;
    const others = presenceBeside(all, subject);
    const fixed = this.#context(locationIds, { now, figuresBelieved: this.#areFiguresBelieved(shard, all) });
    const members = evaluated?.nonce === before.nonce ? evaluated.members : undefined;
    const evaluation = judgeShard(before.state, snapshot, {
      ...fixed,
      ...{ ...known, unbroken, others, counts, members },
    });
    const { patch, absent, stale, unread, groups } = evaluation;
    this.#evaluated.set(shard, { answers });
    const sweep = {
      lateMs: lateMs(patch.gaps, watch.statusIntervalMs),
      error: sentences([error?.message, stale > 0 ? misreadIn(snapshot) : undefined]),
      known: patch.states.length,
      absent,
      stale,
      unread: unread.size > 0 ? Object.fromEntries(unread) : undefined,
    };
    // Another replica may have assigned locations that this one does not know of yet: then nothing has left.
    const drops = evaluation.decisions.some(({ reason }) => reason === "no_longer_watched" || reason === "moved");
    if (drops && (await assigned.follow()) === "changed") return "lost";
    const transitions = [...lost.map((alert) => ({ kind: "firing" as const, alert })), ...evaluation.transitions];
    const committed = await commit.evaluation(transitions, (changes) =>
      this.#write(shard, evaluation, { before, now, changes, sweep, groups }),
    );
    if (committed.outcome === "lost") return "lost";
    this.#evaluated.set(shard, { answers, nonce: committed.nonce, members: evaluation.members });
    if (known.begun?.size) this.#deps.moved(shard);
    return "ok";
  }

  /** The error where what is stored cannot be read: it stays as it is. */
  async #read(shard: number) {
    try {
      return await this.#deps.store.read(shard);
    } catch (thrown) {
      if (thrown instanceof StoreError && thrown.code === "unreadable") return thrown;
      throw thrown;
    }
  }

  /** The service's answer, with why a part of it is missing; undefined where every request failed. */
  async #ask(
    shard: number,
    locationIds: readonly string[],
    { askedAt, last }: { readonly askedAt: Instant; readonly last: Answers | undefined },
  ) {
    try {
      const answer = await this.#askStatus(locationIds, last);
      const misread = nothingReadIn(answer.snapshot);
      if (misread) throw new Error(misread);
      this.#noteFailing(shard, answer.error);
      return answer;
    } catch (thrown) {
      await this.#noteFailed(shard, toError(thrown), askedAt);
      return undefined;
    }
  }

  async #noteFailed(
    shard: number,
    err: Error,
    askedAt: Instant,
    more?: Pick<Attempt, "fault" | "known">,
  ): Promise<void> {
    const { store, clock } = this.#deps;
    this.#noteFailing(shard, err);
    await store.noteAttempt(`shard:${shard}`, clock.now(), err.message, askedAt, more);
  }

  /** Not where the segments of most recordings are late, nor before it is known whether those of these figures are. */
  #areFiguresBelieved(shard: number, { attempts, segments }: Attempts): boolean {
    const { goodAt } = attempts.get(`uptime:${shard}`) ?? {};
    const figuresAt = this.#deps.uptime.figuresAt(shard);
    const isCounted = goodAt === undefined || figuresAt === undefined || goodAt >= figuresAt;
    return isCounted && areSegmentsBelieved(segments);
  }

  #context(
    locationIds: readonly string[],
    { now, figuresBelieved }: { readonly now: Instant; readonly figuresBelieved: boolean },
  ) {
    const { watch, rules, inventory, uptime, schedules, assigned } = this.#deps;
    return {
      now,
      intervalMs: watch.statusIntervalMs,
      forgetAfterMs: watch.forgetAfterMs,
      rules,
      inventory,
      locationIds,
      isAssigned: (id: string) => assigned.shardOf(id) !== undefined,
      excluded: this.#excluded,
      uptime: (id: string, figure: Figure) => (figuresBelieved ? uptime.figure(id, figure) : undefined),
      ...schedules(now),
    };
  }

  async #write(
    shard: number,
    { patch, decisions }: Evaluation,
    input: Pick<ShardCommit, "before" | "now" | "changes" | "sweep" | "groups">,
  ): Promise<CommitResult> {
    const { store, inventory, watch } = this.#deps;
    const intervalMs = watch.statusIntervalMs;
    const overview = overviewAfter(patch, { intervalMs, inventory });
    const lines = decisions.filter((line) => !this.#repeats.isRepeat(line));
    const committed = await store.commitShard(shard, { patch, overview, ...input, lines });
    if (committed.outcome === "lost") return committed;
    if (patch.states.length + patch.locations.size === 0) await store.forgetShard(shard, committed.nonce);
    await inventory.forget(decisions.filter(hasLeft).map(({ subject }) => subject.id));
    return committed;
  }
}

async function readAttempts({ store, assigned }: Pick<SweepDeps, "store" | "assigned">) {
  const attempts = await store.attempts();
  const of = (kind: string) => [...attempts].filter(([subject]) => subject.startsWith(kind)).map(([, one]) => one);
  const isUnreadable = assigned.shards().some((shard) => attempts.get(`shard:${shard}`)?.fault === "unreadable");
  return { attempts, shards: presenceOf(of("shard:")), segments: segmentsOf(of("uptime:")), isUnreadable };
}

type Attempts = Awaited<ReturnType<typeof readAttempts>>;

/** What the other shards have and lack. Beside one that cannot be read no absence is believed: it may have moved there. */
function presenceBeside({ attempts, shards, isUnreadable }: Attempts, subject: string): Presence {
  if (isUnreadable) return { known: 0, absent: Infinity };
  const own = attempts.get(subject);
  const { known, absent } = presenceOf(own ? [own] : []);
  return { known: shards.known - known, absent: shards.absent - absent };
}

/** The subject itself left, not just an alert of it. */
function hasLeft({ ruleId, reason }: Decision): boolean {
  return ruleId === undefined && (reason === "forgotten" || reason === "no_longer_watched");
}
