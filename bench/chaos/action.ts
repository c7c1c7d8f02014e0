/** The actions of a chaos run. */

import type { FaultInput, FaultName } from "../../src/simulator/faults.ts";
import type { HttpReply } from "../../test/support/http-sink.ts";
import type { SlackAnswer } from "../../test/support/slack/stand-in.ts";

/** The answer of a webhook, PagerDuty or a phone; `afterMs`: accepted, but answered so much later, or never. */
export type ReceiverFault = HttpReply | "hang" | { readonly afterMs: number };

export type ServiceFault = { [N in FaultName]: readonly [N, FaultInput<N>?] }[FaultName];

/** `app_unanswered`: the Slack app's post is accepted, and its answer never comes. */
export type Ambushed = "webhook" | "app" | "app_unanswered";

/** One action; recordings by their index in the fleet, location by location. */
export type Action = { readonly at: number } & (
  | { readonly kind: "status"; readonly status: "offline" | "online"; readonly recordings: readonly number[] }
  /** Silences one recording, or the location of the first where there are more; `endAfterMs`: deleted then. */
  | {
      readonly kind: "silence";
      readonly recordings: readonly number[];
      readonly lastsMs: number;
      readonly endAfterMs: number | undefined;
    }
  /** Acknowledges the firing alert of a recording, if any; `endAfterMs`: withdrawn then. */
  | { readonly kind: "ack"; readonly recording: number; readonly endAfterMs: number | undefined }
  | { readonly kind: "kill" | "stop"; readonly replicas: readonly number[]; readonly downMs: number }
  /** SIGSTOP, then SIGCONT. */
  | { readonly kind: "freeze"; readonly replica: number; readonly lastsMs: number }
  /** Killed just when the next message has been accepted: the worst moment. */
  | { readonly kind: "ambush"; readonly on: Ambushed; readonly victim: "replicas" | "redis" }
  | { readonly kind: "redis"; readonly downMs: number }
  | { readonly kind: "freeze_redis"; readonly lastsMs: number }
  | { readonly kind: "service"; readonly faults: readonly ServiceFault[]; readonly lastsMs: number }
  /** Of the integrations whose names begin so: `webhook/3`, `pagerduty/`, `phone/`. */
  | {
      readonly kind: "receivers";
      readonly names: readonly string[];
      readonly fault: ReceiverFault;
      readonly lastsMs: number;
    }
  /** A method of Slack's Web API (`*`: all of them) answers so. */
  | { readonly kind: "app"; readonly method: string; readonly answer: SlackAnswer; readonly lastsMs: number }
  /** A button of a root, or the root is deleted; `which`: between 0 and 1, of those there are then. */
  | { readonly kind: "press"; readonly button: "acknowledge" | "silence"; readonly which: number }
  | { readonly kind: "delete_root"; readonly which: number }
);
