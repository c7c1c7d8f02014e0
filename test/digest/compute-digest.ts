import { createDigester } from "../../src/digest/compute/compute.ts";
import type { Digest, DigestInput } from "../../src/digest/digest.ts";

/** The whole digest in one go, of recordings that are all there at once. */
export function computeDigest(input: DigestInput): Digest {
  const digester = createDigester(input);
  for (const subject of input.recordings)
    digester.add(subject, { buckets: input.uptime.get(subject.recording.id) ?? [] });
  const steps = digester.finish();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
