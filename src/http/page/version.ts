/** The version of the shown state: the same at every replica, whatever the order of rows. */
import { silenceState } from "../../alerting/silence.ts";
import { currentStatus, recordingsById } from "../../health/fleet-snapshot.ts";
import { recordingStatuses } from "../../health/recording.ts";
import type { AlertStates } from "../../health/shard-state.ts";
import type { ActiveAlert } from "../deps.ts";
import { eachRow } from "../paging.ts";
import type { PageData } from "./page-data.ts";

/** A short text that changes with the shown state; ages and figures that change all the time do not count. */
export function* versionOf({ fleet, suppressed, silences, moment }: PageData): Generator<void, string> {
  const recordings = yield* recordingsById(fleet);
  let states = 0;
  yield* eachRow(recordings.values(), (state) => {
    const status = recordingStatuses.indexOf(currentStatus(state, fleet.now, fleet.statusIntervalMs));
    states += mixed(state.since, status + pendingOf(state.alerts) * recordingStatuses.length);
  });
  let alerts = 0;
  yield* eachRow(suppressed.values(), (active) => {
    alerts += textSum(suppressionText(active));
  });
  for (const silence of silences.values()) {
    alerts += textSum(`${silence.id} ${silence.updatedAt} ${silenceState(silence, moment.now)}`);
  }
  return [recordings.size, states >>> 0, suppressed.size, alerts >>> 0].map((n) => n.toString(36)).join("-");
}

function pendingOf(alerts: AlertStates | undefined): number {
  return Object.values(alerts ?? {}).filter(({ state }) => state === "pending").length;
}

function suppressionText({ alert, silencedBy, inhibitedBy, mutedBy, acknowledgement }: ActiveAlert): string {
  const suppressions = [silencedBy, inhibitedBy, mutedBy].map((ids = []) => ids.toSorted().join());
  return [alert.id, ...suppressions, acknowledgement?.at ?? "", alert.facts.paused ? "paused" : ""].join("|");
}

/** Sums stay below 2^53: a hundred thousand of 32 bits. */
function mixed(a: number, b: number): number {
  const low = Math.imul(a | 0, 0x9e3779b1) ^ Math.imul(Math.floor(a / 2 ** 32) + 1, 0x85ebca6b);
  return Math.imul(low ^ (low >>> 15), 0xc2b2ae35 + b * 2) >>> 0;
}

/** FNV-1a, 32 bits. */
function textSum(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
