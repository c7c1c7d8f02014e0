/** Figures and names for people, in messages, pages, digests and the command line. */
import type { Instant } from "./clock.ts";
import { cut, stripControls } from "./text.ts";

/**
 * A ratio 0–1 in per cent with one decimal (two from 99 %), never rounded up, so that a figure does not appear to reach
 * a threshold that it misses. Empty for undefined.
 */
export function percent(ratio: number | undefined): string {
  if (ratio === undefined) return "";
  const steps = ratio >= 0.99 ? 100 : 10;
  const floored = Math.floor(Number((ratio * 100 * steps).toFixed(6))) / steps;
  return `${floored} %`;
}

/** A configured ratio 0–1 with all its digits: `95.55 %`. */
export function exactPercent(ratio: number): string {
  return `${Number((ratio * 100).toFixed(9))} %`;
}

/** `2026-11-20 14:05 UTC`. */
export function isoMinute(at: Instant): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** `10,000`. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 recording`, `10,000 recordings`. */
export function counted(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** A name from the service as one visible line of at most `max` code points; its id where nothing remains. */
export function nameOf(name: string, id: string, max = 60): string {
  return cut(stripControls(name).trim(), max) || cut(stripControls(id).trim(), max) || "unnamed";
}
