/** Kills, and faults of everything around the daemon, spread over storms with lulls between. */

import type { SmtpResponses } from "../../test/support/smtp-sink.ts";
import type { Action, ServiceFault, SlackTrouble } from "./action.ts";
import type { PlanOptions } from "./plan.ts";
import type { Dice } from "./random.ts";

const STORM_MS = 25_000;
const LULL_MS = 15_000;
/** Nothing fails before everything has started. */
const QUIET_START_MS = 3_000;
const FAULTS_PER_SECOND = 0.35;
const FAILOVER_EVERY_MS = 30_000;

/** Kills of one replica, of all at once, and of Redis, spread over the storms. */
export function planKills(options: PlanOptions, dice: Dice): Action[] {
  const { kills: wanted, replicas, lengthMs } = options;
  const actions: Action[] = options.failover ? planFailovers(lengthMs) : [];
  for (let left = wanted; left > 0; ) {
    const at = inStorm(lengthMs, dice);
    const downMs = dice.chance(0.5) ? 0 : dice.between(0, 4_000);
    if (dice.chance(0.12) && !options.failover) {
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

/** Far enough apart that the one that was killed follows again, and Sentinels may promote it. */
function planFailovers(lengthMs: number): Action[] {
  const count = Math.max(1, Math.floor(lengthMs / FAILOVER_EVERY_MS));
  return Array.from({ length: count }, (_, i) => ({
    at: ((i + 0.5) * lengthMs) / count,
    kind: "redis",
    downMs: 0,
  }));
}

function inStorm(lengthMs: number, dice: Dice): number {
  const storms = Math.max(1, Math.ceil(lengthMs / (STORM_MS + LULL_MS)));
  const from = dice.whole(storms) * (STORM_MS + LULL_MS) + QUIET_START_MS;
  const to = Math.min(lengthMs, from + STORM_MS - QUIET_START_MS);
  return dice.between(Math.min(from, to), to);
}

/** Everything that fails but is not killed; an ambush kills as well. */
export function planFaults(options: PlanOptions, dice: Dice): Action[] {
  const { lengthMs, webhooks, replicas } = options;
  const count = Math.round((((FAULTS_PER_SECOND * lengthMs) / 1_000) * STORM_MS) / (STORM_MS + LULL_MS));
  return Array.from({ length: count }, () =>
    fault({ at: inStorm(lengthMs, dice), webhooks, replicas }, dice),
  ).filter((action) => !(options.failover && action.kind === "ambush" && action.victim === "redis"));
}

const FAULT_KINDS = [
  ...(["service", "service", "service", "service"] as const),
  ...(["slack", "slack", "slack", "mail", "stop", "freeze", "freeze_redis", "ambush", "ambush"] as const),
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
    case "ambush":
      return {
        at,
        kind,
        on: dice.pick(["slack", "mail"]),
        victim: dice.pick(["replicas", "replicas", "redis"]),
      };
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
