/** A hostile service on real sockets: the client gives every caller an answer or a named error, and lives on. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import { createLogger } from "../../src/lib/log.ts";
import { ServiceError, serviceErrorCodes } from "../../src/service/errors.ts";
import type { Service } from "../../src/service/service.ts";
import { POISONS } from "../support/hostile-names.ts";
import { type Dice, diceOf, mutateBytes } from "../support/mutate.ts";
import { bent, framed } from "./malformed.ts";
import { answerKinds, type RealAnswers, realAnswers } from "./real-answers.ts";
import { type Asked, type Script, someStatus, startClient, startScripted, statusRow } from "./support.ts";

const SEED = Number(process.env.LENSWATCH_SEED ?? 20_261_121);
const LOG_LINE_BYTES = 6_000;
const TIMEOUT_MS = 600;
/** Where nothing is left unanswered. */
const PATIENCE_MS = 5_000;

let real: RealAnswers;
beforeAll(async () => {
  real = await realAnswers();
});

const crashes: unknown[] = [];
const onCrash = (thrown: unknown) => void crashes.push(thrown);
beforeEach(() => {
  crashes.length = 0;
  process.on("uncaughtException", onCrash).on("unhandledRejection", onCrash);
});
afterEach(() => {
  process.off("uncaughtException", onCrash).off("unhandledRejection", onCrash);
  expect(crashes).toEqual([]);
});

/** A client of the script that logs everything, and how long its longest line was. */
async function startHostile(script: Script, requestTimeoutMs = TIMEOUT_MS) {
  const longest = { line: "" };
  const destination = {
    write(line: string) {
      if (line.length > longest.line.length) longest.line = line;
    },
  };
  const log = createLogger({ level: "trace", destination: destination as unknown as NodeJS.WritableStream });
  const scripted = await startScripted(script);
  const { service } = startClient(scripted, { log, config: { requestTimeoutMs } });
  return { service, scripted, longest };
}

const CODES: ReadonlySet<string> = new Set(serviceErrorCodes);

/** What is wrong with how the calls ended; codes are counted. */
function judge(outcomes: readonly PromiseSettledResult<unknown>[]) {
  const counts = new Map<string, number>();
  const surprises: unknown[] = [];
  for (const outcome of outcomes) {
    const error: unknown = outcome.status === "rejected" ? outcome.reason : undefined;
    const name = error === undefined ? "read" : error instanceof ServiceError ? error.code : "surprise";
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (error === undefined) continue;
    const isForeseen = error instanceof ServiceError && CODES.has(error.code) && error.message.length < 400;
    if (!isForeseen || /unforeseen/.test(error.message)) surprises.push(error);
  }
  return { counts, surprises };
}

/**
 * Asks, 500 at once, at least so many times and until each of the codes came more often than `each`: on a busy machine
 * more calls time out. Gives what was wrong with how calls ended, or which codes did not come in four times as many.
 */
async function askUntil(
  enough: { readonly calls: number; readonly codes: readonly string[]; readonly each: number },
  ask: (i: number) => Promise<unknown> | undefined,
): Promise<unknown[]> {
  const outcomes: PromiseSettledResult<unknown>[] = [];
  for (;;) {
    const { counts, surprises } = judge(outcomes);
    const rare = enough.codes.filter((code) => (counts.get(code) ?? 0) <= enough.each);
    if (surprises.length > 0 || (rare.length === 0 && outcomes.length >= enough.calls)) return surprises;
    if (outcomes.length >= 4 * enough.calls) return rare;
    outcomes.push(...(await Promise.allSettled(Array.from({ length: 500 }, (_, i) => ask(i)))));
  }
}

const day = { start: "2026-11-19", end: "2026-11-19" };
const asking: Readonly<Record<string, (service: Service) => Promise<unknown>>> = {
  locations: (service) => service.locations(),
  recording_uptime: (service) => service.recordingUptime("a", day),
  uptimes: (service) => service.uptimes(day),
};

const period = { start: 0, end: 86_400_000, locations: ["a"] };
const overSocket: readonly ((service: Service) => Promise<unknown>)[] = [
  (service) => service.statusUptime(someStatus),
  (service) => service.areaContexts(someStatus),
  (service) => service.entries({ ...period, facets: ["summary"] }),
  (service) => service.areaData({ ...period, facets: ["summary"], taxonomies: ["x"] }),
  (service) => service.averageDwellTime({ ...period, facets: ["summary"] }),
  (service) => service.conversionRate({ ...period, facets: ["summary"] }),
];

/** A header that node lets through: the rest is for the parsing functions' own test. */
const printable = POISONS.filter((text) => text !== "" && /^[\x20-\x7e]+$/.test(text));

/** An HTTP answer, now and then with a strange status, header or end. */
function answer(response: ServerResponse, body: Buffer, dice: Dice): void {
  const isFine = dice.roll(5) > 0;
  const status = isFine ? 200 : dice.pick([201, 204, 301, 304, 400, 401, 403, 404, 429, 500, 503, 599, 999]);
  const length = dice.roll(20) === 0 ? body.length + 7 : undefined;
  response.writeHead(status, {
    ...(isFine ? {} : { "retry-after": dice.pick(printable), "x-y": dice.pick(printable) }),
    ...(length === undefined ? {} : { "content-length": length }),
    "content-type": dice.pick(["application/json", "text/html", "text/plain; charset=utf-16", "x"]),
  });
  const end = dice.roll(40);
  if (end === 0) response.write(body.subarray(0, body.length >> 1), () => response.destroy());
  else if (end === 1) response.socket?.end(mutateBytes(body, dice));
  else response.end(body, () => length !== undefined && response.destroy());
}

const honest = ({ reply }: Asked) => reply([statusRow()]);

/** What WebSocket's own frames may look like from a server that does not know them. */
const RAW: readonly ((dice: Dice) => Buffer)[] = [
  (dice) => Buffer.from(Array.from({ length: 40 }, () => dice.roll(256))),
  () => Buffer.from([0xf1, 0x05, 1, 2, 3, 4, 5]),
  () => Buffer.from([0x83, 0x00]),
  () => Buffer.from([0x81, 0x85, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
  () => Buffer.from([0x81, 0x7f, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0x5b]),
  () => Buffer.from([0x88, 0x02, 0x00, 0x01]),
  () => Buffer.from([0x89, 0x7e, 0x01, 0x00]),
  () => Buffer.from([0x81, 0x04, 0xff, 0xfe, 0xed, 0xa0]),
  () => Buffer.from("HTTP/1.1 500 No\r\n\r\n"),
];

const socketOf = (ws: WebSocket) => (ws as unknown as { _socket: Socket })._socket;

describe(`a hostile service (seed ${SEED})`, () => {
  it("over HTTP, 500 times", async () => {
    let count = 0;
    const { service, longest } = await startHostile(
      {
        http(request, response) {
          const dice = diceOf(SEED + ++count);
          const kind = request.url?.includes("list")
            ? "locations"
            : request.method === "POST"
              ? "uptimes"
              : "recording_uptime";
          answer(response, bent(real[kind], dice, count % 300 === 0), dice);
        },
      },
      PATIENCE_MS,
    );
    const codes = ["read", "bad_payload", "unavailable", "auth", "rate_limited", "bad_request"];
    const surprises = await askUntil({ calls: 500, codes, each: 5 }, (i) =>
      asking[Object.keys(asking)[i % 3] ?? ""]?.(service),
    );
    expect(surprises).toEqual([]);
    expect(longest.line.length).toBeLessThan(LOG_LINE_BYTES);
  });

  it("over the metrics socket, 400 times, and afterwards an honest answer is read", async () => {
    let count = 0;
    let hostile = true;
    const asked = (one: Asked) => {
      if (!hostile) return honest(one);
      const dice = diceOf(SEED + ++count);
      const body = bent(real[dice.pick(answerKinds)], dice, count % 500 === 0);
      // As binary: text that is no UTF-8 ends the connection, which is another test.
      for (const message of framed(one.id, body, dice)) one.socket.send(message, { binary: true });
    };
    const { service, longest } = await startHostile({ asked }, PATIENCE_MS);
    const codes = ["read", "bad_payload", "unavailable", "timeout"];
    const surprises = await askUntil({ calls: 400, codes, each: 5 }, (i) =>
      overSocket[i % overSocket.length]?.(service),
    );
    expect(surprises).toEqual([]);
    expect(longest.line.length).toBeLessThan(LOG_LINE_BYTES);
    hostile = false;
    expect((await service.statusUptime(someStatus)).readings).toHaveLength(1);
  });

  it("that breaks the WebSocket protocol itself, and afterwards an honest answer is read", async () => {
    let count = 0;
    const rounds = 60;
    const { service, longest } = await startHostile({
      asked(asked) {
        if (++count > rounds) return honest(asked);
        const dice = diceOf(SEED + count);
        const bytes = RAW[count % RAW.length]?.(dice) ?? Buffer.of();
        socketOf(asked.socket).write(bytes);
        if (dice.roll(3) === 0) socketOf(asked.socket).destroy();
      },
    });
    const outcomes: PromiseSettledResult<unknown>[] = [];
    while (count < rounds) {
      const calls = Array.from({ length: 5 }, () => service.statusUptime(someStatus));
      outcomes.push(...(await Promise.allSettled(calls)));
    }
    expect(judge(outcomes).surprises).toEqual([]);
    expect(longest.line.length).toBeLessThan(LOG_LINE_BYTES);
    const after = () => service.statusUptime(someStatus);
    const { readings } = await after().catch(after).catch(after);
    expect(readings).toHaveLength(1);
  });

  it("whose error cannot be turned into a number or a text does not end the process", async () => {
    const { service } = await startHostile({
      http: (_request, response) => void response.end('{"error":{"status":{"toString":1,"valueOf":1}}}'),
      asked: ({ reply }) => reply({ error: { status: { toString: 1, valueOf: 1 } } }),
    });
    const outcomes = await Promise.allSettled([service.locations(), service.statusUptime(someStatus)]);
    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason)).toEqual([
      expect.objectContaining({ code: "unavailable", message: expect.stringContaining("answered with an error") }),
      expect.objectContaining({ code: "unavailable", message: expect.stringContaining("answered with an error") }),
    ]);
  });
});
