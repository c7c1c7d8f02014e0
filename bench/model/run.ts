/**
 * One run: a fleet, a configuration and actions from a seed; then the world and the configuration stand still for the
 * longest timer, and a second lenswatch, with an empty store, watches the same world for the same time.
 */
import type { Instant } from "../../src/lib/clock.ts";
import { createRandom } from "../chaos/random.ts";
import { Account, endpointOf, type Failure } from "./account.ts";
import { type ActionKind, actions, type PlannedAction, planActions } from "./actions.ts";
import { auditEnd } from "./audit.ts";
import type { Connections } from "./connections.ts";
import { compareFiring } from "./convergence.ts";
import { ageKeys } from "./expiry.ts";
import { Lenswatch } from "./lenswatch.ts";
import { Readings } from "./readings.ts";
import { Refused } from "./senders.ts";
import { createWorldService } from "./service.ts";
import { configOf, makeSettings, type Scale, type Settings } from "./settings.ts";
import { QueueMemory } from "./virtual-queues.ts";
import { VirtualTime } from "./virtual-time.ts";
import { installVirtualTimers } from "./virtual-timers.ts";
import { copyWorld, makeWorld, standStill, type World } from "./world.ts";

const MINUTE = 60_000;
const HOUR = 3_600_000;

/** In spring and autumn clocks change during the run. */
const STARTS = ["2026-01-13T09:00Z", "2026-03-27T14:00Z", "2026-10-23T20:00Z"].map((text) => Date.parse(text));

export interface Plan {
  readonly seed: number;
  readonly short: boolean;
  readonly scale: Scale;
  readonly start: Instant;
  /** How long actions happen, and how long all stands still then, ms. */
  readonly activeMs: number;
  readonly stillMs: number;
  readonly actions: readonly PlannedAction[];
  /** The service stays slow. */
  readonly slowly: boolean;
}

export interface Outcome {
  readonly failures: readonly Failure[];
  /** What was done, a line each. */
  readonly log: readonly string[];
  readonly account: Account;
  readonly messages: number;
}

export interface PlanOptions {
  /** Actions of these kinds alone. */
  readonly only?: readonly ActionKind[] | undefined;
  /** Minutes alone, and fewer of them. */
  readonly short?: boolean | undefined;
}

export function planRun(seed: number, { only, short = false }: PlanOptions = {}): Plan {
  const random = createRandom(seed);
  const daily = random.chance(0.35) && !short;
  const activeMs = daily ? 40 * HOUR : (short ? 40 : 80) * MINUTE;
  return {
    seed,
    short,
    scale: { daily, intervalMs: daily ? 10 * MINUTE : MINUTE },
    start: random.pick(STARTS as [number, ...number[]]),
    activeMs,
    stillMs: daily ? 32 * HOUR : 60 * MINUTE,
    actions: planActions(seed + 1, { lengthMs: activeMs, most: short ? 16 : 30, only }),
    slowly: !daily && random.chance(0.2),
  };
}

/** What actions work on. */
export interface ModelRun {
  readonly world: World;
  readonly scale: Scale;
  readonly time: VirtualTime;
  readonly settings: Settings;
  readonly longestAnswerMs: number;
  removed: number;
  /** Undefined while lenswatch is stopped. */
  readonly process: Lenswatch | undefined;
  reload(edited: string): Promise<string>;
  /** Stops and starts after a while, with the settings as they are then. */
  restart(pauseMs: number): Promise<string>;
}

export async function runModel(plan: Plan, connections: Connections, prefix: string): Promise<Outcome> {
  const { seed, scale, start, slowly } = plan;
  const random = createRandom(seed + 2);
  const world = makeWorld(random, start, { scheduled: scale.daily });
  const settings = makeSettings(random, scale);
  const main = await Stage.open({ plan, world, settings, connections, prefix: `${prefix}-run`, start });
  let copy: World;
  let still: Instant;
  try {
    await main.begin();
    await main.play(plan.actions);
    still = main.time.now();
    standStill(world, { slowly }, still);
    if (slowly) world.faults.slowMs = main.longestAnswerMs;
    copy = copyWorld(world);
    await main.time.runUntil(still + plan.stillMs);
    await auditEnd(main.running(), main.account);
  } finally {
    main.restoreTimers();
  }
  const fresh = await Stage.open({
    plan,
    world: copy,
    settings: main.settings,
    connections,
    prefix: `${prefix}-fresh`,
    start: still,
  });
  try {
    await fresh.begin();
    await fresh.time.runUntil(still + plan.stillMs);
    const differing = await compareFiring(main.running(), fresh.running(), {
      world,
      rules: main.running().setup().config.rules,
      now: fresh.time.now(),
      relabelled: main.settings.relabelled,
      stillMs: plan.stillMs,
    });
    const { account, log } = main;
    return { failures: [...account.failures, ...differing], log, account, messages: account.words.length };
  } finally {
    fresh.restoreTimers();
    await main.close();
    await fresh.close();
  }
}

interface StageOptions {
  readonly plan: Plan;
  readonly world: World;
  readonly settings: Settings;
  readonly connections: Connections;
  readonly prefix: string;
  readonly start: Instant;
}

/** A world with a lenswatch that watches it. */
class Stage implements ModelRun {
  readonly world: World;
  readonly scale: Scale;
  readonly settings: Settings;
  readonly time: VirtualTime;
  readonly account: Account;
  readonly log: string[] = [];
  readonly longestAnswerMs: number;
  removed = 0;
  process: Lenswatch | undefined;
  readonly #options: StageOptions;
  readonly #queues: QueueMemory;
  readonly #readings: Readings;
  #restoreTimers = () => {};

  static async open(options: StageOptions): Promise<Stage> {
    const stage = new Stage(options);
    ageKeys(await options.connections.connect(), options.prefix, stage.time);
    stage.#restoreTimers = installVirtualTimers(stage.time, { leastIntervalMs: stage.scale.intervalMs });
    return stage;
  }

  private constructor(options: StageOptions) {
    const { plan, world, settings, connections, start } = options;
    this.#options = options;
    this.world = world;
    this.scale = plan.scale;
    this.settings = structuredClone(settings);
    this.time = new VirtualTime(start, connections.quiet);
    this.#queues = new QueueMemory(this.time);
    // Longer than three intervals, shorter than the timeout of a request.
    this.longestAnswerMs = Math.min(4.2 * this.scale.intervalMs, 290_000);
    const gapMs = 3 * this.scale.intervalMs;
    const freshMs = gapMs + 2 * this.longestAnswerMs;
    this.#readings = new Readings({ now: () => this.time.now(), gapMs, freshMs, world });
    this.account = new Account(this.#readings);
  }

  running(): Lenswatch {
    if (!this.process) throw new Error("lenswatch does not run");
    return this.process;
  }

  restoreTimers(): void {
    this.#restoreTimers();
  }

  async begin(): Promise<void> {
    const { connections, prefix } = this.#options;
    const { world, time } = this;
    const random = createRandom(this.#options.plan.seed + 3);
    this.#readings.startedAt = time.now();
    this.process = await Lenswatch.start(
      {
        connections,
        queues: this.#queues,
        prefix,
        service: createWorldService({
          world,
          time,
          random,
          answered: (snapshot, locations) => this.#readings.note(snapshot, locations),
        }),
        send: async (integration, message) => {
          if (world.down.has(endpointOf(integration))) throw new Refused();
          this.account.accept(integration, message);
        },
      },
      configOf(this.settings),
    );
  }

  async play(planned: readonly PlannedAction[]): Promise<void> {
    const { plan } = this.#options;
    for (const { atMs, kind, seed } of planned) {
      await this.time.runUntil(plan.start + atMs);
      const at = this.time.now();
      const done = await this.time.finish(Promise.resolve(actions[kind](this, createRandom(seed))), 24 * HOUR);
      this.log.push(`${stamp(at)} ${kind} ${done ?? ""}`.trimEnd());
    }
    await this.time.runUntil(plan.start + plan.activeMs);
  }

  async reload(edited: string): Promise<string> {
    await this.running().reload(configOf(this.settings));
    return edited;
  }

  async restart(pauseMs: number): Promise<string> {
    await this.running().stop();
    this.process = undefined;
    await new Promise<void>((resolve) => this.time.after(pauseMs, resolve));
    await this.begin();
    return `${Math.round(pauseMs / MINUTE)} min`;
  }

  async close(): Promise<void> {
    await this.process?.stop();
  }
}

export function stamp(at: Instant): string {
  return new Date(at).toISOString().slice(5, 19).replace("T", " ");
}
