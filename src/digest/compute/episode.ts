/** Alerts about all recordings of a location or a camera server. */
import { groupOfSubject } from "../../health/alert.ts";
import type { Recording } from "../../health/recording.ts";
import type { LossEvidence } from "../../report/attribute.ts";
import type { DigestScope } from "../digest.ts";

/** Cameras of one location are not reported offline in the same second. */
const TOGETHER_WITHIN_MS = 5 * 60_000;

/** The key of a location or a camera server. */
export function groupKey(cause: "location" | "camera_server", id: string): string {
  return `${cause}/${id}`;
}

/**
 * Gives the alerts about all recordings of a recording's location and camera server: the larger group first, of equal
 * ones the location. Outages that begin or end a few minutes apart are the same one.
 */
export function createWider({ episodes, groupSizes, now }: DigestScope) {
  const spans = Map.groupBy(episodes, ({ problem, subject }) => {
    if (problem === "location_offline") return groupKey("location", subject.id);
    return problem === "camera_server_offline" ? groupKey("camera_server", groupOfSubject(subject)?.value ?? "") : "";
  });
  return ({ locationId, cameraServer }: Recording): LossEvidence["wider"] => {
    const causes = [
      ["location", groupKey("location", locationId)],
      ["camera_server", groupKey("camera_server", cameraServer)],
    ] as const;
    const size = (key: string) => groupSizes?.get(key) ?? 0;
    return causes
      .filter(([, key]) => spans.has(key))
      .sort(([, a], [, b]) => size(b) - size(a))
      .map(([cause, key]) => ({
        cause,
        spans: (spans.get(key) ?? []).map(({ startsAt, endsAt = now }) => ({
          from: startsAt - TOGETHER_WITHIN_MS,
          to: endsAt + TOGETHER_WITHIN_MS,
        })),
      }));
  };
}
