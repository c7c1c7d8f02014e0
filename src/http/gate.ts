/** Access control: tokens for programs, sessions for people, and forms only from our own pages. */
import type { IncomingHttpHeaders } from "node:http";
import fastifyCookie from "@fastify/cookie";
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { isOwnHost } from "./host.ts";
import {
  type AccessToken,
  anonymous,
  bearerOf,
  findToken,
  isScopeGiven,
  noteRefusal,
  type Principal,
  type Scope,
  scopeSet,
} from "./principal.ts";
import { cleanForwardedFor, proxyAuthenticator } from "./proxies.ts";
import { isFormOf, readSession, SESSION_MS, type Session } from "./session.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Needs no principal. */
    open?: boolean;
    /** The scope that the principal needs; `read` by default. */
    scope?: Scope;
    /** Changes state from a page: needs a form made for its sender. */
    form?: boolean;
  }
  interface FastifyRequest {
    /** Set before handlers run. */
    principal: Principal;
    /** Undefined for visitors who have not signed in. */
    session: Session | undefined;
  }
}

/** Wrong tokens of one address; further ones within this time are answered 429. */
const MOST_FAILURES = 10;
const FAILURES_MS = 60_000;

/** The dependencies of authentication. */
export type GateDeps = Pick<HttpDeps, "access" | "externalUrl" | "listen" | "tls" | "clock" | "log" | "audit">;

/** Refuses requests before their handlers run, and sets `principal` and `session` on those that pass. */
export function gate(app: FastifyInstance, deps: GateDeps): void {
  app.register(fastifyCookie, { hook: false });
  app.register(rateLimit, { global: false, max: MOST_FAILURES, timeWindow: FAILURES_MS, ipv6Subnet: 64 });
  app.decorateRequest("session", undefined);
  // Fastify refuses a reference that requests would share.
  app.decorateRequest("principal", null as unknown as Principal);
  const checkToken = createTokenCheck(app, deps);
  const proxyPrincipal = proxyAuthenticator(deps);
  app.addHook("onRequest", async (request, reply) => {
    cleanForwardedFor(request.raw);
    request.principal = anonymous(deps.access);
    if (request.is404) return;
    const { open, form, page } = request.routeOptions.config;
    // Probes wait for nothing.
    if (open && page === undefined) return;
    request.session = sessionOf(app, request, deps);
    request.principal = sessionPrincipal(request) ?? proxyPrincipal(request) ?? request.principal;
    if (open) return;
    checkConfigured(request, deps);
    const { via } = request.principal;
    // A session's cookie is not sent for the name of another site.
    const isOurs = via === "session" || isOwnHost(request.headers.host, deps);
    if (form && !isOurs) throw misdirected();
    if (form) return checkSender(request, deps);
    const allowed = isAllowed(request, deps);
    if (allowed && isOurs && isCausedElsewhere(request.headers)) throw causedElsewhere();
    if (allowed && isOurs) return;
    const token = bearerOf(request.headers.authorization);
    const known = token ? await checkToken(token, request, reply) : undefined;
    const isSignedIn = request.principal.via !== "anonymous";
    if (!known && allowed) throw misdirected();
    if (!known && (!isSignedIn || mayUse(request, deps))) throw unauthorized(request, token !== undefined, deps);
    if (known) request.principal = { via: "token", name: known.name, scopes: scopeSet(known.scopes) };
    if (mayUse(request, deps)) return;
    noteRefusal(deps, request, "missing_scope");
    throw lacksScope(request);
  });
  app.addHook("preHandler", async (request) => {
    if (!request.is404 && request.routeOptions.config.form) checkForm(request, deps);
  });
}

function sessionPrincipal({ session }: FastifyRequest): Principal | undefined {
  if (!session) return undefined;
  const { token, name } = session;
  return { via: "session", name: token.name, person: name, scopes: scopeSet(token.scopes) };
}

const scopeOf = ({ routeOptions: { config } }: FastifyRequest): Scope => config.scope ?? "read";

function mayUse(request: FastifyRequest, { access }: GateDeps): boolean {
  const scope = scopeOf(request);
  return request.principal.scopes.has(scope) || (scope === "read" && access.isReadingOpen);
}

/** Without a token: a browser adds cookies and headers by itself, so with them only forms change state. */
function isAllowed(request: FastifyRequest, deps: GateDeps): boolean {
  const isSafe = request.method === "GET" || request.method === "HEAD";
  return isSafe && mayUse(request, deps);
}

function misdirected(): HttpError {
  const message =
    "This name is not known to be this server's: ask by its address, send a token, or set http.external_url.";
  return new HttpError("misdirected", message);
}

function causedElsewhere(): HttpError {
  return new HttpError("forbidden", "A page of another site asked for this: open it here, or send a token.");
}

function checkConfigured(request: FastifyRequest, deps: GateDeps): void {
  const scope = scopeOf(request);
  if (scope === "read" || mayUse(request, deps) || isScopeGiven(scope, deps.access)) return;
  const none = `no http.admin_token is configured, and no http.tokens with the scope ${scope}`;
  throw new HttpError("forbidden", `Nothing can be changed: ${none}; set one and reload.`);
}

function unauthorized(request: FastifyRequest, isTokenUnknown: boolean, { access }: GateDeps): HttpError {
  if (access.authProxy && access.tokens.length === 0)
    return new HttpError(
      "unauthorized",
      request.principal.via === "proxy"
        ? "A change by the API needs a token, and none is configured: set one in http.tokens, or use the page."
        : "Come through the proxy that signs people in.",
    );
  if (request.routeOptions.config.page !== undefined)
    return new HttpError("unauthorized", "Sign in with a token that has the scope read to see this page.");
  const send = isTokenUnknown ? "This token is not known; send" : "Send";
  const message = `${send} the header Authorization: Bearer with a token that has the scope ${scopeOf(request)}.`;
  return new HttpError("unauthorized", message);
}

function lacksScope(request: FastifyRequest): HttpError {
  const { via, name } = request.principal;
  const lacks = `lacks the scope ${scopeOf(request)}`;
  if (via === "token") return new HttpError("missing_scope", `The token ${name} ${lacks}.`);
  if (via === "session")
    return new HttpError("missing_scope", `The token that you signed in with ${lacks}. Sign out, and in with another.`);
  return new HttpError("missing_scope", `${name} ${lacks}; sign in with a token that has it.`);
}

/**
 * Gives the configured token, undefined for a wrong one. Throws HttpError `too_many_failures` after too many wrong ones;
 * a right one passes at any time, so that nobody is locked out by others behind the same proxy.
 */
export function createTokenCheck(app: FastifyInstance, deps: GateDeps) {
  let countFailure: ReturnType<FastifyInstance["createRateLimit"]> | undefined;
  return async (token: string, request: FastifyRequest, reply: FastifyReply): Promise<AccessToken | undefined> => {
    const known = findToken(token, deps.access);
    if (known) return known;
    noteRefusal(deps, request, "wrong_token");
    countFailure ??= app.createRateLimit({});
    const counted = await countFailure(request);
    if (counted.isAllowed) return undefined;
    const { remaining, isExceeded, ttlInSeconds } = counted;
    if (remaining === 0 && !isExceeded) deps.log.warn({ address: request.ip }, "too many wrong tokens from an address");
    if (!isExceeded) return undefined;
    reply.header("retry-after", ttlInSeconds);
    const message = `Too many wrong tokens came from your address; try again in ${ttlInSeconds} s.`;
    throw new HttpError("too_many_failures", message);
  };
}

/** The Set-Cookie header that sets a session, or removes it where `value` is undefined. */
export function sessionCookie(
  app: FastifyInstance,
  value: string | undefined,
  deps: Pick<GateDeps, "externalUrl" | "tls">,
): string {
  return app.serializeCookie(cookieName(deps), value ?? "", {
    path: "/",
    httpOnly: true,
    sameSite: "strict",
    secure: isHttps(deps),
    maxAge: value === undefined ? 0 : SESSION_MS / 1000,
  });
}

/** True where people reach the page over TLS, according to the configuration. */
export function isHttps({ externalUrl, tls }: Pick<GateDeps, "externalUrl" | "tls">): boolean {
  return tls !== undefined || externalUrl?.startsWith("https:") === true;
}

/** With TLS under the prefix that no other site can write to (RFC 6265bis, 4.1.3.2). */
function cookieName(deps: Pick<GateDeps, "externalUrl" | "tls">): string {
  return isHttps(deps) ? "__Host-lenswatch" : "lenswatch";
}

/** The session of the request's cookie. */
export function sessionOf(app: FastifyInstance, { headers }: FastifyRequest, deps: GateDeps): Session | undefined {
  if (headers.cookie === undefined) return undefined;
  const cookie = app.parseCookie(headers.cookie)[cookieName(deps)];
  return readSession(cookie, deps.access, deps.clock.now());
}

function checkSender(request: FastifyRequest, deps: GateDeps): void {
  if (!isSameOrigin(request.headers, deps.externalUrl) || !isOriginKnown(request)) {
    noteRefusal(deps, request, "other_site");
    throw new HttpError("forbidden", "Another site sent this form: nothing was changed. Use the status page.");
  }
  if (request.principal.via === "anonymous")
    throw new HttpError("unauthorized", "Your session has ended: nothing was changed. Sign in and try again.");
  if (mayUse(request, deps)) return;
  noteRefusal(deps, request, "missing_scope");
  throw lacksScope(request);
}

/** Without a cookie of ours, which other sites cannot have sent, a browser must say where the form is from. */
function isOriginKnown({ principal, headers }: FastifyRequest): boolean {
  return principal.via === "session" || headers["sec-fetch-site"] !== undefined || headers.origin !== undefined;
}

function checkForm(request: FastifyRequest, deps: GateDeps): void {
  const given = (request.body as { form?: unknown } | undefined)?.form;
  if (typeof given === "string" && isFormOf(request, given, deps.access)) return;
  noteRefusal(deps, request, "other_site");
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

/** True where a page of another site had its browser ask for this, other than by leading there (w3.org/TR/fetch-metadata). */
function isCausedElsewhere(headers: IncomingHttpHeaders): boolean {
  const { "sec-fetch-site": site = "none", "sec-fetch-mode": mode, "sec-fetch-dest": dest } = headers;
  const isLed = mode === "navigate" && dest === "document";
  return !isLed && site !== "same-origin" && site !== "none";
}

/** True where the page was loaded over plain HTTP from another machine, where a `Secure` cookie is not sent back. */
export function isRemotePlainHttp({ origin }: IncomingHttpHeaders): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
