/** Chance that repeats: every figure of the world is a function of the seed, an id and a time. */
import { hash } from "node:crypto";

function scramble(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** 32 evenly spread bits made of whole numbers (MurmurHash3's finaliser): same in, same out. */
export function mix(a: number, b: number, c = 0): number {
  return scramble(scramble(scramble(a ^ 0x9e3779b9) ^ b) ^ Math.imul(c, 0x27d4eb2f)) >>> 0;
}

/** A fraction, 0 up to but not 1, made of whole numbers. */
export function fraction(a: number, b: number, c = 0): number {
  return mix(a, b, c) / 2 ** 32;
}

/** 24 hex characters, the shape of the service's ids. */
export function hexId(seed: number, label: string): string {
  return hash("sha256", `${seed}:${label}`, "hex").slice(0, 24);
}
