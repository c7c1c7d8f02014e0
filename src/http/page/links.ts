/** The parameters of the pages, and links between them: always relative, so that they work below any path of a proxy. */
import { z } from "zod";
import { equalMatchers } from "../../alerting/prepared-silence.ts";
import { html, type Markup } from "../../lib/markup.ts";
import { pageParameters } from "../paging.ts";

/** From a page to `/`: `./` on `/` itself, `../` below `/recordings/`. */
export type Root = "./" | `../${string}`;

/** From a path that no page has. */
export function rootOf(path: string): Root {
  const depth = Math.min(MOST_STEPS, path.split("/").length - 2);
  return depth < 1 ? "./" : `../${"../".repeat(depth - 1)}`;
}

const MOST_STEPS = 50;

export type LinkParameters = Readonly<Record<string, string | undefined>>;

/** `/` with parameters; undefined ones are left out. */
export function homeLink(root: Root, parameters: LinkParameters = {}): string {
  return root + queryOf(parameters);
}

/** `location` is that of a recording whose name is not known, by which it is found. */
export function recordingLink(root: Root, id: string, location?: string): string {
  return `${root}recordings/${encodeURIComponent(id.toWellFormed())}${queryOf({ location })}`;
}

export function alertPageLink(root: Root, fingerprint: string): string {
  return `${root}alerts/${fingerprint}`;
}

/** The form for a new silence, with its fields filled in. */
export function silenceFormLink(root: Root, parameters: LinkParameters): string {
  return `${root}silences/new${queryOf(parameters)}`;
}

/** A button that leads to the form for all of a thing, by the label of its id. */
export function silenceButton(root: Root, kind: "location" | "recording", id: string): Markup {
  const matchers = equalMatchers([[`${kind}_id`, id]]);
  return html`<p class="actions"><a class="button" href="${silenceFormLink(root, { matchers })}">Silence this ${kind}…</a></p>`;
}

/** The sign-in page, which leads back to the path `to`, from `/` on. */
export function signInLink(root: Root, to: string): string {
  return `${root}session${queryOf({ to })}`;
}

/** The page itself with other parameters. */
export function sameLink(parameters: LinkParameters): string {
  return queryOf(parameters) || "?";
}

function queryOf(parameters: LinkParameters): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

const text = (error: string) =>
  z
    .string({ error })
    .max(256, error)
    .transform((given) => given.trim() || undefined)
    .optional();

/** One of these; empty as forms send it: none. */
const oneOf = <T extends string>(all: readonly T[]) =>
  z
    .enum(["", ...all], { error: `expected one of ${all.join(", ")}` })
    .transform((given) => (given === "" ? undefined : (given as T)))
    .optional();

/** Locations with one of these, and how they are sorted. */
export const locationFilters = ["offline", "unknown", "degraded", "alerts", "online"] as const;
export const locationOrders = ["worst", "name", "alerts", "organisation"] as const;

/** Unknown parameters are ignored, as mail programs add some to links. */
export const HomeQuery = z.object({
  show: z.enum(["locations", "silences"], { error: "expected locations or silences" }).optional(),
  location: text("expected one id"),
  /** The same, short: an ending of the id is enough. */
  l: text("expected one id"),
  q: text("expected one text of at most 256 characters"),
  only: oneOf(locationFilters),
  sort: oneOf(locationOrders),
  cursor: pageParameters.cursor,
  refresh: z.literal("off", { error: "expected off" }).optional(),
});
export type HomeQuery = z.infer<typeof HomeQuery>;

/** The periods that a page of the past may show, by days. */
export const periods = { 1: "24 hours", 7: "7 days", 30: "30 days", 90: "90 days" } as const;
const days = z.enum(["1", "7", "30", "90"], { error: "expected 1, 7, 30 or 90" });

export const IncidentsQuery = z.object({
  q: text("expected one text of at most 256 characters"),
  rule: text("expected one name"),
  days: days.default("7"),
  sort: z.enum(["newest", "longest"], { error: "expected newest or longest" }).default("newest"),
  cursor: pageParameters.cursor,
});
export type IncidentsQuery = z.infer<typeof IncidentsQuery>;

export function incidentLink(root: Root, id: string): string {
  return `${root}incidents/${encodeURIComponent(id)}`;
}

/** The page of incidents, or its rows as CSV. */
export function incidentsLink(root: Root, parameters: LinkParameters = {}, name = "incidents"): string {
  return `${root}${name}${queryOf(parameters)}`;
}

export const AlertQuery = HomeQuery.pick({ refresh: true });
export const RecordingQuery = HomeQuery.pick({ location: true, cursor: true, refresh: true });
export type RecordingQuery = z.infer<typeof RecordingQuery>;
