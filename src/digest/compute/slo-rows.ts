/** Lost time by group of recordings, and of the recordings that objectives are about. */
import { nameWithin } from "../../lib/format.ts";
import { createLossRows, type ReportGroup, type ReportRow, type Slo, type SloRow } from "../../report/report.ts";
import { budgetLeft, type LossTally } from "../../report/tally.ts";
import type { DigestRecording } from "../digest.ts";
import { isChosen } from "./recording.ts";

/** Objectives to which the recordings that they are about are added. */
export function createSloRows(slos: readonly Slo[]) {
  const standings = slos.map((slo) => ({ slo, rows: createLossRows<SloRow>() }));
  return {
    add(subject: DigestRecording, loss: LossTally): void {
      for (const { slo, rows } of standings)
        if (isChosen(slo.matchers, subject)) rows.add({ ...reportGroupOf(subject, slo.by), slo, loss });
    },
    /** In the order of the configuration, the least error budget left first. */
    sorted: (): SloRow[] => standings.flatMap(({ rows }) => rows.sorted().sort((a, b) => leftOf(a) - leftOf(b) || 0)),
  };
}

function leftOf({ slo, loss }: SloRow): number {
  return budgetLeft(loss, slo.objective) ?? Number.POSITIVE_INFINITY;
}

/** The group of a recording; of no kind of group: all of them. */
export function reportGroupOf(
  { recording, locationName }: DigestRecording,
  by: ReportGroup | undefined,
): Pick<ReportRow, "id" | "name"> {
  const { id, name, locationId, organisation, cameraServer } = recording;
  if (by === "location") return { id: locationId, name: locationName };
  if (by === "recording") return { id, name: `${locationName} · ${nameWithin(name, locationName)}` };
  const value = by === "organisation" ? organisation : by === "camera_server" ? cameraServer : "";
  return { id: value, name: value };
}
