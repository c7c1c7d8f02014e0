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

export const TEXT = "color:#1f2933";
export const MUTED = "color:#5f6b7a";

/** What inline styles cannot say; clients that drop it show the light digest at full width. */
export const STYLE_SHEET = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (max-width:480px){.pad{padding-left:16px!important;padding-right:16px!important}.page{padding:0!important}
.kpi{display:inline-block!important;width:50%!important;box-sizing:border-box;padding-bottom:14px!important}}
@media (prefers-color-scheme:dark){body,.page{background:#14181d!important}.card{background:#1e242b!important}
.t{color:#e6eaef!important}.m{color:#a4afbb!important}.line{border-color:#38414b!important}
.closed{background:#56616d!important}.none{background:#313941!important}a{color:#7db3f0!important}}`;
