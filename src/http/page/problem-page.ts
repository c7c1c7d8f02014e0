/** A refusal for people: what happened, what to do, and a way back. */
import { html, type Markup } from "../../lib/markup.ts";
import type { ErrorAnswer } from "../errors.ts";
import type { Page } from "./layout.ts";
import { homeLink, type Root } from "./links.ts";
import { signInForm } from "./sign-in.ts";

export interface Refused {
  readonly root: Root;
  /** What was asked for, from `/` on: where signing in leads. */
  readonly path: string;
  readonly isReadOnly: boolean;
}

/** Tells nothing of the fleet. */
export function problemPage({ status, message }: ErrorAnswer, refused: Refused): Page {
  const { root } = refused;
  if (status === 401) return signInFirst(message, refused);
  const title = TITLES[status] ?? (status >= 500 ? "Cannot be shown now" : "Not understood");
  return {
    title,
    mood: "unknown",
    root,
    // What is away comes back: whoever has the page open should see it.
    ...(status === 503 ? { refresh: "on" } : {}),
    body: html`<div class="lead unknown"><h1>${title}</h1><p>${message}</p></div><p><a href="${homeLink(root)}">To the status page</a></p>`,
  };
}

const TITLES: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "Not found",
  429: "Too often",
  500: "A fault of lenswatch",
  503: "How it is cannot be told now",
};

function signInFirst(message: string, { root, path, isReadOnly }: Refused): Page {
  const elsewhere: Markup = html`<p class="soft">From a terminal, <code>lenswatch status</code> and <code>lenswatch alerts</code> send the token in <code>LENSWATCH_READ_TOKEN</code>.</p>`;
  return {
    title: "Sign in",
    mood: "unknown",
    root,
    here: "session",
    body: html`<h1>Sign in</h1><p>${message}</p>${signInForm({ root, to: path, isReadOnly })}${elsewhere}`,
  };
}
