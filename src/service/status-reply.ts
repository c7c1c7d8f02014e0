/**
 * Reads replies of `status/uptime` row by row, beside the last reply to the same request: a row with the same bytes but
 * for `last_seen_utc` is not parsed again, as parsing costs more than all the rest of a sweep.
 */
import type { StatusSnapshot } from "../health/recording.ts";
import { tryJson } from "../lib/json-values.ts";
import type { ReportDeviation } from "./reporter.ts";
import { StatusFrame } from "./status-frame.ts";
import { createParseTimes, createStatusRows, documentedReading } from "./status-uptime-rows.ts";

const SEEN = Buffer.from('"last_seen_utc"');
const code = (mark: string) => mark.charCodeAt(0);
const [OPEN, CLOSE, LIST, LIST_END] = [code("{"), code("}"), code("["), code("]")];
const [QUOTE, ESCAPE, COMMA, COLON] = [code('"'), code("\\"), code(","), code(":")];

/** Rows that are compared with those of the last reply at once. */
const COMPARED = 32;

export function createStatusReplies(report: ReportDeviation) {
  const frames = new WeakMap<object, StatusFrame>();
  const parseTime = createParseTimes();
  return {
    /**
     * The snapshot of a reply; undefined where it is no list. `last`, of the same request, is not to be read any more: its
     * readings become those of this one where only their times differ, and it may be this one.
     */
    read(text: Buffer, last: StatusSnapshot | undefined): StatusSnapshot | undefined {
      const known = last && frames.get(last);
      if (known?.isFollowedBy(text)) return last;
      if (last) frames.delete(last);
      const frame = known ?? new StatusFrame(parseTime);
      const snapshot = new ReplyReader(text, frame, report).read();
      if (snapshot) frames.set(snapshot, frame);
      return snapshot;
    },

    /** It is a snapshot that `read` gave. */
    isSnapshot: (value: unknown): value is StatusSnapshot => frames.has(Object(value)),
  };
}

class ReplyReader {
  readonly #text: Buffer;
  readonly #frame: StatusFrame;
  readonly #rows: ReturnType<typeof createStatusRows>;
  #at = 0;
  #row = 0;

  constructor(text: Buffer, frame: StatusFrame, report: ReportDeviation) {
    this.#text = text;
    this.#frame = frame;
    this.#rows = createStatusRows(report);
  }

  read(): StatusSnapshot | undefined {
    if (!this.#skip(LIST)) return undefined;
    while (!this.#skip(LIST_END)) {
      if (this.#row > 0 && !this.#skip(COMMA)) return undefined;
      this.#skipSpace();
      if (!this.#readKnown() && !this.#readOther()) return undefined;
    }
    this.#skipSpace();
    if (this.#at !== this.#text.length) return undefined;
    this.#frame.end(this.#text, this.#row);
    return this.#rows.snapshot(this.#frame.readings);
  }

  /** Rows that were at these places, if any still are. */
  #readKnown(): boolean {
    const followed = this.#frame.follow(this.#text, this.#at, this.#row, COMPARED);
    this.#row += followed;
    if (followed > 0) this.#at = this.#frame.endOf(this.#row - 1);
    return followed > 0;
  }

  #readOther(): boolean {
    const from = this.#at;
    const to = this.#endOfValue(from);
    const row = tryJson(this.#text.toString("utf8", from, to));
    if (row === undefined) return false;
    const documented = documentedReading(row);
    const seen = documented && this.#placesOfTime(Object(row).last_seen_utc, from, to);
    this.#frame.put(this.#row++, documented ?? this.#rows.readOther(row), from, to, seen);
    this.#at = to;
    return true;
  }

  /** The places at which the only time of a row begins and ends, both its end where it has none; undefined where that is not clear. */
  #placesOfTime(time: unknown, from: number, to: number): [number, number] | undefined {
    if (time === null || time === undefined) return [to, to];
    const seenFrom = this.#placeOfTime(from, to);
    const seenTo = seenFrom + String(time).length;
    return this.#text.toString("latin1", seenFrom, seenTo + 1) === `${time}"` ? [seenFrom, seenTo] : undefined;
  }

  /** The place at which the only time of a row begins; −1 where it is not clear. */
  #placeOfTime(from: number, to: number): number {
    const row = this.#text.subarray(from, to);
    const key = row.indexOf(SEEN);
    if (key < 0 || row.indexOf(SEEN, key + 1) >= 0) return -1;
    const at = this.#at;
    this.#at = from + key + SEEN.length;
    const isText = this.#skip(COLON) && this.#skip(QUOTE);
    const begin = this.#at;
    this.#at = at;
    return isText ? begin : -1;
  }

  /** The end of the value of a list that begins there: before the next comma, or the end of the list. */
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
