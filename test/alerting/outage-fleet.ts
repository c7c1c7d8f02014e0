/** A fleet of recordings at locations and on camera servers, whose outages are evaluated as in the daemon. */

import fc from "fast-check";
import { createInhibitor } from "../../src/alerting/inhibit.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { AlertStates } from "../../src/health/alert-machine.ts";
import { evaluateGroups } from "../../src/health/evaluate-groups.ts";
import type { Outcomes } from "../../src/health/evaluation.ts";
import type { ShardGroups } from "../../src/health/group-counts.ts";
import type { Rule } from "../../src/health/model.ts";
import { configOf, receivers, service } from "../config/text.ts";
import { INTERVAL, reading, recording, START, Story } from "../health/shard-history.ts";

const { rules: defaults, inhibitRules } = configOf(service + receivers);
export const outages = defaults.filter(({ when }) =>
  ["status", "location_offline", "group_offline"].includes(when.kind),
);

/** Recordings as `[location, camera server]`; locations A and B are in one shard. */
export type Layout = readonly (readonly [location: string, server: string])[];

export class Fleet {
  layout: Layout;
  readonly firing = new Map<string, Alert>();
  offline = new Set<number>();
  /** Sweeps are slow: one in so many intervals. */
  rhythm = 1;
  /** Shards whose sweep fails, and locations whose part of it does. */
  failing = new Set<string>();
  unread = new Set<string>();
  outside = new Set<number>();
  rules: readonly Rule[];
  now = START;
  groups: Readonly<Record<string, AlertStates>> = {};
  readonly #shards = new Map<string, { story: Story; groups: ShardGroups | undefined }>();

  constructor(layout: Layout, rules: readonly Rule[] = outages) {
    this.layout = layout;
    this.rules = rules;
    for (const [at] of layout) this.#shards.set(shardOf(at), { story: new Story(), groups: undefined });
  }

  /** One interval; gives what alerts did. */
  tick(): string[] {
    this.now += INTERVAL;
    const out: Outcomes = { transitions: [], decisions: [] };
    const isDue = (this.now / INTERVAL) % this.rhythm === 0;
    for (const [name, shard] of this.#shards)
      if (isDue && !this.failing.has(name)) out.transitions.push(...this.#sweep(name, shard));
    const inventory = { recording: (id: string) => this.#recording(Number(id)), location: () => undefined };
    const evidence = { shards: [...this.#shards.values()].map(({ groups }) => groups), inventory };
    const next = evaluateGroups(this.groups, evidence, { now: this.now, rules: this.rules, intervalMs: INTERVAL }, out);
    this.groups = JSON.parse(JSON.stringify(Object.fromEntries([...next].filter(([, alerts]) => alerts))));
    for (const { kind, alert } of out.transitions) {
      if (kind === "resolved") this.firing.delete(alert.key);
      else this.firing.set(alert.key, alert);
    }
    return out.transitions.map(({ kind, alert }) => [kind, alert.key, alert.endReason].filter(Boolean).join(" "));
  }

  ticks(n: number): string[] {
    return Array.from({ length: n }, () => this.tick()).flat();
  }

  #recording(i: number) {
    const [locationId = "", cameraServer = ""] = this.layout[i] ?? [];
    return recording(String(i), { locationId, cameraServer, organisation: "Acme", timezone: "Europe/London" });
  }

  #sweep(name: string, shard: { story: Story; groups: ShardGroups | undefined }) {
    const { story } = shard;
    const here = this.layout.flatMap(([at], i) => (shardOf(at) === name ? [{ at, i }] : []));
    for (const { i } of here) story.recordings.set(String(i), this.#recording(i));
    const readings = here
      .filter(({ at }) => !this.unread.has(at))
      .map(({ at, i }) => reading(String(i), { locationId: at, status: this.offline.has(i) ? "offline" : "online" }));
    story.now = this.now;
    story.rules = this.rules;
    story.unbroken = true;
    story.locationIds = [...new Set(here.map(({ at }) => at))];
    story.isOutside = (id) => this.outside.has(Number(id));
    story.judge({ readings, unreadable: [], unidentified: 0, unread: this.unread });
    shard.groups = story.last.groups && JSON.parse(JSON.stringify(story.last.groups));
    return story.last.transitions;
  }

  inhibitions() {
    return createInhibitor(inhibitRules)([...this.firing.values()]);
  }

  /** Keys of the alerts that nothing inhibits. */
  notified(): string[] {
    const { inhibitor } = this.inhibitions();
    return [...this.firing.values()]
      .filter((alert) => !inhibitor(alert))
      .map(({ key }) => key)
      .sort();
  }
}

const shardOf = (location: string) => (location === "C" ? "C" : "AB");
export const serverKey = (server: string) => `CameraServerOffline/group/camera_server/${server}`;
export const locationKey = (location: string) => `LocationOffline/location/${location}`;
export const recordingKey = (i: number) => `RecordingOffline/recording/${i}`;

const [places, servers] = [fc.constantFrom("A", "B", "C"), fc.constantFrom("s1", "s2", "s3")];
const some = { minLength: 2, maxLength: 12 };
/** Any layout; one server for each location; one location for each server. */
export const layouts: fc.Arbitrary<Layout> = fc.oneof(
  fc.array(fc.tuple(places, servers), some),
  fc
    .tuple(fc.array(places, some), fc.array(servers, { minLength: 3, maxLength: 3 }))
    .map(([at, of]) => at.map((place) => [place, of["ABC".indexOf(place)] ?? ""] as const)),
  fc
    .tuple(fc.array(servers, some), fc.array(places, { minLength: 3, maxLength: 3 }))
    .map(([on, of]) => on.map((server) => [of[Number(server[1]) - 1] ?? "", server] as const)),
);
/** Whole servers and locations fail more often than chance would have it. */
export const outagesOf = (layout: Layout) =>
  fc
    .array(fc.oneof(fc.constantFrom("A", "B", "C", "s1", "s2", "s3"), fc.nat(layout.length - 1)), { maxLength: 4 })
    .map(
      (parts) =>
        new Set(layout.flatMap((of, i) => (parts.some((part) => part === i || of.includes(String(part))) ? [i] : []))),
    );
export const outageOn = layouts.chain((layout) => fc.tuple(fc.constant<Layout>(layout), outagesOf(layout)));
