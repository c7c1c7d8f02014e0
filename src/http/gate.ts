/** Access control: tokens for programs, sessions for people, and forms only from our own pages. */
import type { IncomingHttpHeaders } from "node:http";
import fastifyCookie from "@fastify/cookie";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { createGuard } from "./guard.ts";
import { bearerOf, isFormOf, readSession, type Scope, SESSION_MS, type Session, scopeOf } from "./session.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Needs no token. */
    open?: boolean;
    /** Changes state: needs the admin token. */
    admin?: boolean;
    /** Changes state from a page: needs an admin session, and a form made for it. */
    form?: boolean;
  }
  interface FastifyRequest {
    /** Undefined for visitors who have not signed in. */
    session: Session | undefined;
  }
}

type Deps = Pick<HttpDeps, "readToken" | "adminToken" | "externalUrl" | "clock" | "log">;

/** Refuses requests before their handlers run, and sets `session` on those that pass. */
export function gate(app: FastifyInstance, deps: Deps): void {
  app.register(fastifyCookie, { hook: false });
  app.decorateRequest("session", undefined);
  const checkToken = createTokenCheck(createGuard(), deps);
  app.addHook("onRequest", async (request, reply) => {
    if (request.is404) return;
    const { open, admin, form, page } = request.routeOptions.config;
    request.session = sessionOf(app, request, deps);
    if ((admin || form) && !deps.adminToken)
      throw new HttpError("forbidden", "Nothing can be changed: no http.admin_token is configured; set it and reload.");
    if (form) return checkSender(request, deps);
    if (!admin && (open || request.session || deps.readToken === undefined)) return;
    const token = bearerOf(request.headers.authorization);
    const scope = token ? checkToken(token, request, reply) : undefined;
    if (admin ? scope === "admin" : scope) return;
    if (page !== undefined)
      throw new HttpError("unauthorized", "Sign in with the read or admin token to see this page.");
    const which = admin ? "admin" : "read or admin";
    throw new HttpError("unauthorized", `Send the header Authorization: Bearer with the ${which} token.`);
  });
  app.addHook("preHandler", async (request) => {
    if (!request.is404 && request.routeOptions.config.form) checkForm(request, deps);
  });
}

/** Gives what a token permits, undefined for a wrong one. Throws HttpError `too_many_failures` for a blocked address. */
export function createTokenCheck(guard: ReturnType<typeof createGuard>, deps: Deps) {
  return (token: string, { ip }: FastifyRequest, reply: FastifyReply): Scope | undefined => {
    const scope = scopeOf(token, deps);
    const verdict = guard.judge({ address: ip, token, isRight: scope !== undefined }, deps.clock.now());
    if (verdict.kind === "wrong" && verdict.isLast)
      deps.log.warn({ address: ip }, "address blocked after too many wrong tokens");
    if (verdict.kind !== "blocked") return scope;
    const seconds = Math.ceil(verdict.retryAfterMs / 1000);
    reply.header("retry-after", seconds);
    const message = `Too many wrong tokens came from your address; try again in ${seconds} s.`;
    throw new HttpError("too_many_failures", message);
  };
}

/** The Set-Cookie header that sets a session, or removes it where `value` is undefined. */
export function sessionCookie(
  app: FastifyInstance,
  value: string | undefined,
  { externalUrl }: Pick<Deps, "externalUrl">,
): string {
  return app.serializeCookie(cookieName(externalUrl), value ?? "", {
    path: "/",
    httpOnly: true,
    sameSite: "strict",
    secure: isHttps(externalUrl),
    maxAge: value === undefined ? 0 : SESSION_MS / 1000,
  });
}

/** Whether people reach the page over TLS, according to the configuration. */
export function isHttps(externalUrl: string | undefined): boolean {
  return externalUrl?.startsWith("https:") ?? false;
}

/** With TLS under the prefix that no other site can write to (RFC 6265bis, 4.1.3.2). */
function cookieName(externalUrl: string | undefined): string {
  return isHttps(externalUrl) ? "__Host-lenswatch" : "lenswatch";
}

function sessionOf(app: FastifyInstance, { headers }: FastifyRequest, deps: Deps): Session | undefined {
  if (headers.cookie === undefined) return undefined;
  const cookie = app.parseCookie(headers.cookie)[cookieName(deps.externalUrl)];
  return readSession(cookie, deps, deps.clock.now());
}

function checkSender({ headers, session }: FastifyRequest, { externalUrl }: Deps): void {
  if (!isSameOrigin(headers, externalUrl))
    throw new HttpError("forbidden", "Another site sent this form: nothing was changed. Use the status page.");
  if (!session)
    throw new HttpError("unauthorized", "Your session has ended: nothing was changed. Sign in and try again.");
  if (session.scope !== "admin")
    throw new HttpError("forbidden", "The read token changes nothing. Sign out, and in with the admin token.");
}

function checkForm({ session, body }: FastifyRequest, deps: Deps): void {
  const given = (body as { form?: unknown } | undefined)?.form;
  if (session && typeof given === "string" && isFormOf(session, given, deps)) return;
  throw new HttpError("forbidden", "The form is not of your session: nothing was changed. Reload the page.");
}

/**
 * By `Sec-Fetch-Site` (w3.org/TR/fetch-metadata) where present, else by `Origin`, which must be the requested host or
 * that of `externalUrl`. A client that sends neither is no browser and has no cookie that it was not given.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, externalUrl: string | undefined): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  const forwarded = String(headers["x-forwarded-host"] ?? "");
  const ours = [headers.host, forwarded, externalUrl && new URL(externalUrl).host];
  return ours.some((one) => one !== undefined && one !== "" && one.toLowerCase() === host);
}

/** Whether the page was loaded over plain HTTP from another machine, where a `Secure` cookie is not sent back. */
export function isRemotePlainHttp({ origin }: IncomingHttpHeaders): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
