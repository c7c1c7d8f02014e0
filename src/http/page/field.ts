/** Fields of forms, each with its problem beside it. */
import type { z } from "zod";
import { html, type Markup, nothing } from "../../lib/markup.ts";

/** The problem of a form: one field, and what it should contain. */
export type FieldProblem = { readonly field: string; readonly message: string };

/** The parsed fields, or the first problem. */
export function readFields<T>(
  schema: z.ZodType<T>,
  body: unknown,
): { readonly fields: T } | { readonly problem: FieldProblem } {
  const result = schema.safeParse(body ?? {});
  if (result.success) return { fields: result.data };
  const issue = result.error.issues[0];
  return { problem: { field: String(issue?.path[0] ?? "form"), message: issue?.message ?? "not understood" } };
}

interface FieldOptions {
  readonly value?: string;
  readonly hint?: string;
  /** Further attributes of the input. */
  readonly attributes: Markup;
  /** For a text of several lines, in which Enter sends nothing. */
  readonly rows?: number;
}

/** A labelled input; the one with the problem shows it and has the focus. */
export function inputField(
  name: string,
  label: string,
  problem: FieldProblem | undefined,
  { value = "", hint, attributes, rows }: FieldOptions,
): Markup {
  const wrong = problem?.field === name ? problem.message : undefined;
  const descriptions = [hint === undefined ? "" : `${name}-hint`, wrong === undefined ? "" : `${name}-wrong`];
  const described = descriptions.filter((id) => id !== "").join(" ");
  const aria = described === "" ? nothing : html` aria-describedby="${described}"`;
  const invalid = wrong === undefined ? nothing : html` aria-invalid="true" autofocus`;
  const all = html` id="${name}" name="${name}"${attributes}${aria}${invalid}`;
  const input = rows ? html`<textarea${all} rows="${rows}">${value}</textarea>` : html`<input${all} value="${value}">`;
  return html`<div class="field"><label for="${name}">${label}</label>
${input}
${hint === undefined ? nothing : html`<p class="soft" id="${name}-hint">${hint}</p>`}
${wrong === undefined ? nothing : html`<p class="wrong" id="${name}-wrong">${label}: ${wrong}.</p>`}</div>`;
}

/** The field for the reason of a silence. */
export function reasonField(problem?: FieldProblem, value = ""): Markup {
  const attributes = html` required maxlength="1000" placeholder="why, or a ticket"`;
  return inputField("comment", "Reason", problem, { value, rows: 2, attributes });
}

/** A form that shows the same list otherwise: labels with their inputs, and `hidden` parameters. */
export function filterForm(
  action: string,
  inputs: readonly (readonly [label: string, input: Markup])[],
  hidden: Readonly<Record<string, string>> = {},
): Markup {
  return html`<form class="search" method="get" action="${action}">${hiddenFields(hidden)}
${inputs.map(([label, input]) => html`<label>${label} ${input}</label>\n`)}<button>Show</button></form>`;
}

/** An input for a short text. */
export function textInput(name: string, value = "", placeholder = "", maxlength = 256): Markup {
  const hint = placeholder === "" ? nothing : html` placeholder="${placeholder}"`;
  return html`<input name="${name}" value="${value}"${hint} maxlength="${maxlength}" autocomplete="off">`;
}

/** A select with the chosen option marked. */
export function selectOf(name: string, ...options: Parameters<typeof optionsOf>): Markup {
  return html`<select name="${name}">${optionsOf(...options)}</select>`;
}

/** Fields that are sent along. */
export function hiddenFields(values: Readonly<Record<string, string>>): Markup[] {
  return Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}

/** The options of a select, the chosen one marked. */
export function optionsOf(all: readonly (readonly [value: string, words: string])[], chosen = ""): Markup[] {
  return all.map(
    ([value, words]) => html`<option value="${value}"${value === chosen ? html` selected` : nothing}>${words}</option>`,
  );
}
