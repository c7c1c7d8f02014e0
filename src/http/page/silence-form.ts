/** `GET /silences/new`: a silence before it is set, with a preview of the alerts it matches. */
import type { Matcher } from "../../alerting/route.ts";
import { equalMatchers } from "../../alerting/silence.ts";
import { count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { alertTable } from "./alert-table.ts";
import { type FieldProblem, inputField } from "./field.ts";
import type { HtmlPage } from "./layout.ts";
import { signInLink, silenceFormLink } from "./links.ts";
import { type PageData, unreachableNotice } from "./page-data.ts";
import { nextMorning, type Preview, zoneOf } from "./silence-request.ts";
import { formToken, type Visitor } from "./visitor.ts";

const ROOT = "../";

export interface SilenceForm {
  /** As they were typed. */
  readonly matchers: string;
  readonly comment: string;
  readonly custom: string;
  readonly problem: FieldProblem | undefined;
  /** Of matchers that can be read. */
  readonly preview: (Preview & { readonly parsed: readonly Matcher[] }) | undefined;
}

export function silenceFormPage(form: SilenceForm, data: PageData, visitor: Visitor): HtmlPage {
  const { preview, matchers } = form;
  return {
    title: "Silence",
    here: "silences",
    path: `silences/new?${new URLSearchParams({ matchers })}`,
    body: html`<h1>Silence</h1>${unreachableNotice(data)}${scopes(form, data)}
${preview ? previewSection(preview, data) : nothing}${entry(form, data, visitor)}`,
  };
}

/** Links to wider and wider matchers; the current ones are marked. */
function scopes({ preview, comment, custom }: SilenceForm, { fleet }: PageData): Markup {
  const named = new Map(
    (preview?.parsed ?? []).filter(({ operator }) => operator === "=").map(({ name, value }) => [name, value]),
  );
  const { alertname, recording_id, location_id } = Object.fromEntries(named);
  const recording = recording_id === undefined ? undefined : fleet.inventory.recording(recording_id);
  const locationId = location_id ?? recording?.locationId;
  const choices: [string, string][] = [];
  if (alertname && (recording_id || locationId)) {
    const labels = { alertname, recording_id, location_id: recording_id ? undefined : locationId };
    choices.push([nameOf(alertname, "", 40), equalMatchers(Object.entries(labels))]);
  }
  const allOf = (label: string, id: string, name = "") =>
    choices.push([`All of ${nameOf(name, id, 40)}`, equalMatchers([[label, id]])]);
  if (recording_id) allOf("recording_id", recording_id, recording?.name);
  if (locationId) allOf("location_id", locationId, fleet.inventory.location(locationId)?.name);
  if (choices.length < 2) return nothing;
  const now = equalMatchers([...named]);
  const items = choices.map(([words, text]) => {
    const current = text === now ? html` aria-current="true"` : nothing;
    const href = silenceFormLink(ROOT, { matchers: text, comment, custom });
    return html`<li><a href="${href}"${current}><bdi>${words}</bdi></a></li>`;
  });
  return html`<nav aria-label="What to silence"><ul class="choices">${items}</ul></nav>`;
}

function previewSection({ alerts, covered, recordings, warnings }: Preview, data: PageData): Markup {
  const left = alerts.total - alerts.items.length;
  const table = alertTable(alerts.items, data, { root: ROOT, caption: "Alerts it would suppress" });
  return html`<section aria-labelledby="preview"><h2 id="preview">Preview</h2>
${warnings.map((warning) => html`<p class="warning" role="alert">${warning}</p>`)}
<p>It would suppress <strong>${counted(alerts.total, "alert")}</strong> of ${count(data.alerts.length)} active now;
its matchers cover <strong>${count(covered)} of ${counted(recordings, "recording")}</strong>.</p>
${alerts.total === 0 ? nothing : table}
${left === 0 ? nothing : html`<p class="soft">and ${counted(left, "more alert")}.</p>`}</section>`;
}

function entry(form: SilenceForm, data: PageData, visitor: Visitor): Markup {
  const { comment, problem, preview } = form;
  const locked = visitor.formToken === undefined;
  const commentField = inputField("comment", "Comment", problem, {
    value: comment,
    attributes: html` maxlength="1000" autocomplete="off" placeholder="why, or a ticket"`,
  });
  const buttons = locked ? lockedNote(form, visitor) : lasting(problem, data, preview?.parsed ?? []);
  const rest = html`${commentField}${buttons}${others(form, locked)}</form>`;
  if (locked) return html`<form class="sheet" method="get" action="${ROOT}silences/new">${rest}`;
  // Enter presses the first button, which must change nothing.
  return html`<form class="sheet" method="post" action="${ROOT}silences/new">${formToken(visitor)}
<button class="hidden" tabindex="-1" aria-hidden="true" name="lasting" value="preview" formnovalidate>Preview</button>
${rest}`;
}

/** Matchers and another duration; open where there are no valid ones. */
function others({ matchers, custom, problem, preview }: SilenceForm, locked: boolean): Markup {
  const isOpen = !preview || problem?.field === "matchers" || problem?.field === "custom";
  const matchersField = inputField("matchers", "Matchers", problem, {
    value: matchers,
    hint: 'As in Alertmanager, all must match: alertname="LowUptime", location=~"Leeds.*"',
    attributes: html` required maxlength="4000" autocapitalize="off" autocomplete="off" spellcheck="false"`,
  });
  const customField = inputField("custom", "For how long", problem, {
    value: custom,
    attributes: html` maxlength="40" placeholder="2d12h" size="8" autocomplete="off" autocapitalize="off"`,
  });
  const longer = html`<div class="beside">${customField}
<button name="lasting" value="custom">Silence for that long</button></div>`;
  return html`<details id="others"${isOpen ? html` open` : nothing}>
<summary>Other matchers, another time</summary>${matchersField}
<p><button name="lasting" value="preview" formnovalidate>Preview</button></p>${locked ? nothing : longer}</details>`;
}

function lasting(problem: FieldProblem | undefined, data: PageData, parsed: readonly Matcher[]): Markup {
  const { now, times } = data.moment;
  const zone = zoneOf(parsed, data.fleet.inventory);
  const morning = nextMorning(now, zone);
  const wrong = html`<p class="wrong" role="alert">lasting: ${problem?.message ?? ""}.</p>`;
  return html`<fieldset><legend>Silence it</legend>${problem?.field === "lasting" ? wrong : nothing}
<p class="actions"><button class="main" name="lasting" value="1h">for 1 hour</button>
<button name="lasting" value="4h">for 4 hours</button>
<button name="lasting" value="${new Date(morning).toISOString()}">until ${times.at(morning, zone)}</button></p>
</fieldset>`;
}

function lockedNote({ matchers }: SilenceForm, { isReadOnly, canSignIn }: Visitor): Markup {
  if (isReadOnly || !canSignIn)
    return html`<p class="soft">Nothing can be silenced: no <code>http.admin_token</code> is configured.</p>`;
  const back = `silences/new?${new URLSearchParams({ matchers })}`;
  return html`<p>To set it, <a href="${signInLink(ROOT, back)}">sign in with a token that has the scope silence</a>.</p>`;
}
