/** What lenswatch has been answered, and when: what a message may say is measured against it. */
import type { Alert } from "../../src/health/alert.ts";
import type { Reading, StatusSnapshot } from "../../src/health/recording.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { World } from "./world.ts";

interface Known {
  locationId: string | undefined;
  row: string;
  changedAt: Instant;
}

export class Readings {
  /** A process began to work. */
  startedAt: Instant = 0;
  readonly #now: () => Instant;
  /** A reading may be this old, ms: from before the last start, or slow. */
  readonly #gapMs: number;
  readonly #freshMs: number;
  readonly #world: World;
  readonly #byRecording = new Map<string, Known>();
  readonly #readAt = new Map<string, Instant>();
  readonly #changedAt = new Map<string, Instant>();

  constructor(options: { now(): Instant; gapMs: number; freshMs: number; world: World }) {
    this.#now = options.now;
    this.#gapMs = options.gapMs;
    this.#freshMs = options.freshMs;
    this.#world = options.world;
  }

  note({ readings, unidentified }: StatusSnapshot, locations: readonly string[]): void {
    const now = this.#now();
    const present = new Set(readings.map(({ recordingId }) => recordingId));
    for (const id of locations) this.#readAt.set(id, now);
    for (const reading of readings) this.#noteRow(reading, now);
    for (const [id, known] of this.#byRecording) {
      if (present.has(id) || unidentified > 0 || !locations.includes(known.locationId ?? "")) continue;
      if (known.row !== "absent") this.#noteChange(id, known, { row: "absent", locationId: known.locationId }, now);
    }
  }

  /** Why nothing may be said of the alert's subject as if it were known; undefined where that is not so. */
  unread({ subject, labels }: Alert, now: Instant): string | undefined {
    if (subject.kind !== "recording" && subject.kind !== "location") return undefined;
    const own = subject.kind === "recording" ? this.#byRecording.get(subject.id)?.locationId : subject.id;
    const readAt = this.#readAt.get(own ?? labels.location_id ?? "") ?? 0;
    if (readAt < this.startedAt && now - readAt > this.#gapMs) return "though nothing was read since the start";
    return now - readAt > this.#freshMs
      ? `though nothing was read for ${Math.round((now - readAt) / 60_000)} min`
      : undefined;
  }

  /** Why the alert cannot have recovered: nothing that was read of it has changed since it fired. */
  untrueEnd({ endReason, subject, firedAt, labels, facts }: Alert): string | undefined {
    if (endReason !== "recovered" || facts.problem === "missing") return undefined;
    if (subject.kind !== "recording" && subject.kind !== "location") return undefined;
    if (facts.problem === "low_uptime") return undefined;
    const ids = subject.kind === "recording" ? [subject.id] : this.#recordingsAt(labels.location_id ?? "");
    if (this.#world.cameras.some(({ id, hours }) => hours && ids.includes(id))) return undefined;
    const changedAt = Math.max(...ids.map((id) => this.#changedAt.get(id) ?? 0));
    return changedAt > firedAt ? undefined : "though no reading of it has changed since it fired";
  }

  #recordingsAt(locationId: string): string[] {
    return [...this.#byRecording].flatMap(([id, known]) => (known.locationId === locationId ? [id] : []));
  }

  #noteRow({ recordingId, locationId, status, averageQuality }: Reading, now: Instant): void {
    const row = `${status} ${averageQuality}`;
    const known = this.#byRecording.get(recordingId);
    if (known?.row !== row || known.locationId !== locationId)
      this.#noteChange(recordingId, known, { row, locationId }, now);
  }

  #noteChange(id: string, known: Known | undefined, next: Pick<Known, "row" | "locationId">, now: Instant): void {
    this.#byRecording.set(id, { ...next, changedAt: now });
    this.#changedAt.set(id, now);
    // Where it was before counts for the location it left.
    if (known && known.locationId !== next.locationId)
      for (const other of this.#recordingsAt(known.locationId ?? "")) this.#changedAt.set(other, now);
  }
}
