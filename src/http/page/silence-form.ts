/** `GET /silences/new`: a silence before it is set, with a preview of the alerts it matches. */
import type { z } from "zod";
import { matchersInWords } from "../../alerting/incident-words.ts";
import type { Matcher } from "../../alerting/matcher.ts";
import { equalMatchers } from "../../alerting/prepared-silence.ts";
import type { Instant } from "../../lib/clock.ts";
import { humanDuration, parseDuration } from "../../lib/duration.ts";
import { count, counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { nextMorning } from "../../lib/moment.ts";
import { cut } from "../../lib/text.ts";
import { alertList } from "./board.ts";
import { type FieldProblem, hiddenFields, inputField, reasonField } from "./field.ts";
import type { HtmlPage } from "./layout.ts";
import { type LinkParameters, signInLink, silenceFormLink } from "./links.ts";
import { namesIn, type PageData } from "./page-data.ts";
import { type Preview, type PreviewQuery, type SilenceSpan, zoneOf } from "./silence-request.ts";
import { formToken, type Visitor } from "./visitor.ts";

const ROOT = "../";

export interface SilenceForm extends z.infer<typeof PreviewQuery> {
  readonly problem: FieldProblem | undefined;
  /** The names that may be typed for matchers. */
  readonly names: ReadonlyMap<string, string>;
  /** Undefined for matchers that cannot be read. */
  readonly preview: (Preview & { readonly parsed: readonly Matcher[] }) | undefined;
  /** Undefined for a time that cannot be read. */
  readonly span: SilenceSpan | undefined;
}

/** The form: what to silence, for how long, what that would suppress, why; and one button, which says what it does. */
export function silenceFormPage(form: SilenceForm, data: PageData, visitor: Visitor): HtmlPage {
  const { preview } = form;
  return {
    title: "Silence",
    here: "silences",
    path: formLink(form, {}).slice(ROOT.length),
    body: html`<h1>Silence</h1>${scopes(form, data)}
${preview ? html`${durations(form, data)}${previewSection(preview, data)}` : nothing}
${entry(form, data, visitor)}${others(form)}`,
  };
}

/** The form with other choices; what was typed stays. */
function formLink({ matchers, comment, custom, starts, ends, lasting }: SilenceForm, other: LinkParameters): string {
  return silenceFormLink(ROOT, { matchers, comment, custom, starts, ends, lasting, ...other });
}

/** Links; the current one is marked. */
function choices(label: string, all: readonly (readonly [words: string, href: string, isCurrent: boolean])[]): Markup {
  const items = all.map(([words, href, isCurrent]) => {
    const current = isCurrent ? html` aria-current="true"` : nothing;
    return html`<li><a href="${href}"${current}><bdi>${words}</bdi></a></li>`;
  });
  return html`<nav aria-label="${label}"><ul class="choices">${items}</ul></nav>`;
}

/** Wider and wider matchers. */
function scopes(form: SilenceForm, { fleet }: PageData): Markup {
  const named = new Map(
    (form.preview?.parsed ?? []).filter(({ operator }) => operator === "=").map(({ name, value }) => [name, value]),
  );
  const { alertname, recording_id, location_id } = Object.fromEntries(named);
  const recording = recording_id === undefined ? undefined : fleet.inventory.recording(recording_id);
  const locationId = location_id ?? recording?.locationId;
  const wider: [string, string][] = [];
  if (alertname && (recording_id || locationId)) {
    const labels = { alertname, recording_id, location_id: recording_id ? undefined : locationId };
    wider.push([`This alert, ${nameOf(alertname, "", 40)}`, equalMatchers(Object.entries(labels))]);
  }
  const allOf = (label: string, id: string, name = "") =>
    wider.push([`All of ${nameOf(name, id, 40)}`, equalMatchers([[label, id]])]);
  if (recording_id) allOf("recording_id", recording_id, recording?.name);
  if (locationId) allOf("location_id", locationId, fleet.inventory.location(locationId)?.name);
  if (wider.length < 2) return nothing;
  const now = equalMatchers([...named]);
  return choices(
    "What to silence",
    wider.map(([words, matchers]) => [words, formLink(form, { matchers }), matchers === now]),
  );
}

function durations(form: SilenceForm, data: PageData): Markup {
  const { now, times } = data.moment;
  const zone = zoneOf(form.preview?.parsed ?? [], data.fleet.inventory);
  const morning = nextMorning(now, times.zoneFor(zone));
  const all = [
    ["1 hour", "1h"],
    ["4 hours", "4h"],
    [`until ${times.at(morning, zone)}`, new Date(morning).toISOString()],
  ] as const;
  const plain = { custom: undefined, starts: undefined, ends: undefined };
  return choices(
    "For how long",
    all.map(([words, lasting]) => [words, formLink(form, { ...plain, lasting }), lasting === form.lasting]),
  );
}

function previewSection(
  { alerts, covered, recordings, warnings, parsed }: NonNullable<SilenceForm["preview"]>,
  data: PageData,
): Markup {
  const left = alerts.total - alerts.items.length;
  return html`<section aria-labelledby="preview"><h2 id="preview">Preview</h2>
${warnings.map((warning) => html`<p class="caution warning" role="alert">${warning}</p>`)}
<p class="code"><bdi>${cut(matchersInWords(parsed, namesIn(data)), 600)}</bdi></p>
<p>It would suppress <strong>${counted(alerts.total, "alert")}</strong> of ${count(data.alerts.length)} active now;
its matchers cover <strong>${count(covered)} of ${counted(recordings, "recording")}</strong>.</p>
${alertList(alerts.items, data, ROOT)}
${left === 0 ? nothing : html`<p class="soft">and ${counted(left, "more alert")}.</p>`}</section>`;
}

/** The reason and the button; nothing to send before it is known what that would do. */
function entry(form: SilenceForm, data: PageData, visitor: Visitor): Markup {
  const { matchers, comment, custom, starts, ends, lasting, problem, preview, span } = form;
  if (visitor.formToken === undefined) return lockedNote(form, visitor);
  const wrong = html`<p class="wrong" role="alert">${problem?.field ?? ""}: ${problem?.message ?? ""}.</p>`;
  const isWrong = problem?.field === "lasting" || problem?.field === "anyway";
  if (!preview || !span) return isWrong ? wrong : nothing;
  return html`<form class="sheet" method="post" action="${ROOT}silences/new">${formToken(visitor)}
${hiddenFields({ matchers, custom, starts, ends, lasting })}${reasonField(problem, comment)}
${preview.isIdle ? ANYWAY : nothing}${isWrong ? wrong : nothing}
<p><button class="main">${actionOf(form, data)}</button></p></form>`;
}

const ANYWAY = html`<p><label><input type="checkbox" name="anyway" value="yes" required>
Set it all the same: it matches nothing that is known</label></p>`;

/** `Silence 9 alerts for 1 h`. */
function actionOf({ preview, span, lasting }: SilenceForm, { moment, fleet }: PageData): string {
  if (!preview || !span) return "Silence";
  const { startsAt, endsAt } = span;
  const at = (instant: Instant) => moment.times.at(instant, zoneOf(preview.parsed, fleet.inventory));
  const what = preview.alerts.total === 0 ? "later alerts" : counted(preview.alerts.total, "alert");
  const from = startsAt === undefined ? "" : ` from ${at(startsAt)}`;
  const isFor = lasting === "custom" || parseDuration(lasting) !== undefined;
  const until = isFor ? `for ${humanDuration(endsAt - (startsAt ?? moment.now))}` : `until ${at(endsAt)}`;
  return `Silence ${what}${from} ${until}`;
}

const MOST_OFFERED = 2_000;

/** Something else by its name or by matchers, and other times: shows what they would do, and changes nothing. */
function others({ matchers, comment, custom, starts, ends, problem, names, preview, span }: SilenceForm): Markup {
  const isOpen = !preview || !span || ["matchers", "custom", "starts", "ends"].includes(problem?.field ?? "");
  const matchersField = inputField("matchers", "Location, camera or matchers", problem, {
    value: matchers,
    hint: 'A name; or as in Alertmanager, all must match: alertname="LowUptime", location=~"Leeds.*"',
    attributes: html` list="names" required maxlength="4000" autocapitalize="off" autocomplete="off" spellcheck="false"`,
  });
  const time = (name: string, label: string, value: string, placeholder: string) =>
    inputField(name, label, problem, {
      value,
      attributes: html` maxlength="40" placeholder="${placeholder}" autocomplete="off" autocapitalize="off"`,
    });
  return html`<details id="others"${isOpen ? html` open` : nothing}><summary>${preview ? "Something else, another time" : "What to silence"}</summary>
<form class="sheet" method="get" action="${ROOT}silences/new"><input type="hidden" name="comment" value="${comment}">
${matchersField}<datalist id="names">${[...names.keys()].slice(0, MOST_OFFERED).map((name) => html`<option value="${name}">`)}</datalist>
<div class="beside">${time("custom", "For how long", custom, "2d12h")}
${time("starts", "From", starts, "now, or tomorrow 22:00")}${time("ends", "Until", ends, "2026-01-31 22:00")}</div>
<p><button>Show what it would do</button></p></form></details>`;
}

function lockedNote(form: SilenceForm, { isReadOnly, canSignIn }: Visitor): Markup {
  if (isReadOnly || !canSignIn)
    return html`<p class="soft">Nothing can be silenced: no <code>http.admin_token</code> is configured.</p>`;
  const back = formLink(form, {}).slice(ROOT.length);
  return html`<p>To set it, <a href="${signInLink(ROOT, back)}">sign in with a token that has the scope silence</a>.</p>`;
}
