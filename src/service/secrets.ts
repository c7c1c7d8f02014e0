/**
 * What must never be seen: the client secret and the tokens. Libraries put URLs and headers into their errors,
 * so none of theirs leaves this room as it is.
 */
import { toError } from "../lib/errors.ts";
import { scrub } from "../lib/log.ts";

export interface Secrets {
  /** From now on blanked wherever it appears. The last few are kept. */
  remember(secret: string): void;
  /** The text without any secret known or recognisable. */
  blank(text: string): string;
  /** A copy of an error that is safe to keep as `cause`: its name, code and blanked message, nothing else. */
  cause(thrown: unknown): Error;
}

const REMEMBERED = 16;
/** Shorter ones would blank ordinary words. */
const MIN_LENGTH = 4;

export function createSecrets(...known: readonly string[]): Secrets {
  const forever = known.filter((secret) => secret.length >= MIN_LENGTH);
  let recent: string[] = [];

  const blank = (text: string) =>
    scrub([...forever, ...recent].reduce((clean, secret) => blankOne(clean, secret), text));

  return {
    remember(secret) {
      if (secret.length < MIN_LENGTH || recent.includes(secret)) return;
      recent = [...recent.slice(1 - REMEMBERED), secret];
    },
    blank,
    cause(thrown) {
      const { name, message, code } = toError(thrown) as Error & { code?: unknown };
      const copy = new Error(blank(message || String(code ?? name)));
      copy.name = name;
      return Object.assign(copy, typeof code === "string" ? { code } : {});
    },
  };
}

/** Also as it stands in a URL or in JSON. */
function blankOne(text: string, secret: string): string {
  const forms = new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  return [...forms].reduce((clean, form) => clean.replaceAll(form, "[redacted]"), text);
}
