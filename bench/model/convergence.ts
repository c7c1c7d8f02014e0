/** Convergence: what fires is what an empty store reaches on the same world and configuration. */

import { type Alert, groupOfSubject } from "../../src/health/alert.ts";
import type { Rule } from "../../src/health/model.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { windowUptime } from "../../src/health/uptime.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { Failure } from "./account.ts";
import type { Lenswatch } from "./lenswatch.ts";
import { bucketAt } from "./service.ts";
import type { Camera, World } from "./world.ts";

interface Standing {
  readonly world: World;
  readonly rules: readonly Rule[];
  readonly now: Instant;
  readonly relabelled: boolean;
  /** How long nothing has changed. */
  readonly stillMs: number;
  /** By recording, where they may be the reason. */
  readonly outages?: Outages;
}

type Outages = ReadonlyMap<string, RecordingState["outage"]>;

const HOUR = 3_600_000;
/** Two processes read figures at other times, this far apart at most. */
const READ_APART_MS = 3 * HOUR;

export async function compareFiring(run: Lenswatch, fresh: Lenswatch, standing: Standing): Promise<Failure[]> {
  const [ours, theirs] = await Promise.all([firingOf(run), firingOf(fresh)]);
  const outages = await outagesOf(run);
  return [
    ...onlyIn(ours, theirs, standing, "fires, though an empty store does not come to it"),
    ...onlyIn(theirs, ours, { ...standing, outages }, "does not fire, though an empty store comes to it"),
  ];
}

/** The last outage of each recording that an alert was about: an empty store does not know it. */
async function outagesOf(run: Lenswatch): Promise<Outages> {
  const { shards } = await run.setup().engine.fleet();
  return new Map(shards.flatMap(({ recordings }) => [...recordings].map(([id, { outage }]) => [id, outage])));
}

async function firingOf({ runtime }: Lenswatch): Promise<Alert[]> {
  return (await runtime.store.shards.alerts()).filter(({ state }) => state === "firing");
}

/** Names of recordings and locations are frozen when an alert begins, and may be older; so are labels of rules. */
function identityOf({ labels, subject }: Alert, { relabelled }: Standing): string {
  const own = relabelled ? "" : `severity="${labels.severity ?? ""}"`;
  return `${labels.alertname}{${own}} ${subject.kind}/${subject.id}`;
}

/** Each as often as it is there. */
function onlyIn(some: readonly Alert[], others: readonly Alert[], standing: Standing, what: string): Failure[] {
  const left = others.map((alert) => identityOf(alert, standing));
  return some.flatMap((alert): Failure[] => {
    const identity = identityOf(alert, standing);
    const found = left.indexOf(identity);
    if (found >= 0) left.splice(found, 1);
    if (found >= 0 || isExplained(alert, standing)) return [];
    return [{ invariant: "convergence", what: `${identity}: ${what}`, subject: alert.subject, key: alert.key }];
  });
}

/** What may differ by design. */
function isExplained({ facts, subject, ruleId }: Alert, standing: Standing): boolean {
  const { world, rules, stillMs } = standing;
  const when = rules.find(({ id }) => id === ruleId)?.when;
  if (facts.paused) return true;
  if (when?.kind === "location_offline")
    return isTooSmallToBegin(({ locationId }) => locationId === subject.id, when, world);
  const group = groupOfSubject(subject);
  if (group && when?.kind === "group_offline") {
    const isOn = ({ server }: Camera) => server === group.value;
    return isTooSmallToBegin(isOn, when, world) || isOneLocation(isOn, world);
  }
  const camera = world.cameras.find(({ id }) => id === subject.id);
  if (!camera) return false;
  if (when?.kind === "overall_uptime")
    return isNearThreshold(camera, when, standing) || isAfterOutage(standing.outages?.get(camera.id), when, standing);
  if (facts.problem !== "degraded" && facts.problem !== "low_quality") return false;
  // Without evidence an alert goes on for a day of sweeps within its schedule.
  const hasEvidence = camera.status !== "offline" && camera.quality !== undefined;
  return !hasEvidence && (stillMs < 30 * HOUR || camera.hours !== undefined);
}

/** `min_recordings` limits only the beginning: what fires already goes on while those that are left are offline. */
function isTooSmallToBegin(
  isIn: (camera: Camera) => boolean,
  { minRecordings, clearBelow }: { readonly minRecordings: number; readonly clearBelow: number },
  { cameras }: World,
): boolean {
  const left = cameras.filter((one) => isIn(one) && one.listed);
  const offline = left.filter(({ status }) => status === "offline").length;
  return left.length > 0 && left.length < minRecordings && offline / left.length >= clearBelow;
}

/** A camera server that is all of one location is left to the rule on locations, unless its alert fires already. */
function isOneLocation(isOn: (camera: Camera) => boolean, { cameras }: World): boolean {
  const [first, ...others] = new Set(cameras.filter(isOn).map(({ locationId }) => locationId));
  return others.length === 0 && cameras.every((one) => one.locationId !== first || isOn(one));
}

/** A low uptime is no news within its window after an outage that makes for half of the loss. */
function isAfterOutage(
  outage: RecordingState["outage"],
  { below, overMs }: { readonly below: number; readonly overMs: number },
  { now }: Pick<Standing, "now">,
): boolean {
  if (!outage) return false;
  const { from, until = now } = outage;
  return now - until < overMs + READ_APART_MS && until - from >= ((1 - below) * overMs) / 2;
}

function isNearThreshold(
  camera: Camera,
  { below, overMs }: { readonly below: number; readonly overMs: number },
  { world, now }: Pick<Standing, "world" | "now">,
): boolean {
  const zone = world.places.find(({ id }) => id === camera.locationId)?.timezone ?? "UTC";
  const buckets = [];
  for (let at = now - (now % HOUR) - overMs; at <= now; at += HOUR) buckets.push(bucketAt(camera, at, zone));
  const ratio = windowUptime(buckets, { now, overMs });
  return ratio === undefined || Math.abs(ratio - below) < READ_APART_MS / overMs;
}
