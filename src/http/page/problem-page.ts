/** Errors as pages: the reason, the next step and a way back. */
import { html } from "../../lib/markup.ts";
import type { ErrorAnswer } from "../errors.ts";
import type { HtmlPage } from "./layout.ts";
import { homeLink, type Root } from "./links.ts";
import { signInForm } from "./sign-in.ts";

interface FailedRequest {
  readonly root: Root;
  /** The requested path from `/` on, where signing in leads. */
  readonly path: string;
  readonly isReadOnly: boolean;
}

const TITLES: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "Not found",
  429: "Too many requests",
  500: "A fault of lenswatch",
  503: "The state cannot be read now",
};

/** Shows nothing of the fleet. */
export function problemPage({ status, message }: ErrorAnswer, request: FailedRequest): HtmlPage {
  const { root, path: to, isReadOnly } = request;
  if (status === 401) {
    const body = html`<h1>Sign in</h1><p>${message}</p>${signInForm({ root, to, isReadOnly })}
<p class="soft">From a terminal, <code>lenswatch status</code> and <code>lenswatch alerts</code> send the token in
<code>LENSWATCH_READ_TOKEN</code>.</p>`;
    return { title: "Sign in", here: "session", body };
  }
  const title = TITLES[status] ?? (status >= 500 ? "Cannot be shown now" : "Not understood");
  return {
    title,
    // The dependency may recover while the page is open.
    ...(status === 503 ? { refresh: "on" } : {}),
    body: html`<div class="lead unknown"><h1>${title}</h1><p>${message}</p></div>
<p><a href="${homeLink(root)}">To the status page</a></p>`,
  };
}
