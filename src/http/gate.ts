/** Who gets in: tokens for programs, sessions for people, and forms only from pages of our own. */
import fastifyCookie from "@fastify/cookie";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { bearerOf, isOurs, mayChange, mayRead } from "./auth.ts";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { createGuard, type Guard } from "./guard.ts";
import { isFromOurselves } from "./same-origin.ts";
import { isFormOf, readSession, SESSION_MS, type Session } from "./session.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Answered without a token. */
    open?: boolean;
    /** Changes state: needs the admin token. */
    admin?: boolean;
    /** Changes state from a page: needs a session made from the admin token, and a form made for it. */
    form?: boolean;
  }
  interface FastifyRequest {
    /** Undefined for who has not signed in. */
    session: Session | undefined;
  }
}

type Deps = Pick<HttpDeps, "readToken" | "adminToken" | "externalUrl" | "clock" | "log">;

/** Refuses requests before their handlers see them; what gets through has its `session`. */
export function gate(app: FastifyInstance, deps: Deps): void {
  app.register(fastifyCookie, { hook: false });
  app.decorateRequest("session", undefined);
  const guard = createGuard();
  app.addHook("onRequest", async (request, reply) => {
    if (request.is404) return;
    const { open, admin, form, page } = request.routeOptions.config;
    request.session = sessionOf(app, request, deps);
    if (admin || form) refuseWithoutAdminToken(deps);
    if (form) return checkSender(request, deps);
    if (open && !admin) return;
    const { authorization } = request.headers;
    if (!admin && (request.session || deps.readToken === undefined)) return;
    judgeToken(guard, request, reply, deps);
    if (admin ? mayChange(authorization, deps) : mayRead(authorization, deps)) return;
    if (admin) throw unauthorized("admin");
    if (page === undefined) throw unauthorized("read or admin");
    throw new HttpError(
      "unauthorized",
      "Who wants to see this signs in first, with the read or admin token.",
    );
  });
  app.addHook("preHandler", async (request) => {
    if (!request.is404 && request.routeOptions.config.form) checkForm(request, deps);
  });
}

/** Refuses who is held back; who gives no token is not judged. */
function judgeToken(guard: Guard, request: FastifyRequest, reply: FastifyReply, deps: Deps): void {
  const token = bearerOf(request.headers.authorization);
  if (token === undefined || token === "") return;
  const given = { address: request.ip, token, isRight: isOurs(token, deps) };
  const verdict = guard.judge(given, deps.clock.now());
  if (verdict.kind === "wrong" && verdict.isLast) {
    deps.log.warn({ address: request.ip }, "an address sent ten wrong tokens and is held back");
  }
  if (verdict.kind !== "held") return;
  const seconds = Math.ceil(verdict.retryAfterMs / 1000);
  reply.header("retry-after", seconds);
  throw new HttpError(
    "too_many_failures",
    `Too many wrong tokens came from your address; try again in ${seconds} s.`,
  );
}

/** The header that gives a browser its session, or takes it away. */
export function sessionCookie(
  app: FastifyInstance,
  value: string | undefined,
  { externalUrl }: Deps,
): string {
  return app.serializeCookie(cookieName(externalUrl), value ?? "", {
    path: "/",
    httpOnly: true,
    sameSite: "strict",
    secure: isHttps(externalUrl),
    maxAge: value === undefined ? 0 : SESSION_MS / 1000,
  });
}

/** Whether people reach the page over TLS, as far as the configuration says. */
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

function refuseWithoutAdminToken({ adminToken }: Deps): void {
  if (adminToken) return;
  throw new HttpError(
    "forbidden",
    "Nothing can be changed here: no http.admin_token is configured. Set one and restart.",
  );
}

function unauthorized(which: string): HttpError {
  return new HttpError(
    "unauthorized",
    `This needs the header Authorization: Bearer with the ${which} token.`,
  );
}

function checkSender({ headers, session }: FastifyRequest, { externalUrl }: Deps): void {
  if (!isFromOurselves(headers, externalUrl)) {
    throw new HttpError(
      "forbidden",
      "Another site sent this form, so nothing was changed. Open the status page and do it there.",
    );
  }
  if (!session) {
    throw new HttpError(
      "unauthorized",
      "You are not signed in any more, so nothing was changed. Sign in and do it again.",
    );
  }
  if (session.scope === "admin") return;
  throw new HttpError(
    "forbidden",
    "You signed in with the read token, which changes nothing. Sign out, and in with the admin token.",
  );
}

function checkForm({ session, body }: FastifyRequest, deps: Deps): void {
  const given = (body as { form?: unknown } | undefined)?.form;
  if (session && typeof given === "string" && isFormOf(session, given, deps)) return;
  throw new HttpError(
    "forbidden",
    "The field form is not of your session, so nothing was changed. Load the page again and repeat it.",
  );
}
