/** The sign-in form and its fields. */
import { z } from "zod";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { stripControls } from "../../lib/text.ts";
import { type FieldProblem, fieldOf } from "./field.ts";
import type { HtmlPage } from "./layout.ts";
import type { Root } from "./links.ts";

const LONGEST_NAME = 80;

export const SignIn = z.object({
  name: z
    .string({ error: "expected your name" })
    .transform((name) => stripControls(name).trim())
    .refine((name) => name !== "", "expected your name")
    .refine((name) => name.length <= LONGEST_NAME, `expected at most ${LONGEST_NAME} characters`),
  token: z.string({ error: "expected the token" }).min(1, "expected the token").max(4_096, "not this token"),
  to: z.string().max(2_048).catch("").default(""),
});

interface SignInForm {
  readonly root: Root;
  /** The path to go to afterwards, from `/` on. */
  readonly to: string;
  readonly name?: string;
  readonly problem?: FieldProblem | undefined;
  readonly isReadOnly: boolean;
}

/** The path `to` where it is below ours, else our own, which is empty. */
export function pathWithin(to: string): string {
  const base = "http://here.invalid/own/";
  if (!URL.canParse(to, base)) return "";
  const { href } = new URL(to, base);
  return href.startsWith(base) ? href.slice(base.length) : "";
}

export function signInForm({ root, to, name = "", problem, isReadOnly }: SignInForm): Markup {
  const opens = isReadOnly
    ? "The read token shows the fleet."
    : "The read token shows the fleet; the admin token also acknowledges and silences.";
  const autofocus = problem ? nothing : html` autofocus`;
  return html`<form class="sheet" method="post" action="${root}session">
<input type="hidden" name="to" value="${to}">
${fieldOf(
  {
    name: "name",
    label: "Your name",
    value: name,
    hint: "Shown with your acknowledgements and silences.",
    attributes: html` required maxlength="${LONGEST_NAME}" autocomplete="username"${autofocus}`,
  },
  problem,
)}
${fieldOf(
  {
    name: "token",
    label: "Token",
    hint: opens,
    attributes: html` type="password" required autocomplete="current-password"`,
  },
  problem,
)}
<p><button class="main">Sign in</button></p></form>`;
}

/** `GET /session`, and again after a wrong token. */
export function signInPage(form: SignInForm): HtmlPage {
  return {
    title: "Sign in",
    mood: "unknown",
    root: form.root,
    here: "session",
    body: html`<h1>Sign in</h1>${signInForm(form)}`,
  };
}
