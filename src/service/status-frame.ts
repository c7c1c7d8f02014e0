/** A reply of `status/uptime`, beside which the next one to the same request is read: it mostly differs in times only. */
import type { Reading } from "../health/recording.ts";
import type { Instant } from "../lib/clock.ts";

/** The time of a row at a place in bytes, NaN where it is none. */
export type ParseTime = (bytes: Buffer, from: number, to: number) => Instant;

/** Bytes and numbers that a reply may grow by before it needs more room. */
const SPARE = 4_096;

/** In place of the time of a row that is parsed every time. */
const PARSED_ALWAYS = -1;

export class StatusFrame {
  /** Its times may be those of a later reply. */
  #bytes = Buffer.alloc(0);
  readonly #readings: ({ -readonly [Key in keyof Reading]: Reading[Key] } | undefined)[] = [];
  /** Four of each row: where it begins, where its time begins and ends, where the row ends. */
  #places = new Int32Array();
  #isParsed = false;
  readonly #parseTime: ParseTime;

  constructor(parseTime: ParseTime) {
    this.#parseTime = parseTime;
  }

  /** The reading of each row, undefined where it has none; the same list for the next reply. */
  get readings(): readonly (Reading | undefined)[] {
    return this.#readings;
  }

  /** The place at which a row ends. */
  endOf(row: number): number {
    return this.#places[4 * row + 3] ?? 0;
  }

  /** Puts a row in the place of the one before. `seen`: where its time stands, if it may be compared with the next one. */
  put(row: number, reading: Reading | undefined, from: number, to: number, seen?: readonly [number, number]): void {
    if (4 * row >= this.#places.length) {
      const places = new Int32Array(2 * this.#places.length + SPARE);
      places.set(this.#places);
      this.#places = places;
    }
    const [seenFrom, seenTo] = seen ?? [PARSED_ALWAYS, PARSED_ALWAYS];
    this.#places.set([from, seenFrom, seenTo, to], 4 * row);
    this.#readings[row] = reading;
  }

  /** The reply is `text`, of so many rows. It takes the room of the one before: garbage outside of the heap makes V8 collect all of it. */
  end(text: Buffer, rows: number): void {
    const room = Buffer.from(this.#bytes.buffer);
    const enough = room.length < text.length ? Buffer.allocUnsafeSlow(text.length + SPARE) : room;
    text.copy(enough);
    this.#bytes = enough.subarray(0, text.length);
    this.#readings.length = rows;
    this.#isParsed = !this.#readings.some((_, row) => !this.#isComparable(row));
  }

  #isComparable(row: number): boolean {
    return row < this.#readings.length && this.#places[4 * row + 1] !== PARSED_ALWAYS;
  }

  /** The bytes of `text` are this reply but for its times, which the readings have from then on. */
  isFollowedBy(text: Buffer): boolean {
    const rows = this.#readings.length;
    if (!this.#isParsed || text.length !== this.#bytes.length) return false;
    this.#copyTimes(text, 0, 0, rows);
    return this.#bytes.equals(text) && this.#moveTimes(text, 0, 0, rows) === rows;
  }

  /**
   * The number of rows from this one on, `most` of them, stand in `text` from `at` on but for their times, which the readings
   * have from then on. They are rows of the next reply then.
   */
  follow(text: Buffer, at: number, row: number, most: number): number {
    let end = row;
    while (end < row + most && this.#isComparable(end)) end++;
    if (end === row) return 0;
    const places = this.#places;
    const from = places[4 * row] ?? 0;
    const shift = at - from;
    this.#copyTimes(text, shift, row, end);
    const followed = this.#moveTimes(text, shift, row, row + this.#alike(text, shift, from, row, end));
    if (shift !== 0) for (let i = 4 * row; i < 4 * (row + followed); i++) places[i] = (places[i] ?? 0) + shift;
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

  /** The number of these rows that are alike, with the bytes from `from` on before the first. */
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
