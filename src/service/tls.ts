/** TLS to the service with certificates of one's own, for HTTP and for the socket alike. */

/** As PEM. */
export interface Tls {
  /** The authorities that may vouch for the service; undefined: the system's. */
  readonly ca: string | undefined;
  /** The certificate we are known by, and its key: both or neither. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** As Node's `tls.connect` takes them: what is not given is left out. */
export function tlsOptions(tls: Tls | undefined): { ca?: string; cert?: string; key?: string } {
  return Object.fromEntries(Object.entries(tls ?? {}).filter(([, pem]) => pem !== undefined));
}

/** What is to be looked at when a connection failed with this code of Node's. */
export function whereToLook(code: string): string {
  const isTls =
    /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|EPROTO$|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH)/.test(
      code,
    );
  return isTls ? "its certificate, service.tls" : "the network";
}
