/** HTML templates without injection: values are escaped unless they are markup. */
import { escapeHtml, stripControls } from "./text.ts";

export type Markup = { readonly html: string };

type Value = string | number | Markup | readonly Markup[];

/** Tag for templates: html`<td>${name}</td>`. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const text = strings.map((part, i) => part + (i < values.length ? written(values[i] ?? "") : "")).join("");
  return { html: text };
}

function written(value: Value): string {
  if (typeof value === "string") return escapeHtml(stripControls(value));
  if (typeof value === "number") return String(value);
  return "html" in value ? value.html : value.map((one) => one.html).join("");
}

export const nothing: Markup = { html: "" };
