/** An SMTP server that accepts every mail and delivers none. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import PostalMime, { type Address } from "postal-mime";
import { SMTPServer } from "smtp-server";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";

const MAX_BYTES = 5 * 1024 * 1024;

/** Listens on a free loopback port; plain SMTP, no login. Rejects when it cannot listen. */
export async function startMailServer(onMail: (mail: CaughtMail) => void) {
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    logger: false,
    size: MAX_BYTES,
    closeTimeout: 500,
    onData(stream, session, callback) {
      const to = session.envelope.rcptTo.map(({ address }) => address).join(", ");
      receive(stream, to)
        .then(onMail)
        .then(
          () => callback(),
          (thrown) => callback(toError(thrown)),
        );
    },
  });
  server.on("error", () => {}); // a client disconnected in the middle of a command
  const listener = server.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { address, port } = listener.address() as AddressInfo;
  return { host: address, port, close: () => new Promise<void>((resolve) => server.close(resolve)) };
}

export type CaughtMail = Awaited<ReturnType<typeof receive>>;

async function receive(stream: Readable, to: string) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length;
    if (bytes <= MAX_BYTES) chunks.push(chunk as Buffer);
  }
  if (bytes > MAX_BYTES) throw Object.assign(new Error("message too big"), { responseCode: 552 });
  const { from, subject = "", text = "", html } = await PostalMime.parse(Buffer.concat(chunks));
  return { from: addressText(from), to, subject, text, html };
}

function addressText(from: Address | undefined): string {
  if (!from) return "";
  return from.name ? `${from.name} <${from.address ?? ""}>` : (from.address ?? "");
}

export interface StoredMail {
  readonly id: number;
  readonly receivedAt: Instant;
  readonly mail: CaughtMail;
}
