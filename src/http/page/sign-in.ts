/** Signing in and out: `GET` and `POST /session`, `POST /session/end`; and errors as pages, 401 with the form. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { stripControls } from "../../lib/text.ts";
import { type ErrorAnswer, HttpError } from "../errors.ts";
import {
  createTokenCheck,
  type GateDeps,
  isHttps,
  isRemotePlainHttp,
  isSameOrigin,
  sessionCookie,
  sessionOf,
} from "../gate.ts";
import { isScopeGiven, noteRefusal, scopeSet } from "../principal.ts";
import { parseQuery } from "../query.ts";
import { openSession, type Session } from "../session.ts";
import { type FieldProblem, inputField, readFields } from "./field.ts";
import type { HtmlPage, Layout } from "./layout.ts";
import { homeLink, type Root, rootOf } from "./links.ts";

const LONGEST_NAME = 80;

const SignIn = z.object({
  name: z
    .string({ error: "expected your name" })
    .transform((name) => stripControls(name).trim())
    .refine((name) => name !== "", "expected your name")
    .refine((name) => name.length <= LONGEST_NAME, `expected at most ${LONGEST_NAME} characters`),
  token: z.string({ error: "expected the token" }).min(1, "expected the token").max(4_096, "not this token"),
  to: z.string().max(2_048).catch(""),
});

interface SignInForm {
  readonly root: Root;
  /** The path to go to afterwards, from `/` on. */
  readonly to: string;
  readonly name?: string;
  readonly problem?: FieldProblem | undefined;
  readonly isReadOnly: boolean;
}

/** The path `to` where it is below ours and does not begin like the address of a host, else our own, which is empty. */
export function pathWithin(to: string): string {
  const base = "http://here.invalid/own/";
  if (!URL.canParse(to, base)) return "";
  const { href } = new URL(to, base);
  const path = href.startsWith(base) ? href.slice(base.length) : "";
  return path.startsWith("/") ? "" : path;
}

function signInForm({ root, to, name = "", problem, isReadOnly }: SignInForm): Markup {
  const opens = isReadOnly
    ? "The read token shows the fleet."
    : "The read token shows the fleet; the admin token, or one with the scope silence, also acknowledges and silences.";
  const autofocus = problem ? nothing : html` autofocus`;
  const nameField = inputField("name", "Your name", problem, {
    value: name,
    hint: "Shown with your acknowledgements and silences.",
    attributes: html` required maxlength="${LONGEST_NAME}" autocomplete="username"${autofocus}`,
  });
  const tokenField = inputField("token", "Token", problem, {
    hint: opens,
    attributes: html` type="password" required autocomplete="current-password"`,
  });
  return html`<form class="sheet" method="post" action="${root}session">
<input type="hidden" name="to" value="${to}">
${nameField}
${tokenField}
<p><button class="main">Sign in</button></p></form>`;
}

function signInPage(form: SignInForm): HtmlPage {
  return { title: "Sign in", here: "session", body: html`<h1>Sign in</h1>${signInForm(form)}` };
}

const SessionQuery = z.object({ to: z.string().max(2_048).catch("") });

const ROOT = "./";

export function sessionRoutes(app: FastifyInstance, deps: GateDeps, layout: Layout): void {
  const checkToken = createTokenCheck(app, deps);
  const formOf = (to: string): SignInForm => {
    return { root: ROOT, to: pathWithin(to), isReadOnly: !isScopeGiven("silence", deps.access) };
  };
  app.get("/session", { config: { page: ROOT, open: true } }, async (request, reply) => {
    const { to } = parseQuery(SessionQuery, request.query);
    refuseWithoutTokens(deps);
    return layout.send(request, reply, signInPage(formOf(to)));
  });

  app.post("/session", { config: { page: ROOT, open: true } }, async (request, reply) => {
    refuseWithoutTokens(deps);
    checkSender(request, deps);
    const read = readFields(SignIn, request.body);
    const again = (status: number, problem: FieldProblem) => {
      const { name = "", to = "" } = "fields" in read ? read.fields : {};
      return layout.send(request, reply.code(status), signInPage({ ...formOf(to), name, problem }));
    };
    if ("problem" in read) return again(400, read.problem);
    const token = await checkToken(read.fields.token, request, reply);
    if (!token) {
      deps.log.warn({ address: request.ip }, "sign-in with a wrong token");
      return again(401, { field: "token", message: "this token is not known" });
    }
    if (!deps.access.isReadingOpen && !scopeSet(token.scopes).has("read"))
      return again(403, { field: "token", message: "this token lacks the scope read, which the pages need" });
    const { session, cookie } = openSession(token, read.fields.name, deps.clock.now());
    note("sign_in", session, request);
    reply.header("set-cookie", sessionCookie(app, cookie, deps));
    return reply.redirect(`${ROOT}${pathWithin(read.fields.to)}`, 303);
  });

  app.post("/session/end", { config: { page: "../", open: true } }, async (request, reply) => {
    checkSender(request, deps);
    const session = sessionOf(app, request, deps);
    if (session) note("sign_out", session, request);
    reply.header("set-cookie", sessionCookie(app, undefined, deps));
    return reply.redirect("../", 303);
  });

  function note(action: "sign_in" | "sign_out", { token, name }: Session, { ip: address }: FastifyRequest): void {
    deps.audit({ actor: { via: "session", name: token.name, person: name }, address, action, outcome: "done" });
  }
}

function refuseWithoutTokens({ access }: GateDeps): void {
  if (access.tokens.length > 0) return;
  throw new HttpError(
    "forbidden",
    "Nobody can sign in: no token is configured. Set http.admin_token or http.tokens and reload.",
  );
}

/** Another site must not sign a visitor in or out. */
function checkSender(request: FastifyRequest, deps: GateDeps): void {
  const { headers } = request;
  const { externalUrl } = deps;
  if (!isSameOrigin(headers, externalUrl)) {
    noteRefusal(deps, request, "other_site");
    throw new HttpError("forbidden", "Another site sent this form. Open the status page and do it there.");
  }
  if (!isHttps(deps) || !isRemotePlainHttp(headers)) return;
  const message = `A session needs HTTPS: sign in at ${externalUrl}, the configured http.external_url.`;
  throw new HttpError("forbidden", message);
}

interface FailedRequest {
  readonly root: Root;
  /** The requested path from `/` on, where signing in leads. */
  readonly path: string;
  readonly isReadOnly: boolean;
  /** A token is configured to sign in with. */
  readonly canSignIn: boolean;
}

const TITLES: Readonly<Record<number, string>> = {
  401: "Not signed in",
  403: "Not allowed",
  404: "Not found",
  429: "Too many requests",
  500: "A fault of lenswatch",
  503: "The state cannot be read now",
};

/** For browsers, whatever they asked for; shows nothing of the fleet. */
export function notFoundPage(path: string): HtmlPage {
  const root = rootOf(path);
  return {
    title: "Not found",
    here: "session",
    root,
    body: html`<div class="lead unknown"><h1>There is nothing at this address</h1>
<p>The link may be cut off, or the recording or alert may be known under another one.</p></div>
<p><a href="${homeLink(root)}">To the status page</a></p>`,
  };
}

/** Shows nothing of the fleet. */
export function problemPage({ status, message }: ErrorAnswer, request: FailedRequest): HtmlPage {
  const { root, path: to, isReadOnly, canSignIn } = request;
  if (status === 401 && canSignIn) {
    const body = html`<h1>Sign in</h1><p>${message}</p>${signInForm({ root, to, isReadOnly })}
<p class="soft">From a terminal, <code>lenswatch status</code> sends the token in <code>LENSWATCH_READ_TOKEN</code>.</p>`;
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
