/** Logs, errors and metrics never contain the client secret or a token. */
import { PassThrough } from "node:stream";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createLogger } from "../../src/lib/log.ts";
import { createRedactor } from "../../src/lib/redact.ts";
import { type Script, someStatus, startClient, startScripted } from "./support.ts";

const CANARIES = ["canary-secret/+ü", "eyJhbGciOiJub25lIn0.canary-token.def"];
const [SECRET = "", TOKEN = ""] = CANARIES;

const echo = (request: { url?: string | undefined; headers: object }) =>
  JSON.stringify({ error: `you sent ${request.url} ${JSON.stringify(request.headers)} ${CANARIES.join(" ")}` });

const token = () => ({ body: { access_token: TOKEN, expires_in: 3600 } });
const scripts: Record<string, Script> = {
  "an issuer that repeats what it was sent": { token: () => ({ status: 401, body: { error: CANARIES.join(" ") } }) },
  "an issuer that answers nonsense": { token: () => ({ body: { access_tokens: CANARIES } }) },
  "a service that repeats the request": {
    token,
    http: (request, response) => response.end(echo(request)),
    asked: ({ reply }) => reply({ errors: [{ message: `token=${TOKEN} ${CANARIES.join(" ")}` }] }),
  },
  "a service that refuses the token": {
    token,
    http: (request, response) => response.writeHead(401).end(echo(request)),
    handshake: () => 401,
  },
  "a service that cuts connections": { token, http: (request) => request.socket.destroy(), handshake: () => 500 },
  "a service whose frames hold the token": {
    token,
    http: (_, response) => response.end(`not JSON ${CANARIES.join(" ")}`),
    asked: ({ socket, id }) => socket.send(`${id}|x|${TOKEN}|${SECRET}`),
  },
  "a service whose rows hold the token": {
    token,
    http: (_, response) => response.end(JSON.stringify([{ name: CANARIES }, 5])),
    asked: ({ reply }) => reply([{ recording_id: 5, status: TOKEN }]),
  },
};

describe.each(Object.entries(scripts))("with %s", (_, script) => {
  it("no log line, error or label contains a secret", async () => {
    const lines: string[] = [];
    const destination = new PassThrough();
    destination.on("data", (line) => lines.push(String(line)));
    const scripted = await startScripted(script);
    const { service, recorder } = startClient(scripted, {
      log: createLogger({ level: "trace", destination }),
      config: { clientSecret: SECRET, requestTimeoutMs: 300 },
    });
    const outcomes = await Promise.allSettled([
      service.checkStatus(),
      service.locations(),
      service.uptimes({ start: "2026-01-01", end: "2026-01-02" }),
      service.statusUptime(someStatus),
      service.areaContexts(someStatus),
    ]);
    const told = [...lines, inspect(outcomes, { depth: 12, showHidden: true }), ...recorder.requests].join("\n");
    expect(lines.length).toBeGreaterThan(0);
    for (const canary of [...CANARIES, ...CANARIES.map(encodeURIComponent)]) expect(told).not.toContain(canary);
  });
});

it("a redacted error has its name, message and code and nothing more", () => {
  const secrets = createRedactor(["hush"]);
  secrets.add("tok-1234");
  const thrown = Object.assign(new TypeError("at wss://h/?token=tok-1234 with hush"), {
    code: "E1",
    options: { auth: "hush" },
  });
  const cause = secrets.error(thrown);
  expect(cause).toMatchObject({ name: "TypeError", code: "E1" });
  expect(inspect(cause, { depth: 5 })).not.toMatch(/hush|tok-1234/);
});

it("redacts the client secret for ever, and only recent tokens", () => {
  const secrets = createRedactor(["client-secret"]);
  for (let i = 0; i < 100; i += 1) secrets.add(`token-${i}!`);
  expect(secrets.text("client-secret token-99! token-0!")).toBe("[redacted] [redacted] token-0!");
});
