/**
 * What a service, or whoever sits between, may do to an answer: to its bytes and to its JSON. Pure; the same seed
 * gives the same harm.
 */
import { POISONS } from "./hostile-names.ts";
import { seededRandom } from "./random.ts";

export interface Dice {
  /** An integer from 0 to below `sides`. */
  roll(sides: number): number;
  pick<T>(of: readonly T[]): T;
}

export function diceOf(seed: number): Dice {
  const random = seededRandom(seed);
  const roll = (sides: number) => Math.floor(random() * sides);
  return { roll, pick: (of) => of[roll(of.length)] as (typeof of)[number] };
}

const BYTES: readonly Buffer[] = [
  [0x00],
  [0xff],
  [0xc3, 0x28],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x28, 0x8c, 0xbc],
  [0xef, 0xbb, 0xbf],
  [0x7c],
  [0x22],
  [0x5c, 0x75, 0x64, 0x38],
  [0x0d, 0x0a],
].map((bytes) => Buffer.from(bytes));

type OnBytes = (bytes: Buffer, at: number, dice: Dice) => Buffer;

const onBytes: readonly OnBytes[] = [
  function flip(bytes, at, dice) {
    const copy = Buffer.from(bytes);
    if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << dice.roll(8));
    return copy;
  },
  function cut(bytes, at) {
    return bytes.subarray(0, at);
  },
  function behead(bytes, at) {
    return bytes.subarray(at);
  },
  function remove(bytes, at, dice) {
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + dice.roll(8))]);
  },
  function repeat(bytes, at, dice) {
    const piece = bytes.subarray(at, at + 1 + dice.roll(60));
    const copies = Array<Buffer>(1 + dice.roll(20)).fill(piece);
    return Buffer.concat([bytes.subarray(0, at), ...copies, bytes.subarray(at)]);
  },
  function insert(bytes, at, dice) {
    return Buffer.concat([bytes.subarray(0, at), dice.pick(BYTES), bytes.subarray(at)]);
  },
  function overwrite(bytes, at, dice) {
    const piece = dice.pick(BYTES);
    return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + piece.length)]);
  },
];

/** One to four changes anywhere. */
export function mutateBytes(bytes: Buffer, dice: Dice): Buffer {
  let changed = bytes;
  for (let times = 1 + dice.roll(4); times > 0; times--) {
    changed = dice.pick(onBytes)(changed, dice.roll(changed.length + 1), dice);
  }
  return changed;
}

/** Parsing it is easy, walking it by recursion is not. */
const DEEP = 50_000;

const NUMBERS = [
  0,
  -0,
  -1,
  0.5,
  1.000001,
  1e21,
  1e308,
  -1e308,
  5e-324,
  Number.MAX_SAFE_INTEGER,
  2 ** 53,
  1_700_000_000,
];
const KEYS = ["__proto__", "constructor", "toString", "ID", "id", "_id", "error", "errors", "status", ""];

/** Values that throw when used as a number or a text. */
const UNCONVERTIBLE = { toString: 1, valueOf: "x", toJSON: null };

function strangeValue(dice: Dice): unknown {
  switch (dice.roll(9)) {
    case 0:
      return null;
    case 1:
      return dice.roll(2) === 0;
    case 2:
      return dice.pick(NUMBERS);
    case 3:
      return [];
    case 4:
      return {};
    case 5:
      return withKey({}, dice.pick(KEYS), dice.pick(POISONS));
    case 6:
      return dice.pick([UNCONVERTIBLE, { status: UNCONVERTIBLE }, [UNCONVERTIBLE]]);
    default:
      return dice.pick(POISONS);
  }
}

/** Also where the key is `__proto__`. */
function withKey(object: object, key: string, value: unknown): object {
  return Object.fromEntries([...Object.entries(object), [key, value]]);
}

/** The value with one to three strange changes somewhere in it. */
export function mutateJson(value: unknown, dice: Dice): unknown {
  let changed = value;
  for (let times = 1 + dice.roll(3); times > 0; times--) changed = somewhere(changed, dice);
  return changed;
}

/** Changes a random part of the value. */
function somewhere(value: unknown, dice: Dice): unknown {
  const stops = dice.roll(4) === 0;
  if (Array.isArray(value) && value.length > 0) {
    if (stops) return onArray(value, dice);
    const at = dice.roll(value.length);
    return value.map((one, i) => (i === at ? somewhere(one, dice) : one));
  }
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    const entries = Object.entries(value);
    if (stops) return onEntries(entries, dice);
    const at = dice.roll(entries.length);
    return Object.fromEntries(entries.map(([key, one], i) => [key, i === at ? somewhere(one, dice) : one]));
  }
  return strangeValue(dice);
}

function onArray(list: readonly unknown[], dice: Dice): unknown {
  const at = dice.roll(list.length);
  switch (dice.roll(5)) {
    case 0:
      return list.toSpliced(at, 1);
    case 1:
      return list.toSpliced(at, 0, list[at]);
    case 2:
      return list.toSpliced(at, 0, strangeValue(dice));
    case 3:
      return { data: list, [dice.pick(KEYS)]: strangeValue(dice) };
    default:
      return strangeValue(dice);
  }
}

function onEntries(entries: readonly (readonly [string, unknown])[], dice: Dice): unknown {
  const at = dice.roll(entries.length);
  const [key = "", one] = entries[at] ?? [];
  switch (dice.roll(4)) {
    case 0:
      return Object.fromEntries(entries.toSpliced(at, 1));
    case 1:
      return Object.fromEntries(entries.toSpliced(at, 1, [dice.pick(KEYS), one]));
    case 2:
      return withKey(Object.fromEntries(entries), dice.pick(KEYS), strangeValue(dice));
    default:
      return Object.fromEntries(entries.toSpliced(at, 1, [key, strangeValue(dice)]));
  }
}

const TOKENS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "00", "1.", "0x10", "undefined", "'x'"];

/** JSON text of the value with one of its numbers, or its end, written as JSON does not write it. */
export function misspelt(value: unknown, dice: Dice): string {
  const text = JSON.stringify(value) ?? "";
  const numbers = [...text.matchAll(/(?<=[:,[])-?\d[\d.e+-]*(?=[,}\]])/gi)];
  if (numbers.length === 0) return `${text}${dice.pick(TOKENS)}`;
  const { index, 0: number } = dice.pick(numbers);
  return `${text.slice(0, index)}${dice.pick(TOKENS)}${text.slice(index + number.length)}`;
}

const MARK = "a place for something large";

/** JSON text of the value with something very large, or very deep, somewhere in it. */
export function bloated(value: unknown, dice: Dice): string {
  const large = [
    () => `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`,
    () => `${'{"error":'.repeat(DEEP)}1${"}".repeat(DEEP)}`,
    () => `{"error":${"[".repeat(DEEP)}${"]".repeat(DEEP)}}`,
    () => JSON.stringify(Array(100_000).fill(0)),
    () => JSON.stringify(Array(100_000).fill({})),
    () => JSON.stringify("x".repeat(1_000_000)),
    () => JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))),
    () => `1${"0".repeat(100_000)}`,
  ];
  const text = JSON.stringify(dice.roll(4) === 0 ? MARK : marked(value, dice));
  return text.replace(JSON.stringify(MARK), dice.pick(large));
}

/** The value with the mark instead of one of its values. */
function marked(value: unknown, dice: Dice): unknown {
  if (typeof value !== "object" || value === null || dice.roll(4) === 0) return MARK;
  const keys = Object.keys(value);
  if (keys.length === 0) return MARK;
  const chosen = dice.pick(keys);
  if (Array.isArray(value)) return value.map((one, i) => (String(i) === chosen ? marked(one, dice) : one));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, key === chosen ? marked(one, dice) : one]));
}
