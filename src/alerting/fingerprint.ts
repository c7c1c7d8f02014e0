/**
 * Alertmanager's identity of a label set: FNV-1a, 64 bits, over name 0xFF value 0xFF in order of names, as 16 hex
 * digits (prometheus/common, model/signature.go). Ids therefore equal those a real Alertmanager gives.
 */
import type { Labels } from "../health/alert.ts";

const OFFSET_HIGH = 0xcbf29ce4;
const OFFSET_LOW = 0x84222325;
/** The prime is 2^40 + 0x1b3. */
const PRIME_LOW = 0x1b3;
const SEPARATOR = 0xff;

/** 16 hex digits, the same for the same labels whatever their order; empty values count as absent. */
export function fingerprint(labels: Labels): string {
  const hash = new Fnv1a();
  for (const [name, value] of Object.entries(labels).sort(byNameBytes)) {
    if (value === "") continue;
    hash.addText(name);
    hash.add(SEPARATOR);
    hash.addText(value);
    hash.add(SEPARATOR);
  }
  return hash.hex();
}

function byNameBytes([a]: [string, string], [b]: [string, string]): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** 64 bits in two halves: several times faster than BigInt, and exact, since 435 · 2^32 < 2^53. */
class Fnv1a {
  #high = OFFSET_HIGH;
  #low = OFFSET_LOW;

  add(byte: number): void {
    const low = (this.#low ^ byte) >>> 0;
    const product = low * PRIME_LOW;
    const carry = Math.floor(product / 0x1_0000_0000);
    this.#high = (this.#high * PRIME_LOW + carry + ((low << 8) >>> 0)) >>> 0;
    this.#low = product >>> 0;
  }

  addText(text: string): void {
    for (const byte of Buffer.from(text)) this.add(byte);
  }

  hex(): string {
    return this.#high.toString(16).padStart(8, "0") + this.#low.toString(16).padStart(8, "0");
  }
}
