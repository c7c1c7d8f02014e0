import { createDigester } from "../../src/digest/compute/compute.ts";
import type { Digest, DigestRecording, DigestScope, RecordingFigures } from "../../src/digest/digest.ts";
import type { UptimeBucket } from "../../src/health/recording.ts";

/** A scope with all of its recordings. */
export interface DigestInput extends Omit<DigestScope, "names"> {
  readonly recordings: readonly DigestRecording[];
  /** By recording id. */
  readonly uptime: ReadonlyMap<string, readonly UptimeBucket[]>;
}

/** The whole digest at once. */
export function computeDigest(input: DigestInput, mostListed?: number): Digest {
  return digestWith(
    input,
    input.recordings.map((subject) => [subject, { buckets: input.uptime.get(subject.recording.id) ?? [] }]),
    mostListed,
  );
}

/** The digest of recordings with all of their figures. */
export function digestWith(
  scope: Omit<DigestScope, "names">,
  recordings: readonly (readonly [DigestRecording, RecordingFigures])[],
  mostListed?: number,
): Digest {
  const byId = new Map(recordings.map(([{ recording }]) => [recording.id, recording.name]));
  const places = new Map(recordings.map(([{ recording, locationName }]) => [recording.locationId, locationName]));
  const names = { recording: (id: string) => byId.get(id), location: (id: string) => places.get(id) };
  const homes = new Map(recordings.map(([{ recording }]) => [recording.id, recording.locationId]));
  const episodes = scope.episodes.map((one) => ({ locationId: homes.get(one.subject.id), ...one }));
  const digester = createDigester({ ...scope, episodes, names }, mostListed);
  for (const [subject, figures] of recordings) digester.add(subject, figures);
  const steps = digester.finish();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
