/** A request's principal and its scopes, and the tokens that give them. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Audit, AuditOrigin, RefusalReason } from "../alerting/audit.ts";

/** `admin` includes all others; `alerts` (posting) and `silence` (and acknowledging) do not include `read`. */
export const scopes = ["read", "alerts", "silence", "admin"] as const;
export type Scope = (typeof scopes)[number];

export interface Principal {
  readonly via: "anonymous" | "token" | "session" | "proxy";
  /** The name of the token or of the proxy's user; empty for anonymous. */
  readonly name: string;
  /** The signed-in name: the author of acknowledgements and silences. */
  readonly person?: string;
  readonly scopes: ReadonlySet<Scope>;
}

export interface AccessToken {
  /** Unique. */
  readonly name: string;
  readonly token: string;
  readonly scopes: readonly Scope[];
}

export interface Access {
  readonly tokens: readonly AccessToken[];
  /** Everybody who reaches the port may read. */
  readonly isReadingOpen: boolean;
  /** True for an address of `http.trusted_proxies`. */
  isTrustedProxy(address: string): boolean;
  /** `http.auth_proxy` */
  readonly authProxy?: AuthProxy | undefined;
  /** A secret of all replicas that forms are signed with. */
  readonly formKey: string;
}

interface AuthProxy {
  readonly userHeader: string;
  readonly groupsHeader?: string | undefined;
  readonly adminGroups: readonly string[];
}

/** With those that they include. */
export function scopeSet(given: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(given.includes("admin") ? scopes : given);
}

/** The principal of a request that proves none. */
export function anonymous({ isReadingOpen }: Access): Principal {
  return { via: "anonymous", name: "", scopes: new Set(isReadingOpen ? ["read"] : []) };
}

/** The author of what the principal changes. */
export function authorOf({ person, name }: Principal): string {
  return person ?? name;
}

/** The principal as the audit trail has it. */
export function originOf({ principal, ip }: Pick<FastifyRequest, "principal" | "ip">): AuditOrigin {
  const { via, name, person } = principal;
  return { actor: { via, name, person }, address: ip };
}

/** Audits that a request was refused. */
export function noteRefusal(deps: { readonly audit: Audit }, request: FastifyRequest, reason: RefusalReason): void {
  const target = `${request.method} ${request.routeOptions.url ?? ""}`;
  deps.audit({ ...originOf(request), action: "refused", outcome: "refused", target, reason });
}

/** True where a token, or a group of the proxy's users, gives the scope. */
export function isScopeGiven(scope: Scope, { tokens, authProxy }: Access): boolean {
  if (authProxy && authProxy.adminGroups.length > 0) return true;
  return tokens.some((one) => scopeSet(one.scopes).has(scope));
}

/** The token of an Authorization header; undefined where there is none. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.slice(0, 7).toLowerCase() === "bearer " ? authorization.slice(7).trim() : undefined;
}

/** The configured token that `given` is, undefined for an unknown one. The time it takes reveals nothing of the tokens. */
export function findToken(given: string, { tokens }: Access): AccessToken | undefined {
  const equal = tokens.map(({ token }) => isSameText(given, token));
  return tokens[equal.indexOf(true)];
}

/** Compares in constant time; false where nothing is expected. */
export function isSameText(given: string, expected: string): boolean {
  return timingSafeEqual(sha256(given), sha256(expected)) && expected !== "";
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
