/** The group of a report that a recording is in. */
import { nameWithin } from "../../lib/format.ts";
import type { ReportGroup, ReportRow } from "../../report/report.ts";
import type { DigestRecording } from "../digest.ts";

/** The group of a recording. */
export function reportGroupOf(
  { recording, locationName }: DigestRecording,
  by: ReportGroup,
): Pick<ReportRow, "id" | "name"> {
  const { id, name, locationId, organisation, cameraServer } = recording;
  if (by === "location") return { id: locationId, name: locationName };
  if (by === "recording") return { id, name: `${locationName} · ${nameWithin(name, locationName)}` };
  const value = by === "organisation" ? organisation : cameraServer;
  return { id: value, name: value };
}
