/** Who looks at a page, and what they may do there. */
import type { FastifyRequest } from "fastify";
import { html, type Markup } from "../../lib/markup.ts";
import type { HttpDeps } from "../deps.ts";
import { formTokenOf } from "../session.ts";

export interface Visitor {
  /** Who has signed in; undefined for all others. */
  readonly name: string | undefined;
  /** What their forms bring along; undefined for who may change nothing. */
  readonly formToken: string | undefined;
  /** Whether there is a token to sign in with. */
  readonly canSignIn: boolean;
  /** Nobody may change anything: no admin token is configured. */
  readonly isReadOnly: boolean;
}

export function visitorOf(
  { session }: Pick<FastifyRequest, "session">,
  deps: Pick<HttpDeps, "adminToken" | "readToken">,
): Visitor {
  const keeper = session?.scope === "admin" ? session : undefined;
  return {
    name: session?.name,
    formToken: keeper && formTokenOf(keeper, deps),
    canSignIn: !!deps.adminToken || !!deps.readToken,
    isReadOnly: !deps.adminToken,
  };
}

/** The field that shows that a form was made for its sender. */
export function formToken({ formToken: token = "" }: Visitor): Markup {
  return html`<input type="hidden" name="form" value="${token}">`;
}
