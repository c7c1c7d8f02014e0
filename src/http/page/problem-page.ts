/** A refusal for people: what happened, what to do, and a way back. */
import { html, type Markup, nothing } from "../../lib/markup.ts";
import type { Refusal } from "../errors.ts";
import { documentOf } from "./frame.ts";
import { homeLink, type Root } from "./links.ts";

/** A whole HTML document. It tells nothing of the fleet. */
export function problemPage({ status, message }: Refusal, root: Root): string {
  const title = TITLES[status] ?? (status >= 500 ? "Cannot be shown now" : "Not understood");
  const back = html`<p><a href="${homeLink(root)}">To the status page</a></p>`;
  return documentOf({
    title,
    mood: "unknown",
    root,
    // What is away comes back: whoever has the page open should see it.
    ...(status === 503 ? { refresh: "on" } : {}),
    body: html`<div class="lead unknown"><h1>${title}</h1><p>${message}</p></div>${status === 401 ? howToRead : nothing}${status === 401 ? nothing : back}`,
  });
}

const TITLES: Readonly<Record<number, string>> = {
  401: "Reading needs a token",
  404: "Not found",
  500: "A fault of lenswatch",
  503: "How it is cannot be told now",
};

const howToRead: Markup = html`<p>A browser cannot send that header by itself, and lenswatch has no sign-in page yet. Until it has:</p>
<ul><li>put a proxy in front that lets in who may see this, and adds the header <code>Authorization: Bearer …</code> with <code>http.read_token</code>;</li>
<li>or leave <code>http.read_token</code> out, where only those who may see this reach the port;</li>
<li>or ask from a terminal: <code>lenswatch status</code> and <code>lenswatch alerts</code> send the token in <code>LENSWATCH_READ_TOKEN</code>.</li></ul>`;
