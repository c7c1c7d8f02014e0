/** A reply of `status/uptime`, beside which the next one to the same request is read: it mostly differs in times only. */
import type { Reading } from "../health/recording.ts";
import type { Instant } from "../lib/clock.ts";

/** The time of a row at a place in bytes, NaN where it is none. */
export type ParseTime = (bytes: Buffer, from: number, to: number) => Instant;

/** Collects the rows of a reply. */
export class StatusRowPlaces {
  /** Undefined where a row is parsed every time. */
  readonly readings: (Reading | undefined)[] = [];
  /** Four of each row: where it begins, where its time begins and ends, where the row ends. */
  readonly places: number[] = [];

  add(reading: Reading | undefined, from: number, seenFrom: number, seenTo: number, to: number): void {
    this.readings.push(reading);
    this.places.push(from, seenFrom, seenTo, to);
  }
}

/** Bytes that a reply may grow by before it needs more room. */
const SPARE = 4_096;

export class StatusFrame {
  /** Its times may be those of a later reply. */
  #bytes = Buffer.alloc(0);
  #readings: readonly ({ -readonly [Key in keyof Reading]: Reading[Key] } | undefined)[] = [];
  #places = new Int32Array();
  #isParsed = false;
  readonly #parseTime: ParseTime;

  constructor(parseTime: ParseTime) {
    this.#parseTime = parseTime;
  }

  /** Replaces the reply, in the room of the one before: garbage outside of the heap makes V8 collect all of it. */
  set(text: Buffer, { readings, places }: StatusRowPlaces): void {
    const room = Buffer.from(this.#bytes.buffer);
    const enough = room.length < text.length ? Buffer.allocUnsafeSlow(text.length + SPARE) : room;
    text.copy(enough);
    this.#bytes = enough.subarray(0, text.length);
    this.#readings = readings;
    this.#places = new Int32Array(places);
    this.#isParsed = !readings.includes(undefined);
  }

  /** Whether `text` is this reply but for its times, which the readings have from then on. */
  isFollowedBy(text: Buffer): boolean {
    const rows = this.#readings.length;
    if (!this.#isParsed || text.length !== this.#bytes.length) return false;
    this.#copyTimes(text, 0, 0, rows);
    return this.#bytes.equals(text) && this.#moveTimes(text, 0, 0, rows) === rows;
  }

  /**
   * How many rows from this one on, `most` of them, stand in `text` from `at` on but for their times, which the readings
   * have from then on. They are added to `rows`.
   */
  follow(text: Buffer, at: number, row: number, most: number, rows: StatusRowPlaces): number {
    let end = row;
    while (end < row + most && this.#readings[end]) end++;
    if (end === row) return 0;
    const places = this.#places;
    const from = places[4 * row] ?? 0;
    const shift = at - from;
    this.#copyTimes(text, shift, row, end);
    const followed = this.#moveTimes(text, shift, row, row + this.#alike(text, shift, from, row, end));
    for (let i = row; i < row + followed; i++) rows.readings.push(this.#readings[i]);
    for (let i = 4 * row; i < 4 * (row + followed); i++) rows.places.push((places[i] ?? 0) + shift);
    return followed;
  }

  /** Takes the times of `text`, which stand so much further on there: what else differs is seen at once then. */
  #copyTimes(text: Buffer, shift: number, row: number, end: number): void {
    const [bytes, places] = [this.#bytes, this.#places];
    for (let i = 4 * row; i < 4 * end; i += 4) {
      const to = places[i + 2] ?? 0;
      for (let at = places[i + 1] ?? 0; at < to; at++) bytes[at] = text[at + shift] ?? 0;
    }
  }

  /** How many of these rows are alike, with the bytes from `from` on before the first. */
  #alike(text: Buffer, shift: number, from: number, row: number, end: number): number {
    const to = this.#places[4 * end - 1] ?? 0;
    if (to + shift <= text.length && this.#bytes.compare(text, from + shift, to + shift, from, to) === 0)
      return end - row;
    if (end === row + 1) return 0;
    const middle = (row + end) >> 1;
    const alike = this.#alike(text, shift, from, row, middle);
    if (row + alike < middle) return alike;
    return alike + this.#alike(text, shift, this.#places[4 * middle - 1] ?? 0, middle, end);
  }

  /** Gives the readings their times; how many, up to one whose time is none. */
  #moveTimes(text: Buffer, shift: number, row: number, end: number): number {
    const places = this.#places;
    for (let i = row; i < end; i++) {
      const [seenFrom, seenTo] = [places[4 * i + 1] ?? 0, places[4 * i + 2] ?? 0];
      if (seenFrom === seenTo) continue;
      const lastSeenAt = this.#parseTime(text, seenFrom + shift, seenTo + shift);
      const reading = this.#readings[i];
      if (Number.isNaN(lastSeenAt) || !reading) return i - row;
      reading.lastSeenAt = lastSeenAt;
    }
    return end - row;
  }
}
