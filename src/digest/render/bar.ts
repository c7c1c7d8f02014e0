/** Uptime as a row of coloured table cells, and what the colours mean. */

import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Digest, TimelineRun } from "../digest.ts";
import { SLOT_COLOURS, SLOT_WORDS } from "./palette.ts";
import type { PartView } from "./view.ts";
import { barSpan } from "./words.ts";

/** `description` is read out in its place. */
export function bar(runs: readonly TimelineRun[], description: string): Markup {
  const slots = runs.reduce((sum, run) => sum + run.slots, 0);
  if (slots === 0) return nothing;
  const cells = runs.map(
    (run) =>
      html`<td width="${((run.slots / slots) * 100).toFixed(2)}%" height="8" class="${run.state}" bgcolor="${SLOT_COLOURS[run.state]}" title="${SLOT_WORDS[run.state]}"></td>`,
  );
  return html`<table role="img" aria-label="${description}" width="100%" cellpadding="0" cellspacing="0" border="0" class="bar"><tr>${cells}</tr></table>`;
}

/** What the bars span and the colours that occur in them. */
export function legend(view: readonly PartView[], digest: Digest): Markup {
  const runs = view.flatMap(({ groups }) =>
    groups.flatMap(({ together, shown }) => [...together, ...shown].flatMap(({ timeline }) => timeline)),
  );
  const states = new Set(runs.map(({ state }) => state));
  if (states.size === 0) return nothing;
  const keys = (["down", "low", "up", "blind", "closed", "none"] as const)
    .filter((state) => states.has(state))
    .map(
      (state) =>
        html`<span class="nw"><span class="${state}">&nbsp;&nbsp;</span> ${SLOT_WORDS[state]}</span> &nbsp; `,
    );
  return html`<tr><td class="pad legend m xs">Bars: ${barSpan(digest)} &nbsp; ${keys}</td></tr>`;
}
