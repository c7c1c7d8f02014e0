/** Principals of the web configuration file: users by HTTP basic authentication, and clients by their certificates. */
import { createHmac, randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Instant } from "../lib/clock.ts";
import { compareHash } from "./bcrypt.ts";
import type { HttpDeps } from "./deps.ts";
import { HttpError } from "./errors.ts";
import { createGuard } from "./guard.ts";
import { type Authenticator, noteRefusal, scopeSet } from "./principal.ts";
import { verifiedClient } from "./tls.ts";

/** Comparisons run one at a time. */
const MOST_WAITING = 16;
/** Right logins that need no comparison again; the oldest is dropped. */
const MOST_KNOWN = 1_000;

type Deps = Pick<HttpDeps, "web" | "clock" | "log" | "audit">;
type Users = Readonly<Record<string, string>>;
interface Login {
  readonly user: string;
  readonly password: string;
}

/** A verified client certificate may read. */
export function certificateAuthenticator(deps: Deps): Authenticator {
  return ({ socket }) => {
    const name = verifiedClient(socket, deps.web?.tls);
    return name === undefined ? undefined : { via: "certificate", name, scopes: scopeSet(["read"]) };
  };
}

/**
 * A user may do what Alertmanager's API does. A wrong login takes as long for an unknown user. After ten comparisons from
 * one address in a minute there are no more; a login that was right before needs none.
 */
export function basicAuthenticator(deps: Deps, compare = compareHash): Authenticator {
  const key = randomBytes(32);
  const guard = createGuard();
  const known = new Map<string, Promise<boolean>>();
  const digestOf = (...parts: string[]) => createHmac("sha256", key).update(JSON.stringify(parts)).digest();
  const inLane = createLane();

  function isRight({ user, password }: Login, users: Users, request: FastifyRequest): Promise<boolean> {
    const hash = Object.hasOwn(users, user) ? users[user] : undefined;
    const others = Object.values(users);
    // For an unknown user that of another, always the same one.
    const compared = hash ?? others[digestOf(user).readUInt32LE() % others.length] ?? "";
    const digest = digestOf(user, compared, password).toString("base64");
    const before = known.get(digest);
    if (before) return before;
    throttle(request, deps.clock.now());
    const right = inLane(() => compare(password, compared)).then((isSame) => isSame && hash !== undefined);
    known.set(digest, right);
    const forget = () => known.delete(digest);
    right.then((is) => is || forget(), forget);
    const [oldest] = known.keys();
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    return right;
  }

  function throttle(request: FastifyRequest, now: Instant): void {
    const { isLast, blockedMs } = guard.fail(request.ip, now);
    if (isLast) deps.log.warn({ address: request.ip }, "too many logins from an address");
    if (blockedMs === undefined) return;
    noteRefusal(deps, request, "wrong_login");
    const seconds = Math.ceil(blockedMs / 1000);
    throw new HttpError("too_many_failures", `Too many logins came from your address; try again in ${seconds} s.`);
  }

  return async (request) => {
    const { users } = deps.web ?? {};
    const login = request.routeOptions.config.open ? undefined : loginOf(request.headers.authorization);
    if (!login || !users || Object.keys(users).length === 0) return undefined;
    if (await isRight(login, users, request))
      return { via: "basic", name: login.user, scopes: scopeSet(["read", "alerts", "silence"]) };
    noteRefusal(deps, request, "wrong_login");
    return undefined;
  };
}

function createLane() {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= MOST_WAITING) throw new HttpError("busy", "Too many logins at once; try again in a few seconds.");
    waiting += 1;
    const done = last.then(work, work).finally(() => {
      waiting -= 1;
    });
    last = done.catch(() => undefined);
    return done;
  };
}

/** RFC 7617; undefined for another scheme. */
function loginOf(authorization: string | undefined): Login | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization ?? "") ?? [];
  const [, user, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? "", "base64").toString()) ?? [];
  return user === undefined || password === undefined ? undefined : { user, password };
}
