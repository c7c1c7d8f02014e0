/**
 * Certificates of one's own, as PEM: the keys, and what must hold between them. They are read here to the end, so that
 * a file cut short, or a certificate renewed without its key, is refused before anybody is asked with it.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { z } from "zod";
import { optional, type Parsed } from "./key.ts";
import { pem } from "./scalars.ts";

/** The keys `ca`, `cert` and `key`; `who` is asked with them, as in "may vouch for it". */
export function tlsKeys(who: string) {
  return {
    ca: optional(`The authorities that may vouch for ${who}; the system's own by default.`, pem, {
      secret: true,
    }),
    cert: optional(`The certificate ${who} knows us by.`, pem, { secret: true }),
    key: optional("The key that belongs to the certificate.", pem, { secret: true }),
  };
}

type Tls = Parsed<ReturnType<typeof tlsKeys>>;

/** Refuses half a pair, what cannot be read, and a key of another certificate. */
export function checkTls(tls: Tls, context: z.RefinementCtx): void {
  const problem = problemOf(tls);
  if (problem) context.addIssue({ code: "custom", path: [problem[0]], message: problem[1] });
}

function problemOf({ ca, cert, key }: Tls): readonly [keyof Tls, string] | undefined {
  if (ca !== undefined && !firstOf(ca)) return ["ca", "certificates that can be read"];
  if (cert === undefined) return key === undefined ? undefined : ["cert", "a cert beside the key"];
  if (key === undefined) return ["key", "a key beside the cert"];
  const certificate = firstOf(cert);
  if (!certificate) return ["cert", "a certificate that can be read"];
  const known = attempt(() => createPrivateKey(key));
  if (!known) return ["key", "a private key that can be read, without a passphrase"];
  return certificate.checkPrivateKey(known) ? undefined : ["key", "the key of the certificate beside it"];
}

/** The first certificate, where all of them can be read; undefined otherwise. */
function firstOf(text: string): X509Certificate | undefined {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return attempt(() => blocks.map((block) => new X509Certificate(block)))?.[0];
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
