/** The things that can happen in a chaos run. */
import type { FaultInput, FaultName } from "../../src/simulator/faults.ts";
import type { SmtpResponses } from "../../test/support/smtp-sink.ts";

export type SlackTrouble =
  | { readonly answer: "rate_limited"; readonly retryAfter: number }
  | { readonly answer: "server_error" }
  | { readonly answer: "hang" }
  /** Accepted, and said so only after a while: who is killed meanwhile cannot know. */
  | { readonly answer: "slow"; readonly afterMs: number };

export type ServiceFault = { [N in FaultName]: readonly [N, FaultInput<N>?] }[FaultName];

/** One thing that happens; recordings by their place in the fleet, location by location. */
export type Action = { readonly at: number } & (
  | {
      readonly kind: "status";
      readonly status: "offline" | "online" | "degraded";
      readonly recordings: readonly number[];
    }
  /** Silences one recording, or the whole location of the first where there are more; `endAfterMs`: ended by hand. */
  | {
      readonly kind: "silence";
      readonly recordings: readonly number[];
      readonly lastsMs: number;
      readonly endAfterMs: number | undefined;
    }
  /** Acknowledges what fires about a recording; where nothing does, nothing happens. */
  | { readonly kind: "ack"; readonly recording: number }
  | { readonly kind: "kill"; readonly replicas: readonly number[]; readonly downMs: number }
  | { readonly kind: "stop"; readonly replicas: readonly number[]; readonly downMs: number }
  /** Stopped in the middle of whatever it does, and then let go on. */
  | { readonly kind: "freeze"; readonly replica: number; readonly lastsMs: number }
  /** Killed in the moment in which the next message has been accepted: the worst there is. */
  | { readonly kind: "ambush"; readonly on: "slack" | "mail"; readonly victim: "replicas" | "redis" }
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
