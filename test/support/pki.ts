/** Authorities and the certificates they vouch for, made by openssl for the occasion. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether this machine can make certificates. */
export const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

/** As PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export interface Pki {
  readonly ca: string;
  /** For 127.0.0.1. */
  readonly server: Pair;
  /** For another.example alone. */
  readonly elsewhere: Pair;
  readonly client: Pair;
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** An authority of its own, unlike any made before. */
export function makePki(): Pki {
  const dir = mkdtempSync(join(tmpdir(), "lenswatch-pki-"));
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: dir, stdio: "pipe" });
  const read = (name: string) => readFileSync(join(dir, name), "utf8");
  const issue = (name: string, host: string): Pair => {
    const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=${host}`];
    openssl("req", ...KEY, "-keyout", `${name}.key`, "-out", `${name}.csr`, ...subject);
    const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copy"];
    openssl("x509", "-req", "-in", `${name}.csr`, "-out", `${name}.pem`, ...by, "-days", "2");
    return { cert: read(`${name}.pem`), key: read(`${name}.key`) };
  };
  try {
    openssl("req", "-x509", ...KEY, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca", "-days", "2");
    return {
      ca: read("ca.pem"),
      server: issue("server", "IP:127.0.0.1"),
      elsewhere: issue("elsewhere", "DNS:another.example"),
      client: issue("client", "IP:127.0.0.1"),
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Options of a server that requires client certificates. */
export function demanding(pki: Pki, pair: Pair = pki.server) {
  return { ...pair, ca: pki.ca, requestCert: true, rejectUnauthorized: true };
}
