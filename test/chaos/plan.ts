/**
 * What is to happen in a chaos run, decided beforehand from its seed: cameras that go dark and come back, and faults
 * of everything around the daemon. Storms of faults and lulls take turns, so that there is also a time to be judged
 * by how quick it is. Times are ms after the start.
 */
import type { FaultInput, FaultName } from "../../src/simulator/fault-kinds.ts";
import { seededRandom } from "../support/random.ts";
import type { SmtpResponses } from "../support/smtp-sink.ts";

export interface PlanOptions {
  readonly seed: number;
  readonly lengthMs: number;
  /** Processes killed, Redis included. */
  readonly kills: number;
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly replicas: number;
  readonly webhooks: number;
}

export type SlackTrouble =
  | { readonly answer: "rate_limited"; readonly retryAfter: number }
  | { readonly answer: "server_error" }
  | { readonly answer: "hang" }
  /** Accepted, and said so only after a while: who is killed meanwhile cannot know. */
  | { readonly answer: "slow"; readonly afterMs: number };

export type ServiceFault = { [N in FaultName]: readonly [N, FaultInput<N>?] }[FaultName];

/** One thing that happens; recordings by their place in the fleet, location by location. */
export type Action = { readonly at: number } & (
  | { readonly kind: "status"; readonly status: "offline" | "online"; readonly recordings: readonly number[] }
  | { readonly kind: "kill"; readonly replicas: readonly number[]; readonly downMs: number }
  | { readonly kind: "stop"; readonly replicas: readonly number[]; readonly downMs: number }
  /** Stopped in the middle of whatever it does, and then let go on. */
  | { readonly kind: "freeze"; readonly replica: number; readonly lastsMs: number }
  | { readonly kind: "redis"; readonly downMs: number }
  | { readonly kind: "freeze_redis"; readonly lastsMs: number }
  | { readonly kind: "service"; readonly faults: readonly ServiceFault[]; readonly lastsMs: number }
  | {
      readonly kind: "slack";
      readonly webhooks: readonly number[];
      readonly trouble: SlackTrouble;
      readonly lastsMs: number;
    }
  | { readonly kind: "mail"; readonly responses: SmtpResponses; readonly lastsMs: number }
);

const STORM_MS = 25_000;
const LULL_MS = 15_000;
/** Nothing fails before everything has started. */
const QUIET_START_MS = 3_000;
/** A place that had an outage is left alone this long after it. */
const REST_MS = 4_000;
/** Outages a second for each webhook: each is at least two messages, and a webhook takes one a second. */
const OUTAGES_PER_WEBHOOK = 0.15;
const FAULTS_PER_SECOND = 0.35;

/** Everything that happens, in order of time. */
export function planChaos(options: PlanOptions): Action[] {
  const random = seededRandom(options.seed);
  const dice = createDice(random);
  return [...outages(options, dice), ...kills(options, dice), ...faults(options, dice)].sort(
    (a, b) => a.at - b.at,
  );
}

interface Dice {
  between(from: number, to: number): number;
  whole(below: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  chance(share: number): boolean;
}

function createDice(random: () => number): Dice {
  const whole = (below: number) => Math.min(below - 1, Math.floor(random() * below));
  return {
    between: (from, to) => Math.round(from + random() * (to - from)),
    whole,
    pick: (from) => from[whole(from.length)] ?? from[0],
    chance: (share) => random() < share,
  };
}

type Shape = (dice: Dice) => readonly (readonly [darkMs: number, onlineMs: number])[];

/** How one camera goes dark and comes back. */
const SHAPES: readonly [Shape, ...Shape[]] = [
  (dice) => [[dice.between(5_000, 30_000), 0]],
  (dice) => [[dice.between(5_000, 30_000), 0]],
  (dice) => [[dice.between(40_000, 90_000), 0]],
  (dice) =>
    Array.from(
      { length: 1 + dice.whole(4) },
      () => [dice.between(200, 3_000), dice.between(300, 6_000)] as const,
    ),
  (dice) => Array.from({ length: 2 }, () => [dice.between(4_000, 10_000), dice.between(500, 8_000)] as const),
];

function outages(options: PlanOptions, dice: Dice): Action[] {
  const { locations, recordingsPerLocation, webhooks, lengthMs } = options;
  const everyMs = 1_000 / (OUTAGES_PER_WEBHOOK * webhooks);
  const busyUntil = new Map<number, number>();
  const actions: Action[] = [];
  for (let at = dice.between(0, everyMs); at < lengthMs; at += dice.between(0, 2 * everyMs)) {
    const location = dice.whole(locations);
    if ((busyUntil.get(location) ?? 0) > at) continue;
    const first = location * recordingsPerLocation;
    const all = Array.from({ length: recordingsPerLocation }, (_, i) => first + i);
    const whole = dice.chance(0.2);
    const changes = whole
      ? siteOutage(all, at, dice)
      : cameraOutage(first + dice.whole(recordingsPerLocation), at, dice.pick(SHAPES)(dice));
    const within = changes.filter((change) => change.at < lengthMs);
    actions.push(...within);
    busyUntil.set(location, Math.max(...changes.map((change) => change.at)) + REST_MS);
  }
  return actions;
}

function cameraOutage(recording: number, from: number, phases: ReturnType<Shape>): Action[] {
  let at = from;
  return phases.flatMap(([darkMs, onlineMs]) => {
    const back = at + darkMs;
    const change = [
      { at, kind: "status", status: "offline", recordings: [recording] },
      { at: back, kind: "status", status: "online", recordings: [recording] },
    ] as const;
    at = back + onlineMs;
    return change;
  });
}

/** Cameras of a site fall one after the other within a moment, and come back likewise. */
function siteOutage(recordings: readonly number[], from: number, dice: Dice): Action[] {
  const lasts = dice.between(6_000, 40_000);
  return recordings.flatMap((recording) => [
    {
      at: from + dice.between(0, 1_500),
      kind: "status",
      status: "offline",
      recordings: [recording],
    } as const,
    {
      at: from + lasts + dice.between(0, 2_500),
      kind: "status",
      status: "online",
      recordings: [recording],
    } as const,
  ]);
}

/** Kills of one replica, of all at once, and of Redis, spread over the storms. */
function kills({ kills: wanted, replicas, lengthMs }: PlanOptions, dice: Dice): Action[] {
  const actions: Action[] = [];
  for (let left = wanted; left > 0; ) {
    const at = inStorm(lengthMs, dice);
    const downMs = dice.chance(0.5) ? 0 : dice.between(0, 4_000);
    if (dice.chance(0.12)) {
      actions.push({ at, kind: "redis", downMs: dice.between(0, 4_000) });
      left -= 1;
    } else if (left >= replicas && dice.chance(0.06)) {
      actions.push({ at, kind: "kill", replicas: Array.from({ length: replicas }, (_, i) => i), downMs });
      left -= replicas;
    } else {
      actions.push({ at, kind: "kill", replicas: [dice.whole(replicas)], downMs });
      left -= 1;
    }
  }
  return actions;
}

function inStorm(lengthMs: number, dice: Dice): number {
  const storms = Math.max(1, Math.ceil(lengthMs / (STORM_MS + LULL_MS)));
  const from = dice.whole(storms) * (STORM_MS + LULL_MS) + QUIET_START_MS;
  return dice.between(from, Math.max(from, Math.min(lengthMs, from + STORM_MS - QUIET_START_MS)));
}

function faults({ lengthMs, webhooks, replicas }: PlanOptions, dice: Dice): Action[] {
  const count = Math.round((((FAULTS_PER_SECOND * lengthMs) / 1_000) * STORM_MS) / (STORM_MS + LULL_MS));
  return Array.from({ length: count }, () =>
    fault({ at: inStorm(lengthMs, dice), webhooks, replicas }, dice),
  );
}

const FAULT_KINDS = [
  ...(["service", "service", "service", "service"] as const),
  ...(["slack", "slack", "slack", "mail", "stop", "freeze", "freeze_redis"] as const),
] as const;

/** Shorter than the lease of a claim less the deadline of a send: nobody else takes over meanwhile. */
const LONGEST_FREEZE_MS = 2_500;

function fault(
  { at, webhooks, replicas }: { at: number; webhooks: number; replicas: number },
  dice: Dice,
): Action {
  const kind = dice.pick(FAULT_KINDS);
  switch (kind) {
    case "service":
      return { at, kind, ...serviceTrouble(dice) };
    case "slack": {
      const lastsMs = dice.between(500, 6_000);
      return { at, kind, webhooks: someWebhooks(webhooks, dice), trouble: slackTrouble(dice), lastsMs };
    }
    case "mail":
      return { at, kind, responses: dice.pick(MAIL_TROUBLES), lastsMs: dice.between(300, 4_000) };
    case "freeze":
      return { at, kind, replica: dice.whole(replicas), lastsMs: dice.between(200, LONGEST_FREEZE_MS) };
    case "freeze_redis":
      return { at, kind, lastsMs: dice.between(200, LONGEST_FREEZE_MS) };
    case "stop":
      return { at, kind, replicas: [dice.whole(replicas)], downMs: dice.between(0, 1_000) };
  }
}

const SERVICE_TROUBLES: readonly [readonly ServiceFault[], ...(readonly ServiceFault[])[]] = [
  [["drop_sockets", { times: 3 }]],
  [["drop_sockets"]],
  [["half_open"]],
  [["token_refused"], ["drop_sockets"]],
  [["unauthorized"], ["drop_sockets"]],
  [
    ["http_error", { status: 503 }],
    ["drop_sockets", { times: 2 }],
  ],
  [["error_payload", {}]],
  [["no_reply", { route: "status/uptime" }]],
  [["garbage_frames", { kind: "bad_json" }]],
  [["slow", { ms: 700 }]],
  [["empty_snapshot"]],
  [["unknown_status", { every: 2 }]],
  [["missing_rows", { every: 3 }]],
  [["wrong_types", { every: 2 }]],
];

function serviceTrouble(dice: Dice): { faults: readonly ServiceFault[]; lastsMs: number } {
  return { faults: dice.pick(SERVICE_TROUBLES), lastsMs: dice.between(500, 6_000) };
}

function someWebhooks(webhooks: number, dice: Dice): number[] {
  const all = Array.from({ length: webhooks }, (_, i) => i);
  return dice.chance(0.3) ? all : all.filter(() => dice.chance(0.4));
}

function slackTrouble(dice: Dice): SlackTrouble {
  const answer = dice.pick(["rate_limited", "server_error", "hang", "slow", "slow"] as const);
  if (answer === "slow") return { answer, afterMs: dice.between(50, 2_000) };
  return answer === "rate_limited" ? { answer, retryAfter: 1 + dice.whole(3) } : { answer };
}

const MAIL_TROUBLES: readonly [SmtpResponses, ...SmtpResponses[]] = [
  { data: { code: 451, message: "try later" } },
  { connect: { code: 421, message: "going down" }, data: { code: 421, message: "going down" } },
  { rcpt: { "*": { code: 451, message: "greylisted" } } },
  { data: "hang" },
];
