/** Colours of the digest; those of bars read on white and on black alike. */
import type { DigestPart, SlotState } from "./digest.ts";

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
  low: "low",
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
