/** TLS on a listener. Each new connection has the certificate and the client policy of the active configuration. */
import type { X509Certificate } from "node:crypto";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { createServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import type { WebConfig } from "../config/web-config-schema.ts";

export type Tls = NonNullable<WebConfig["tls"]>;

/** Undefined: plain HTTP. The same object until the configuration changes. */
type CurrentTls = () => Tls | undefined;

interface TlsOptions {
  readonly current: CurrentTls;
  /** Whether a client must have a certificate where the settings say so. */
  readonly mayNeedCertificate: boolean;
  readonly handshakeMs: number;
  admit(socket: Socket): boolean;
}

/**
 * Has `server` speak TLS where `current` gives settings, on connections that `admit` lets in. A handshake that fails or
 * takes more than `handshakeMs` ends its connection.
 */
export function serveTls(server: Server, options: TlsOptions): Server {
  const speakHttp = server.listeners("connection");
  const serve = (socket: Socket) => {
    for (const listener of speakHttp) Reflect.apply(listener, server, [socket]);
  };
  let settings: Tls | undefined;
  let secure: TlsServer | undefined;
  server.removeAllListeners("connection");
  return server.on("connection", (socket: Socket) => {
    if (!options.admit(socket)) return;
    const tls = options.current();
    if (!tls) return serve(socket);
    if (!secure || settings !== tls) secure = createSecure(tls, options, server, serve);
    settings = tls;
    secure.emit("connection", socket);
  });
}

function createSecure(
  tls: Tls,
  { mayNeedCertificate, handshakeMs }: TlsOptions,
  server: Server,
  serve: (socket: Socket) => void,
): TlsServer {
  const { ask: requestCert } = tls.clientAuth;
  const http1 = { ALPNProtocols: ["http/1.1"], handshakeTimeout: handshakeMs };
  const options = { ...tls.options, ...http1, requestCert, rejectUnauthorized: false };
  const secure = createServer(options, (socket) => {
    const isAllowed = socket.getPeerX509Certificate()
      ? isTrusted(socket, tls)
      : !(mayNeedCertificate && tls.clientAuth.need);
    if (isAllowed) serve(socket);
    else socket.destroy();
  });
  secure.on("tlsClientError", (_error, socket) => socket.destroy());
  // Node reports errors of HTTP to the server that made the socket.
  secure.on("clientError", (error, socket) => server.emit("clientError", error, socket));
  return secure;
}

function isTrusted(socket: TLSSocket, { clientAuth: { verify }, allowedSans }: Tls): boolean {
  if (verify && !socket.authorized) return false;
  const certificate = socket.getPeerX509Certificate();
  return (
    allowedSans.length === 0 ||
    (certificate && alternativeNames(certificate).some((name) => allowedSans.includes(name))) === true
  );
}

/** The common name, or else the first alternative name, of a client's certificate that was verified. */
export function verifiedClient(socket: Socket, tls: Tls | undefined): string | undefined {
  if (!tls?.clientAuth.verify || !("getPeerX509Certificate" in socket)) return undefined;
  const certificate = (socket as TLSSocket).getPeerX509Certificate();
  if (!certificate || !isTrusted(socket as TLSSocket, tls)) return undefined;
  return /^CN=(.+)$/m.exec(certificate.subject ?? "")?.[1] ?? alternativeNames(certificate)[0] ?? "certificate";
}

/** DNS names, addresses, e-mail addresses and URIs; Node quotes those with special characters as JSON. */
function alternativeNames({ subjectAltName = "" }: X509Certificate): string[] {
  const parts = subjectAltName.matchAll(/(?:DNS|IP Address|email|URI):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g);
  return [...parts].map(([, name = ""]) => (name.startsWith('"') ? String(JSON.parse(name)) : name));
}
