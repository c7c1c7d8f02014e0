/** Colours of the digest; those of bars read on white and on black alike. */
import type { DigestPart, SlotState } from "../digest.ts";

export const SLOT_COLOURS: Readonly<Record<SlotState, string>> = {
  down: "#d64545",
  low: "#e3a02c",
  blind: "#8d99a6",
  up: "#43a15f",
  closed: "#cfd6dd",
  none: "#e9edf1",
};

export const SLOT_WORDS: Readonly<Record<SlotState, string>> = {
  down: "down",
  low: "below 95 %",
  blind: "lenswatch was blind",
  up: "up",
  closed: "outside schedule",
  none: "no figure",
};

export const PART_COLOURS: Readonly<Record<DigestPart, string>> = {
  down_now: "#d64545",
  down_some: "#e3a02c",
  up: "#43a15f",
  closed: "#8d99a6",
  unknown: "#8d99a6",
};

export const LINK_COLOUR = "#1a66b8";

/** Steps of a day's uptime, best first: dark figures on light grounds, and the other way round in the dark. */
export const HEATS = [
  {
    name: "h5",
    from: 0.99,
    light: { back: "#cdead5", text: "#1d4f2e" },
    dark: { back: "#24573a", text: "#bfe5cb" },
  },
  {
    name: "h4",
    from: 0.95,
    light: { back: "#e7efbd", text: "#4a5210" },
    dark: { back: "#59631f", text: "#f0f5cd" },
  },
  {
    name: "h3",
    from: 0.9,
    light: { back: "#fce5a8", text: "#664700" },
    dark: { back: "#7a5d14", text: "#fff0c4" },
  },
  {
    name: "h2",
    from: 0.5,
    light: { back: "#f7bf94", text: "#6b2f00" },
    dark: { back: "#96501c", text: "#ffe3cd" },
  },
  {
    name: "h1",
    from: 0,
    light: { back: "#e88f8f", text: "#4d0808" },
    dark: { back: "#a83232", text: "#ffdcdc" },
  },
  {
    name: "h0",
    from: undefined,
    light: { back: "#eef1f4", text: "#5f6b7a" },
    dark: { back: "#2b333b", text: "#8d99a6" },
  },
] as const;

/** The step a day's uptime is on; the last where there is no figure. */
export function heatOf(ratio: number | undefined): (typeof HEATS)[number] {
  const found =
    ratio === undefined ? undefined : HEATS.find(({ from }) => from !== undefined && ratio >= from);
  return found ?? HEATS[5];
}
