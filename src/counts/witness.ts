/**
 * Witnesses at a location of whether people are there: its tills, its other zones, its entries. Assumed: a witness
 * that counts half of what is usual for it, also in time of which it has no data, sees people; one that should have
 * counted some and did not, sees none; one that counts far more than usual, or at night, sees ghosts.
 * Tills err least: where they should have sold and did not, no zone outweighs them. Where witnesses disagree, one that
 * counts more than on a busy day may see ghosts, and those that are silent must not be more recordings.
 */
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import { FAR_MORE, HARDLY } from "./baseline.ts";
import { type Counted, countedSince, type Piece, usualSince } from "./track.ts";
import type { CountsWitness } from "./verdict.ts";

export interface Witness extends Counted, Pick<CountsWitness, "kind" | "zone" | "recordingId"> {}

/** The factor of the day on what is usual, and the variance of this estimate. */
export interface DayFactor {
  readonly factor: number;
  readonly variance: number;
}

/** `confirms`: the counts are contradicted; `silent`: they are not; `none`: there is nothing to ask. */
export type Testimony =
  | ({ readonly is: "confirms"; readonly named: CountsWitness } & DayFactor)
  | { readonly is: "silent" | "none"; readonly named?: undefined };

/** `usual`: of the whole time, also where the witness has no data; `chance`: variance of the count, due to it and to groups. */
type Said = CountsWitness & { readonly expected: number; readonly usual: number; readonly chance: number };

/** Counts as a share of what is usual. */
const STILL_COUNTS = 0.5;
const IS_SILENT = 0.3;
const NO_MORE_THAN = 1.5;
/** Fewer say nothing. */
const SOME = { tills: 3, zone: 5, entries: 5 } as const;
/** So many counted within a day while less than that is usual in an hour. */
const NIGHT = { ms: 24 * HOUR_MS, perHour: 0.3, counted: 20 } as const;
/** So many were to be expected of one that is silent. */
const EXPECTED = 5;

export function hear(witnesses: readonly Witness[], since: Instant): Testimony {
  const said = witnesses.flatMap((witness) => (seesGhosts(witness) ? [] : (countedBy(witness, since) ?? [])));
  const silent = said.filter((one) => one.expected >= EXPECTED && one.counted < one.expected * IS_SILENT);
  const most = silent.length > 0 ? NO_MORE_THAN : FAR_MORE;
  const counting = said.filter(
    ({ kind, counted, usual }) =>
      counted >= SOME[kind] &&
      counted >= usual * STILL_COUNTS &&
      isSane(counted, usual, kind === "tills" ? FAR_MORE : most),
  );
  const named = best(counting);
  const isOutnumbered = named?.kind !== "tills" && sourcesOf(silent) > sourcesOf(counting);
  if (!named || isOutnumbered || silent.some(({ kind }) => kind === "tills"))
    return { is: silent.length > 0 ? "silent" : "none" };
  // The witnesses that see anything are taken together: the one that counts most errs most.
  const seeing = said.filter(
    ({ counted, expected, usual }) => counted >= expected * HARDLY && isSane(counted, usual, most),
  );
  const sum = (of: "counted" | "expected" | "chance") => seeing.reduce((total, one) => total + one[of], 0);
  const expected = Math.max(1, sum("expected"));
  return {
    is: "confirms",
    named,
    factor: Math.min(1, sum("counted") / expected),
    variance: sum("chance") / expected ** 2,
  };
}

function countedBy(witness: Witness, since: Instant): Said | undefined {
  const { kind, zone, recordingId } = witness;
  const { expected, counted, pieces } = countedSince(witness, since);
  const usual = Math.max(expected, usualSince(witness, since));
  const chance = expected * (1 + (witness.baseline?.visit ?? 0));
  return pieces > 0 ? { kind, zone, recordingId, expected, counted, usual, chance } : undefined;
}

function isSane(counted: number, usual: number, most: number): boolean {
  return counted <= usual * most + EXPECTED;
}

function sourcesOf(said: readonly Said[]): number {
  return new Set(said.map(({ kind, zone, recordingId }) => recordingId ?? zone ?? kind)).size;
}

const known = new WeakMap<Iterable<Piece>, boolean>();

/** True of a witness that counts where hardly anybody comes, at night: then it counts by day what is not there, too. */
function seesGhosts({ pieces, now }: Witness): boolean {
  const found = known.get(pieces);
  if (found !== undefined) return found;
  let [counted, opens] = [0, Number.POSITIVE_INFINITY];
  for (const piece of pieces) {
    if (piece.from < now - NIGHT.ms) break;
    if (piece.expected * HOUR_MS >= NIGHT.perHour * (piece.to - piece.from)) opens = piece.from;
    // Visits of the first minutes after it opens may be in the piece before.
    else if (piece.to <= opens - HOUR_MS) counted += piece.counted;
  }
  known.set(pieces, counted >= NIGHT.counted);
  return counted >= NIGHT.counted;
}

/** The tills, then the one that counts most. */
function best(said: readonly Said[]): Said | undefined {
  const rank = ({ kind, counted }: Said) => (kind === "tills" ? Number.POSITIVE_INFINITY : counted);
  return said.reduce<Said | undefined>((most, one) => (most && rank(most) >= rank(one) ? most : one), undefined);
}
