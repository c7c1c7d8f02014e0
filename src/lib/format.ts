/** Figures and names for people, in messages, pages, digests and the command line. */
import type { Instant } from "./clock.ts";
import { cut, stripControls } from "./text.ts";

/** Ratios 0–1 are compared and shown in billionths: a figure reads as below a threshold exactly if it is. */
const billionths = (ratio: number) => Math.round(ratio * 1e9);

/** A figure is below a threshold, both ratios 0–1. */
export function isBelow(ratio: number, threshold: number): boolean {
  return billionths(ratio) < billionths(threshold);
}

/**
 * A ratio 0–1 in per cent with one decimal (two from 99 %) or more, never rounded up, so that a figure does not appear
 * to reach a threshold that it misses. Empty for undefined.
 */
export function percent(ratio: number | undefined, leastDecimals = 0): string {
  if (ratio === undefined) return "";
  const decimals = Math.max(ratio >= 0.99 ? 2 : 1, leastDecimals);
  return `${Math.floor(billionths(ratio) / 10 ** (7 - decimals)) / 10 ** decimals} %`;
}

/** The same with so many decimals, also zeros: figures of a column are alike. */
export function columnPercent(ratio: number | undefined, decimals: number): string {
  if (ratio === undefined) return "";
  return `${(Math.floor(billionths(ratio) / 10 ** (7 - decimals)) / 10 ** decimals).toFixed(decimals)} %`;
}

/** A configured ratio 0–1 with all its digits: `95.55 %`. */
export function exactPercent(ratio: number): string {
  return `${billionths(ratio) / 1e7} %`;
}

/** The number of decimals that a configured ratio 0–1 has in per cent: 2 of 95.55 %. */
export function decimalsOf(ratio: number): number {
  return exactPercent(ratio).slice(0, -" %".length).split(".")[1]?.length ?? 0;
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
export function counted(n: number, noun: string, nouns = `${noun}s`): string {
  return `${count(n)} ${n === 1 ? noun : nouns}`;
}

/** A name from the service as one visible line of at most `max` code points; its id where nothing remains. */
export function nameOf(name: string, id: string, max = 60): string {
  return cut(stripControls(name).trim(), max) || cut(stripControls(id).trim(), max) || "unnamed";
}

/** `…8b05d6`, of an id that says nothing to people; any other text as it is. */
export function briefId(id: string): string {
  return /^(?:[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f-]{27})$/i.test(id) ? `…${id.slice(-6)}` : id;
}

/** The name of a recording without that of its location at its front, unless nothing else is in it. */
export function nameWithin(name: string, location: string): string {
  const isFront = location !== "" && name.slice(0, location.length).toLowerCase() === location.toLowerCase();
  const [, rest] = (isFront && /^[\s·:,/|–-]+([^\s·:,/|–-].*)$/s.exec(name.slice(location.length))) || [];
  return rest ?? name;
}

/** `Ground › Service › Tills`, of the service's `Ground:Service:Tills`, one or several. */
export function zonePath(zones: string): string {
  return zones.replace(/(?<=\S):(?=\S)/g, " › ");
}
