/** Secrets kept out of texts and errors: libraries put URLs and headers into theirs. */
import { scrub } from "./log.ts";
import { cut, stripControls } from "./text.ts";

export type Redactor = ReturnType<typeof createRedactor>;

const RECENT = 16;
/** A shorter secret from elsewhere would redact ordinary words. */
const MIN_LENGTH = 4;
const CAUSE_DEPTH = 4;
const MESSAGE_LENGTH = 300;

/** Redacts the given secrets for ever; empty ones are ignored. */
export function createRedactor(secrets: readonly string[]) {
  const forever = secrets.filter((secret) => secret !== "");
  let recent: string[] = [];
  const text = (all: string) => scrub([...forever, ...recent].reduce(withoutSecret, all));
  const line = (all: string) => cut(stripControls(text(all)), MESSAGE_LENGTH);

  function error(thrown: unknown, depth = 0): Error & { readonly code?: string } {
    const { name = "Error", message, code, cause } = Object(thrown) as Partial<Error> & { code?: unknown };
    const inner = cause === undefined || depth === CAUSE_DEPTH ? undefined : error(cause, depth + 1);
    const copy = new Error(line((message ?? String(thrown)) || String(code ?? name)), inner && { cause: inner });
    copy.name = line(name);
    copy.stack = `${copy.name}: ${copy.message}`;
    return typeof code === "string" ? Object.assign(copy, { code: line(code) }) : copy;
  }

  return {
    /** Redacts this secret too from now on; only the last few are kept. */
    add(secret: string): void {
      if (secret.length < MIN_LENGTH || recent.includes(secret)) return;
      recent = [...recent.slice(1 - RECENT), secret];
    },
    /** The text without any known or recognisable secret. */
    text,
    /** A copy that is safe to log: name, message and code of the error and its causes, and nothing else. */
    error: (thrown: unknown) => error(thrown),
  };
}

/** Also in the forms it has in a URL and in JSON. */
function withoutSecret(text: string, secret: string): string {
  const forms = new Set([secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]);
  return [...forms].reduce((rest, form) => rest.replaceAll(form, "[redacted]"), text);
}
