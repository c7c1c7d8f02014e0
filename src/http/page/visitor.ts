/** The visitor of a page, and what they may change. */
import type { FastifyRequest } from "fastify";
import { html, type Markup } from "../../lib/markup.ts";
import type { HttpDeps } from "../deps.ts";
import { authorOf, isScopeGiven } from "../principal.ts";
import { formTokenOf } from "../session.ts";

export interface Visitor {
  /** The name given at sign-in, or by what else has signed them in; undefined for visitors who have not signed in. */
  readonly name: string | undefined;
  /** Hidden field of their forms; undefined for visitors who may change nothing. */
  readonly formToken: string | undefined;
  /** Their session is ours to end. */
  readonly canSignOut: boolean;
  /** A token is configured to sign in with. */
  readonly canSignIn: boolean;
  /** Nothing gives the scope that it needs: nobody can change anything. */
  readonly isReadOnly: boolean;
}

export function visitorOf(
  sender: Pick<FastifyRequest, "session" | "principal">,
  { access }: Pick<HttpDeps, "access">,
): Visitor {
  const { principal } = sender;
  return {
    name: principal.via === "anonymous" ? undefined : authorOf(principal),
    formToken: principal.scopes.has("silence") ? formTokenOf(sender, access) : undefined,
    canSignOut: principal.via === "session",
    canSignIn: access.tokens.length > 0,
    isReadOnly: !isScopeGiven("silence", access),
  };
}

/** The hidden field that proves that a form was made for its sender. */
export function formToken({ formToken: token = "" }: Pick<Visitor, "formToken">): Markup {
  return html`<input type="hidden" name="form" value="${token}">`;
}
