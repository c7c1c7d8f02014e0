/** Answers that are small on the wire and large once they are read, to a process with 64 MB: each is refused or read. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { type Asked, startScripted } from "./support.ts";

const MB = 1024 * 1024;
const many = (piece: string, bytes: number) => piece.repeat(bytes / piece.length);
const shapes = (bytes: number) => Array.from({ length: bytes / 14 }, (_, i) => `{"k${i}":${i}}`).join();

/** But for the last of a size that the client reads, compressed on the way. */
const BOMBS: Readonly<Record<string, () => string>> = {
  "lists in lists": () => many("[", 2 * MB),
  "empty objects": () => `[${many("{},", 2 * MB)}{}]`,
  "objects of different shapes": () => `[${shapes(2 * MB)}]`,
  "one object with many names": () => `{${shapes(2 * MB).replaceAll(/[{}]/g, "")}}`,
  numbers: () => `[${many("1.5,", 2 * MB)}1]`,
  "short texts": () => `[${many('"é",', 2 * MB)}""]`,
  "one long text": () => JSON.stringify(many("€", 2 * MB)),
  "more than may be read": () => JSON.stringify(many("x", 20 * MB)),
};

const CHILD = `
  const { createService } = await import(process.env.CLIENT);
  const noLog = { child: () => noLog, info() {}, warn() {}, debug() {}, error() {} };
  const kinds = [];
  const service = createService({
    log: noLog, clock: { now: Date.now }, proxyEnv: {}, observer: { protocolError: (kind) => kinds.push(kind) },
    config: { ...JSON.parse(process.env.AT), clientId: "i", clientSecret: "hush", audience: "a",
      requestTimeoutMs: 30_000, uptimeIndexTimezone: "utc" },
  });
  const ended = (call) => call.then(() => "read", (error) => error.code ?? String(error));
  const status = () => ended(service.statusUptime({ entities: Array(20).fill("b"), entityType: "location" }));
  const outcomes = [];
  for (let i = 0; i < Number(process.env.BOMBS); i++)
    outcomes.push([...await Promise.all([status(), status()]), await ended(service.locations())]);
  console.log(JSON.stringify({ outcomes, kinds, after: await status() }));
  await service.close();
`;

it("that is small and inflates, or large once it is parsed, costs its request and not the process", async () => {
  const bombs = Object.values(BOMBS).map((make) => make());
  const counts = { socket: 0, http: 0 };
  const scripted = await startScripted({
    deflate: true,
    asked({ id, socket, reply }: Asked) {
      const bomb = bombs[Math.floor(counts.socket++ / 2)];
      if (bomb === undefined) reply([]);
      else socket.send(`${id}|0|0|${bomb}`);
    },
    http: (_, response) => response.end(bombs[counts.http++]),
  });
  const { baseUrl, wsUrl, authUrl } = scripted;
  const child = spawn(process.execPath, ["--max-old-space-size=64", "--input-type=module", "--eval", CHILD], {
    env: {
      AT: JSON.stringify({ baseUrl, wsUrl, authUrl }),
      BOMBS: String(bombs.length),
      CLIENT: fileURLToPath(new URL("../../src/service/service.ts", import.meta.url)),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(err).toBe("");
  const { outcomes, kinds, after } = JSON.parse(out) as { outcomes: string[][]; kinds: string[]; after: string };
  expect(outcomes.flat().filter((one) => !["read", "bad_payload", "unavailable"].includes(one))).toEqual([]);
  expect(kinds).toContain("too_large");
  expect(after).toBe("read");
});
