import fc from "fast-check";
import { expect, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";

/** The definition, with BigInt: slow and plain. */
function slowFingerprint(labels: Record<string, string>): string {
  let hash = 0xcbf29ce484222325n;
  const add = (byte: number) => {
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffff_ffff_ffff_ffffn;
  };
  const names = Object.keys(labels).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  for (const name of names) {
    for (const text of [name, labels[name] ?? ""]) {
      Buffer.from(text).forEach(add);
      add(0xff);
    }
  }
  return hash.toString(16).padStart(16, "0");
}

test("equals what prometheus/common computes", () => {
  expect(fingerprint({})).toBe("cbf29ce484222325");
  expect(fingerprint({ name: "garland, briggs", fear: "love is not enough" })).toBe("507a62d79ee76c9a");
});

test("depends neither on order nor on empty labels", () => {
  expect(fingerprint({ b: "2", a: "1", c: "" })).toBe(fingerprint({ a: "1", b: "2" }));
  expect(fingerprint({ a: "1" })).not.toBe(fingerprint({ a: "2" }));
});

test("is FNV-1a for any labels, names in order of their bytes", () => {
  const text = fc.string({ minLength: 1, unit: fc.constantFrom("a", "z", "_", "é", "ÿ", "\uffee", "😀") });
  fc.assert(
    fc.property(fc.dictionary(text, text), (labels) => {
      expect(fingerprint(labels)).toBe(slowFingerprint(labels));
    }),
  );
});
