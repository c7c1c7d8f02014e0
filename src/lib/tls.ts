/** TLS material, in the shape that Node's `tls.connect` takes. */

/** Certificates and key as PEM. */
export interface TlsMaterial {
  /** Authorities that may sign the server's certificate; undefined: the system's. */
  readonly ca?: string | undefined;
  /** Our certificate and its key: both or neither. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the server's certificate must be for; undefined: the host's. */
  readonly servername?: string | undefined;
}

/** The same without undefined values, which `tls.connect` does not take. */
export function tlsOptions(tls: TlsMaterial = {}): Partial<Record<keyof TlsMaterial, string>> {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}

/** A Node error code stands for a failed TLS handshake. */
export function isTlsFailure(code: string): boolean {
  return /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|EPROTO$|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH)/.test(code);
}
