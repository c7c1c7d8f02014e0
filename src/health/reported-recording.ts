/**
 * Answers about recordings, and the belief in them: a field that an answer lacks keeps its last value, and
 * one that many recordings of an answer change at once is believed when a later answer says so again.
 */
import { areChangesBelieved } from "./belief.ts";
import type { Recording, ReportedRecording } from "./recording.ts";

/** Fields that change for one recording, or for a few: names are texts for people, and change at will. */
const DOUBTED = ["organisation", "cameraServer", "locationId", "useUploadingSchedule", "timezone"] as const;
export type DoubtedField = (typeof DOUBTED)[number];

/** Values of the last answer that were not believed, by recording. */
export type Claims = Map<string, Partial<ReportedRecording>>;

/** The recording with what the answer lacks: what was known before, or nothing in particular. */
export function completed(reported: ReportedRecording, known?: Recording): Recording {
  const { id } = reported;
  return {
    id,
    name: reported.name ?? known?.name ?? id,
    organisation: reported.organisation ?? known?.organisation ?? "",
    cameraServer: reported.cameraServer ?? known?.cameraServer ?? "",
    locationId: reported.locationId ?? known?.locationId ?? "",
    useUploadingSchedule: reported.useUploadingSchedule ?? known?.useUploadingSchedule ?? false,
    timezone: reported.timezone ?? known?.timezone ?? "UTC",
  };
}

/** The recordings of one answer as they are known from now on, in its order, and the fields that were not believed. */
export function believe(
  reported: readonly ReportedRecording[],
  knownOf: (id: string) => Recording | undefined,
  claims: Claims,
): { readonly recordings: readonly Recording[]; readonly doubted: readonly DoubtedField[] } {
  const known = reported.filter(({ id }) => knownOf(id));
  const isNew = (one: ReportedRecording, field: DoubtedField) => {
    const [said, before] = [one[field], knownOf(one.id)?.[field]];
    return said !== undefined && before !== undefined && said !== before && claims.get(one.id)?.[field] !== said;
  };
  const doubted = DOUBTED.filter((field) => {
    const absent = known.filter((one) => isNew(one, field)).length;
    return !areChangesBelieved({ known: known.length, absent });
  });
  const recordings = reported.map((one) => {
    const kept = doubted.filter((field) => isNew(one, field));
    const without = Object.fromEntries(kept.map((field) => [field, undefined]));
    const recording = completed(kept.length > 0 ? { ...one, ...without } : one, knownOf(one.id));
    if (kept.length > 0) claims.set(one.id, Object.fromEntries(kept.map((field) => [field, one[field]])));
    else claims.delete(one.id);
    return recording;
  });
  return { recordings, doubted };
}
