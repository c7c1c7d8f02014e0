/**
 * Reads replies of `status/uptime` row by row, beside the last reply to the same request: a row with the same bytes but
 * for `last_seen_utc` is not parsed again, as parsing costs more than all the rest of a sweep.
 */
import type { Reading, StatusSnapshot } from "../health/recording.ts";
import { tryJson } from "../lib/json-values.ts";
import type { ReportDeviation } from "./reporter.ts";
import { createParseTimes, createStatusRows } from "./status-uptime-rows.ts";

/** The bytes of a reply, and where its rows are in them. */
interface Frame {
  readonly bytes: Buffer;
  /** Undefined where a row is parsed every time. */
  readonly readings: readonly (Reading | undefined)[];
  /** Four of each row: where it begins, where its time begins and ends, where the row ends. */
  readonly places: Int32Array;
}

const SEEN = Buffer.from('"last_seen_utc"');
const code = (mark: string) => mark.charCodeAt(0);
const [OPEN, CLOSE, LIST, LIST_END] = [code("{"), code("}"), code("["), code("]")];
const [QUOTE, ESCAPE, COMMA, COLON] = [code('"'), code("\\"), code(","), code(":")];

export function createStatusReplies(report: ReportDeviation) {
  const frames = new WeakMap<object, Frame>();
  return {
    /** The snapshot of a reply; undefined where it is no list. `last`: of the same request. */
    read(text: Buffer, last: StatusSnapshot | undefined): StatusSnapshot | undefined {
      const reply = new ReplyReader(text, last && frames.get(last), report);
      const snapshot = reply.read();
      if (snapshot) frames.set(snapshot, reply.frame());
      return snapshot;
    },

    /** Whether it is a snapshot that `read` gave. */
    isSnapshot: (value: unknown): value is StatusSnapshot => frames.has(Object(value)),
  };
}

class ReplyReader {
  readonly #text: Buffer;
  readonly #known: Frame | undefined;
  readonly #rows: ReturnType<typeof createStatusRows>;
  readonly #parseTime = createParseTimes();
  readonly #readings: (Reading | undefined)[] = [];
  readonly #places: number[] = [];
  #at = 0;
  #hasOther = false;

  constructor(text: Buffer, known: Frame | undefined, report: ReportDeviation) {
    this.#text = text;
    this.#known = known;
    this.#rows = createStatusRows(report);
  }

  read(): StatusSnapshot | undefined {
    if (!this.#skip(LIST)) return undefined;
    for (let row = 0; !this.#skip(LIST_END); row++) {
      if (row > 0 && !this.#skip(COMMA)) return undefined;
      if (!this.#readKnown(row) && !this.#readOther()) return undefined;
    }
    this.#skipSpace();
    return this.#at === this.#text.length ? this.#rows.snapshot() : undefined;
  }

  /** A copy of the bytes: the text would keep all that was read from the connection together with it. */
  frame(): Frame {
    const isKnown = !this.#hasOther && this.#known?.readings.length === this.#readings.length;
    if (this.#known && isKnown) return this.#known;
    return { bytes: Buffer.from(this.#text), readings: this.#readings, places: Int32Array.from(this.#places) };
  }

  /** The row that was at this place, if it still is. */
  #readKnown(row: number): boolean {
    const reading = this.#known?.readings[row];
    if (!this.#known || !reading) return false;
    const { places } = this.#known;
    const [from, seenFrom] = [places[4 * row] ?? 0, places[4 * row + 1] ?? 0];
    const [seenTo, to] = [places[4 * row + 2] ?? 0, places[4 * row + 3] ?? 0];
    this.#skipSpace();
    const shift = this.#at - from;
    if (!this.#isSame(from, seenFrom, shift) || !this.#isSame(seenTo, to, shift)) return false;
    const lastSeenAt =
      seenTo > seenFrom ? this.#parseTime(this.#text, seenFrom + shift, seenTo + shift) : reading.lastSeenAt;
    if (Number.isNaN(lastSeenAt)) return false;
    const moved = { ...reading, lastSeenAt };
    this.#rows.keep(moved);
    this.#end(moved, from + shift, seenFrom + shift, seenTo + shift, to + shift);
    return true;
  }

  /** Whether these bytes of the known reply stand in this one, so much further on. */
  #isSame(from: number, to: number, shift: number): boolean {
    const bytes = this.#known?.bytes ?? this.#text;
    const text = this.#text;
    for (let i = from; i < to; i++) if (bytes[i] !== text[i + shift]) return false;
    return true;
  }

  #readOther(): boolean {
    this.#hasOther = true;
    this.#skipSpace();
    const from = this.#at;
    const to = this.#endOfValue(from);
    const row = tryJson(this.#text.toString("utf8", from, to));
    if (row === undefined) return false;
    const reading = this.#rows.add(row);
    const seenFrom = this.#placeOfTime(from, to);
    const time: unknown = Object(row).last_seen_utc;
    const seenTo = seenFrom + String(time).length;
    if (time === null || time === undefined) this.#end(reading, from, to, to, to);
    else if (this.#text.toString("latin1", seenFrom, seenTo + 1) === `${time}"`)
      this.#end(reading, from, seenFrom, seenTo, to);
    else this.#end(undefined, from, to, to, to);
    return true;
  }

  #end(reading: Reading | undefined, from: number, seenFrom: number, seenTo: number, to: number): void {
    this.#readings.push(reading);
    this.#places.push(from, seenFrom, seenTo, to);
    this.#at = to;
  }

  /** Where the only time of a row begins; −1 where it is not clear. */
  #placeOfTime(from: number, to: number): number {
    const key = this.#text.indexOf(SEEN, from);
    const again = this.#text.indexOf(SEEN, key + 1);
    if (key < 0 || key >= to || (again >= 0 && again < to)) return -1;
    const at = this.#at;
    this.#at = key + SEEN.length;
    const isText = this.#skip(COLON) && this.#skip(QUOTE);
    const begin = this.#at;
    this.#at = at;
    return isText ? begin : -1;
  }

  /** Where the value of a list ends that begins there: before the next comma, or the end of the list. */
  #endOfValue(from: number): number {
    const text = this.#text;
    let depth = 0;
    let isQuoted = false;
    for (let i = from; i < text.length; i++) {
      const byte = text[i];
      if (isQuoted) {
        if (byte === ESCAPE) i++;
        else if (byte === QUOTE) isQuoted = false;
      } else if (byte === QUOTE) isQuoted = true;
      else if (depth === 0 && (byte === COMMA || byte === LIST_END)) return i;
      else if (byte === OPEN || byte === LIST) depth++;
      else if (byte === CLOSE || byte === LIST_END) depth--;
    }
    return text.length;
  }

  #skip(mark: number): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== mark) return false;
    this.#at++;
    return true;
  }

  /** Space, tab, line feed and carriage return. */
  #skipSpace(): void {
    const text = this.#text;
    while (text[this.#at] === 0x20 || text[this.#at] === 0x0a || text[this.#at] === 0x0d || text[this.#at] === 0x09)
      this.#at++;
  }
}
