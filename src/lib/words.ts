/** Figures and names as people read them. */
import { cut, stripControls } from "./text.ts";

/** A ratio in per cent, never rounded up: only what is whole reads `100 %`. No figure is an empty string. */
export function percent(ratio: number | undefined): string {
  if (ratio === undefined) return "";
  const steps = ratio >= 0.99 ? 100 : 10;
  const floored = Math.floor(Number((ratio * 100 * steps).toFixed(6))) / steps;
  return `${floored} %`;
}

/** `10,000`. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 recording`, `10,000 recordings`. */
export function counted(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** A name from the service on one line, without tricks, of bearable length; its id where nothing is left. */
export function nameOf(name: string, id: string, max = 60): string {
  return cut(stripControls(name).trim(), max) || cut(stripControls(id).trim(), max) || "unnamed";
}
