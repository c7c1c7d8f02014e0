/** How the digest looks. `STYLES` is put into the elements by juice; what of a class is not there is in the dark. */
import { HEATS, LINK_COLOUR, PART_COLOURS, SLOT_COLOURS } from "./palette.ts";

const slots = Object.entries(SLOT_COLOURS)
  .map(([state, colour]) => `.${state}{background-color:${colour}}`)
  .join("");
const accents = Object.entries(PART_COLOURS)
  .map(([part, colour]) => `.top-${part}{border-top:5px solid ${colour}}.dot-${part}{color:${colour}}`)
  .join("");

/** Of a day's uptime, from five steps; figures stand in them. */
const heats = HEATS.map(
  ({ name, light }) => `.${name}{background-color:${light.back};color:${light.text}}`,
).join("");
const darkHeats = HEATS.map(
  ({ name, dark }) => `.${name}{background-color:${dark.back}!important;color:${dark.text}!important}`,
).join("");

export const STYLES = `body{margin:0;padding:0;background-color:#f3f5f8;-webkit-text-size-adjust:100%}
h1,h2,p{margin:0}
.preview{display:none;max-height:0;overflow:hidden}
.page{padding:20px 8px;background-color:#f3f5f8}
.card{max-width:640px;table-layout:fixed;word-break:break-word;background-color:#ffffff;font:15px/1.45 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}
.head{padding:22px 28px 4px}
.part{padding:24px 28px 0}
.foot{padding:20px 28px 26px}
.t{color:#1f2933}
.m{color:#5f6b7a}
a{color:${LINK_COLOUR}}
.s{font-size:13px}
.xs{font-size:12px}
h1{margin:8px 0 14px;font-size:21px;line-height:1.35}
h2{font-size:16px}
.below{margin-bottom:8px}
.aside{margin:0 0 14px}
.kpi{padding:0 8px 6px 0}
.figure{font-size:18px;font-weight:600}
.plain{font-weight:400}
.nw{white-space:nowrap}
.chunk{display:inline-block}
.line{border-top:1px solid #e3e7ec}
.place{padding:10px 8px 4px 0;font-weight:600}
.side{padding:11px 0 4px}
.name{padding:2px 8px 0 0}
.said{padding:2px 0 0}
.note{padding:0 8px 4px 0}
.under{padding:0 0 4px}
.end{padding:0 0 10px}
.more{padding:10px 0 2px}
.gap{margin:10px 0 2px}
.row{padding:6px 8px 6px 0}
.cell{padding:6px 0}
.bar{table-layout:fixed;font-size:1px;line-height:8px}
.legend{padding:14px 28px 0}
.fine{padding-top:14px}
.was{font-size:12px;margin-top:1px}
.days{font-size:12px;line-height:22px;text-align:center}
.day{font-weight:400;line-height:18px}
.at{padding:4px 10px 4px 0;line-height:18px;text-align:left;font-weight:400;font-size:15px}
.counts{font-size:14px}
.head-cell{font-weight:400;padding:6px 0 2px 6px}
.count{padding:2px 0 4px 6px;text-align:right}
th.count{text-align:left;padding-left:0}
.strip{table-layout:fixed;font-size:1px;line-height:18px}
${slots}${accents}${heats}`;

/** What cannot be put into elements; clients that drop it show the light digest at full width. */
export const EMBEDDED = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (max-width:480px){.pad{padding-left:16px!important;padding-right:16px!important}.page{padding:0!important}
.kpi{display:inline-block!important;width:50%!important;box-sizing:border-box;padding-bottom:14px!important}}
@media (prefers-color-scheme:dark){body,.page{background-color:#14181d!important}.card{background-color:#1e242b!important}
.t{color:#e6eaef!important}.m{color:#a4afbb!important}.line{border-color:#38414b!important}
.closed{background-color:#56616d!important}.none{background-color:#313941!important}a{color:#7db3f0!important}
${darkHeats}}`;
