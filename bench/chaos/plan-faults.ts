/** Plans kills and faults, in phases with calm ones between. */

import type { SlackAnswer } from "../../test/support/slack/stand-in.ts";
import type { Action, ReceiverFault, ServiceFault } from "./action.ts";
import type { PlanOptions } from "./plan.ts";
import type { Random } from "./random.ts";

const STORM_MS = 25_000;
const LULL_MS = 15_000;
/** No faults during the start. */
const START_MS = 3_000;
const FAULTS_PER_SECOND = 0.55;

/** Kills of one replica, of all at once, and of Redis, spread over the storms. */
export function planKills(options: PlanOptions, random: Random): Action[] {
  const { kills: wanted, replicas, lengthMs } = options;
  const actions: Action[] = [];
  for (let left = wanted; left > 0; ) {
    const at = inStorm(lengthMs, random);
    const downMs = random.chance(0.5) ? 0 : random.between(0, 4_000);
    if (random.chance(0.12)) {
      actions.push({ at, kind: "redis", downMs: random.between(0, 4_000) });
      left -= 1;
    } else if (left >= replicas && random.chance(0.06)) {
      actions.push({ at, kind: "kill", replicas: Array.from({ length: replicas }, (_, i) => i), downMs });
      left -= replicas;
    } else {
      actions.push({ at, kind: "kill", replicas: [random.whole(replicas)], downMs });
      left -= 1;
    }
  }
  return actions;
}

function inStorm(lengthMs: number, random: Random): number {
  const storms = Math.max(1, Math.ceil(lengthMs / (STORM_MS + LULL_MS)));
  const from = random.whole(storms) * (STORM_MS + LULL_MS) + START_MS;
  const to = Math.min(lengthMs, from + STORM_MS - START_MS);
  return random.between(Math.min(from, to), to);
}

/** Faults other than kills; an ambush kills as well. */
export function planFaults(options: PlanOptions, random: Random): Action[] {
  const { lengthMs, webhooks, replicas } = options;
  const count = Math.round((((FAULTS_PER_SECOND * lengthMs) / 1_000) * STORM_MS) / (STORM_MS + LULL_MS));
  return Array.from({ length: count }, () => fault({ at: inStorm(lengthMs, random), webhooks, replicas }, random));
}

const FAULT_KINDS = [
  ...(["service", "service", "service", "service"] as const),
  ...(["webhooks", "webhooks", "webhooks", "stop", "freeze", "freeze_redis", "ambush", "ambush"] as const),
  ...(["app", "app", "app", "ambush_app", "ambush_app", "delete_root", "press", "press", "incidents"] as const),
] as const;

/** Shorter than the lease of a claim less the deadline of a send, so that no replica takes over. */
const LONGEST_FREEZE_MS = 2_500;

function fault({ at, webhooks, replicas }: { at: number; webhooks: number; replicas: number }, random: Random): Action {
  const kind = random.pick(FAULT_KINDS);
  switch (kind) {
    case "service":
      return { at, kind, ...serviceFault(random) };
    case "webhooks":
      return { at, kind: "receivers", ...webhookFault(webhooks, random), lastsMs: random.between(500, 6_000) };
    case "ambush":
      return { at, kind, on: "webhook", victim: random.pick(["replicas", "replicas", "redis"]) };
    case "ambush_app": {
      const on = random.pick(["app", "app_unanswered"] as const);
      return { at, kind: "ambush", on, victim: random.pick(["replicas", "replicas", "redis"]) };
    }
    case "app":
      return { at, kind, ...random.pick(APP_FAULTS), lastsMs: random.between(500, 5_000) };
    case "incidents":
      return {
        at,
        kind: "receivers",
        ...INCIDENTS,
        fault: random.pick(INCIDENT_FAULTS),
        lastsMs: random.between(500, 4_000),
      };
    case "press":
      return { at, kind, button: random.pick(["acknowledge", "acknowledge", "silence"]), which: random.between(0, 1) };
    case "delete_root":
      return { at, kind, which: random.between(0, 1) };
    case "freeze":
      return { at, kind, replica: random.whole(replicas), lastsMs: random.between(200, LONGEST_FREEZE_MS) };
    case "freeze_redis":
      return { at, kind, lastsMs: random.between(200, LONGEST_FREEZE_MS) };
    case "stop":
      return { at, kind, replicas: [random.whole(replicas)], downMs: random.between(0, 1_000) };
  }
}

/** An answer of the service takes so long while it is slow. */
export const SLOW_ANSWER_MS = 700;

const SERVICE_FAULTS: readonly [readonly ServiceFault[], ...(readonly ServiceFault[])[]] = [
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
  [["slow", { ms: SLOW_ANSWER_MS }]],
  [["empty_snapshot"]],
  [["unknown_status", { every: 2 }]],
  [["missing_rows", { every: 3 }]],
  [["wrong_types", { every: 2 }]],
];

function serviceFault(random: Random): { faults: readonly ServiceFault[]; lastsMs: number } {
  return { faults: random.pick(SERVICE_FAULTS), lastsMs: random.between(500, 6_000) };
}

function webhookFault(webhooks: number, random: Random): { names: readonly string[]; fault: ReceiverFault } {
  const all = Array.from({ length: webhooks }, (_, i) => `webhook/${i}`);
  const names = random.chance(0.3) ? all : all.filter(() => random.chance(0.4));
  switch (random.pick(["rate_limited", "server_error", "hang", "slow", "slow"])) {
    case "slow":
      return { names, fault: { afterMs: random.between(50, 2_000) } };
    case "rate_limited":
      return { names, fault: { status: 429, headers: { "retry-after": String(1 + random.whole(3)) } } };
    case "server_error":
      return { names, fault: { status: 500 } };
    case "hang":
      return { names, fault: "hang" };
  }
}

const INCIDENTS = { names: ["pagerduty/", "phone/"] };
const INCIDENT_FAULTS: readonly [ReceiverFault, ...ReceiverFault[]] = [
  { status: 500 },
  { status: 429, headers: { "retry-after": "2" } },
  { afterMs: Number.POSITIVE_INFINITY },
];

type AppFault = { readonly method: string; readonly answer: SlackAnswer };

/** Before and after the post is accepted, while its root is edited, and while the channel is searched. */
const APP_FAULTS: readonly [AppFault, ...AppFault[]] = [
  { method: "chat.postMessage", answer: "resetAfter" },
  { method: "chat.postMessage", answer: "hangAfter" },
  { method: "chat.postMessage", answer: "reset" },
  { method: "chat.postMessage", answer: { status: 429, retryAfter: 2 } },
  { method: "chat.postMessage", answer: "internal_error" },
  { method: "chat.update", answer: { status: 429, retryAfter: 2 } },
  { method: "chat.update", answer: "hangAfter" },
  { method: "chat.update", answer: "internal_error" },
  { method: "conversations.history", answer: { status: 429, retryAfter: 1 } },
  { method: "conversations.history", answer: "reset" },
  { method: "conversations.replies", answer: { status: 500 } },
  { method: "*", answer: "token_revoked" },
];
