/** A slow reference implementation of the backtest: sweep by sweep, reading every bucket each time. */

import type { ReplaySetup, TimeSpan } from "../../src/backtest/setup.ts";
import type { Rule } from "../../src/health/model.ts";
import type { RecordingUptime } from "../../src/health/recording.ts";
import { windowUptime } from "../../src/health/uptime.ts";
import { isBelow } from "../../src/lib/format.ts";
import { HOUR } from "./histories.ts";

export interface Episode {
  readonly rule: string;
  readonly subject: string;
  readonly firedAt: number;
  /** Undefined: it still fires at the end. */
  readonly endedAt: number | undefined;
}

interface Look {
  readonly status: "online" | "offline" | undefined;
  readonly outside: boolean;
}

export function bruteForce(uptimes: readonly RecordingUptime[], setup: ReplaySetup, span: TimeSpan): Episode[] {
  const episodes: Episode[] = [];
  const machines = new Map<string, ReturnType<typeof machine>>();
  const feed = (rule: Rule, subject: string, now: number, evidence: (firing: boolean) => boolean | undefined) => {
    const key = `${rule.id}/${subject}`;
    const one = machines.get(key) ?? machine(rule, subject, setup.statusIntervalMs, episodes);
    machines.set(key, one);
    one.see(now, evidence);
  };
  const first = Math.ceil(span.from / setup.statusIntervalMs) * setup.statusIntervalMs;
  for (let now = first; now < span.to; now += setup.statusIntervalMs) {
    const looks = uptimes.map((uptime) => lookAt(uptime, now));
    for (const rule of setup.rules) {
      if (rule.when.kind === "location_offline") {
        for (const id of new Set(uptimes.map((one) => one.recording.locationId))) {
          const here = looks.filter((_, i) => uptimes[i]?.recording.locationId === id);
          feed(rule, id, now, (firing) => locationEvidence(rule, here, firing));
        }
        continue;
      }
      uptimes.forEach((uptime, i) => {
        const look = looks[i];
        if (!look) return;
        feed(rule, uptime.recording.id, now, (firing) => recordingEvidence(rule, uptime, look, { now, firing, setup }));
      });
    }
  }
  for (const one of machines.values()) one.end();
  return episodes;
}

function lookAt({ recording, buckets }: RecordingUptime, now: number): Look {
  const bucket = buckets.find(({ startAt }) => startAt <= now && now < startAt + HOUR);
  if (!bucket) return { status: undefined, outside: false };
  if (recording.useUploadingSchedule && !bucket.withinSchedule) return { status: undefined, outside: true };
  const { segmentsExpected: expected, segmentsReceived: received } = bucket;
  if (expected === 0 || received === undefined) return { status: undefined, outside: false };
  return { status: received === 0 ? "offline" : "online", outside: false };
}

function recordingEvidence(
  { when, respectSchedule }: Rule,
  { buckets }: RecordingUptime,
  { status, outside }: Look,
  { now, firing, setup }: { now: number; firing: boolean; setup: ReplaySetup },
): boolean | undefined {
  if (respectSchedule && outside) return undefined;
  if (when.kind === "status") return status === undefined ? undefined : status === "offline";
  if (when.kind !== "overall_uptime") return undefined;
  const workedOutAt = Math.floor(now / setup.uptimeIntervalMs) * setup.uptimeIntervalMs;
  const ratio = windowUptime(buckets, { now: workedOutAt, overMs: when.overMs });
  return ratio === undefined ? undefined : isBelow(ratio, firing ? when.clearAbove : when.below);
}

function locationEvidence(
  { when, respectSchedule }: Rule,
  looks: readonly Look[],
  firing: boolean,
): boolean | undefined {
  if (when.kind !== "location_offline") return undefined;
  const watched = looks.filter(({ outside }) => !(respectSchedule && outside));
  const fresh = watched.filter(({ status }) => status !== undefined);
  const needed = firing ? 1 : Math.max(1, when.minRecordings);
  if (fresh.length < needed) return watched.length > 0 && watched.length < needed ? false : undefined;
  const dark = fresh.filter(({ status }) => status === "offline").length;
  return dark / fresh.length >= (firing ? when.clearBelow : when.atLeast);
}

/** Pending, firing and clearing as Prometheus counts them; only time between two sweeps that saw something counts. */
function machine(rule: Rule, subject: string, intervalMs: number, episodes: Episode[]) {
  let phase: "idle" | "pending" | "firing" | "clearing" = "idle";
  let [counted, seenAt, firedAt] = [0, 0, 0];
  const fire = (now: number) => {
    phase = "firing";
    firedAt = now;
  };
  const tell = (endedAt: number | undefined) => episodes.push({ rule: rule.id, subject, firedAt, endedAt });
  return {
    see(now: number, evidence: (firing: boolean) => boolean | undefined): void {
      const suppressions = evidence(phase === "firing" || phase === "clearing");
      if (suppressions === undefined) return;
      const gap = now - seenAt;
      if (gap <= 3 * intervalMs) counted += gap;
      seenAt = now;
      if (suppressions) {
        if (phase === "idle") {
          phase = "pending";
          counted = 0;
        }
        if (phase === "clearing") phase = "firing";
        if (phase === "pending" && counted >= rule.forMs) fire(now);
        return;
      }
      if (phase === "pending") phase = "idle";
      if (phase === "firing") {
        phase = "clearing";
        counted = 0;
      }
      if (phase === "clearing" && counted >= rule.keepFiringForMs) {
        tell(now);
        phase = "idle";
      }
    },
    end() {
      if (phase === "firing" || phase === "clearing") tell(undefined);
    },
  };
}
