/** The visitor of a page, and what they may change. */
import type { FastifyRequest } from "fastify";
import { html, type Markup } from "../../lib/markup.ts";
import type { HttpDeps } from "../deps.ts";
import { isScopeGiven } from "../principal.ts";
import { formTokenOf } from "../session.ts";

export interface Visitor {
  /** As given at sign-in; undefined for visitors who have not signed in. */
  readonly name: string | undefined;
  /** Hidden field of their forms; undefined for visitors who may change nothing. */
  readonly formToken: string | undefined;
  /** Has the scope admin. */
  readonly isAdmin: boolean;
  /** Whether a token is configured to sign in with. */
  readonly canSignIn: boolean;
  /** No admin token is configured: nobody can change anything. */
  readonly isReadOnly: boolean;
}

export function visitorOf(
  { session, principal }: Pick<FastifyRequest, "session" | "principal">,
  { access }: Pick<HttpDeps, "access">,
): Visitor {
  return {
    name: session?.name,
    formToken: session && principal.scopes.has("silence") ? formTokenOf(session) : undefined,
    isAdmin: principal.scopes.has("admin"),
    canSignIn: access.tokens.length > 0,
    isReadOnly: !isScopeGiven("silence", access),
  };
}

/** The hidden field that proves that a form was made for its sender. */
export function formToken({ formToken: token = "" }: Visitor): Markup {
  return html`<input type="hidden" name="form" value="${token}">`;
}
