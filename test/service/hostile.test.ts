/** 4,000 bent answers of every kind, straight through the functions that read them. */
import { beforeAll, describe, expect, test } from "vitest";
import { createLogger } from "../../src/lib/log.ts";
import { createRedactor } from "../../src/lib/redact.ts";
import { ServiceError, serviceErrorCodes } from "../../src/service/errors.ts";
import type { ServiceReply } from "../../src/service/http.ts";
import { parseLocations } from "../../src/service/location-rows.ts";
import { parseAreaContexts, parseMetricReply } from "../../src/service/metric-rows.ts";
import { createUptimeParser } from "../../src/service/recording-uptime-rows.ts";
import { errorPayload } from "../../src/service/refusal.ts";
import { PartCollector, parseFrame } from "../../src/service/reply-frames.ts";
import { createReport } from "../../src/service/reporter.ts";
import { parseStatusRows } from "../../src/service/status-uptime-rows.ts";
import { createTokenSource } from "../../src/service/token.ts";
import { createCoreApi } from "../../src/service/transport.ts";
import { createWallClock } from "../../src/service/zoned-time.ts";
import { heapMeter } from "../support/heap.ts";
import { POISONS } from "../support/hostile-names.ts";
import { type Dice, diceOf, mutateJson } from "../support/mutate.ts";
import { bent, framed } from "./malformed.ts";
import { type AnswerKind, answerKinds, type RealAnswers, realAnswers } from "./real-answers.ts";

const SEED = Number(process.env.LENSWATCH_SEED ?? 20_261_120);
const ANSWERS = 4_000;
/** One in so many is very large or very deep. */
const BLOATED = 500;
const LOG_LINE_BYTES = 1_000;
const HEAP_BYTES = 24 * 1024 * 1024;

const NOW = Date.parse("2026-11-20T12:30:00.000Z");
const ID = "0190f7d2-0000-7000-8000-000000000000";

let real: RealAnswers;
beforeAll(async () => {
  real = await realAnswers();
});

/** Everything that reads answers, with the log it writes; a kind of deviation is logged again after `later`. */
function openBorders() {
  let now = NOW;
  const clock = { now: () => now };
  const later = () => {
    now += 300_001;
  };
  const lines = { count: 0, longest: 0 };
  const destination = {
    write(line: string) {
      lines.count += 1;
      lines.longest = Math.max(lines.longest, Buffer.byteLength(line));
    },
  };
  const log = createLogger({ level: "trace", destination: destination as unknown as NodeJS.WritableStream });
  const redactor = createRedactor(["hush-hush"]);
  const report = createReport({ log, clock, observer: {}, redactor });
  const wall = createWallClock();
  return {
    later,
    lines,
    report,
    redactor,
    wall,
    uptimes: createUptimeParser({ report, wall, indexTimezone: "recording", clock: { now: () => NOW } }),
  };
}
type Borders = ReturnType<typeof openBorders>;

/** What a body means, once it is a JSON value. */
const readers: Readonly<Record<AnswerKind, (payload: unknown, borders: Borders) => unknown>> = {
  token: () => undefined,
  locations: (payload, { report, wall }) => parseLocations(payload, { report, isZone: wall.isZone }),
  recording_uptime: (payload, { uptimes }) => uptimes.one(payload),
  uptimes: (payload, { uptimes }) => uptimes.many(payload),
  status_uptime: (payload, { report }) => parseStatusRows(payload, report),
  entries: (payload, { report }) => parseMetricReply("entries", ["entries"], payload, report),
  area_data: (payload, { report }) =>
    parseMetricReply(
      "area/data",
      ["area_total_entries", "area_total_dwell_time", "area_average_dwell_time"],
      payload,
      report,
    ),
  average_dwell_time: (payload, { report }) =>
    parseMetricReply("average-dwell-time", ["average_dwell_time"], payload, report),
  conversion_rate: (payload, { report }) =>
    parseMetricReply("transactions/conversion-rate", ["sales_conversion_rate"], payload, report),
  area_contexts: (payload, { report }) => parseAreaContexts(payload, report),
  error: (payload, { report }) => parseStatusRows(payload, report),
};

const OVER_HTTP: ReadonlySet<AnswerKind> = new Set(["locations", "recording_uptime", "uptimes"]);

/** As the metrics socket reads what it is sent, one message or several. */
function throughSocket(kind: AnswerKind, messages: readonly Buffer[], borders: Borders): unknown {
  const parts = new PartCollector({ used: 0, max: 1_000_000 }, { bytes: 1e6, values: 1e6 });
  for (const message of messages) {
    const frame = parseFrame(message);
    const answer = "bad" in frame ? { kind: "bad_frame" as const } : parts.add(frame);
    if (!answer) continue;
    if ("kind" in answer) {
      borders.report(answer.kind, () => message.toString("utf8", 0, 256));
      throw new ServiceError("bad_payload", "The reply could not be read.");
    }
    const error = errorPayload("Route", answer.value, borders.redactor);
    if (!error) return readers[kind](answer.value, borders);
    borders.report("error_payload", () => answer.value);
    throw error;
  }
  return "waiting for more";
}

function replyOf(dice: Dice, body: Buffer): ServiceReply {
  const isFine = dice.roll(10) > 0;
  return {
    status: isFine ? 200 : dice.pick([101, 204, 301, 400, 401, 403, 404, 408, 418, 429, 500, 503, 599, 999]),
    retryAfter: isFine ? undefined : dice.pick([...POISONS, "5", "-1", "1e9", "Fri, 20 Nov 2026 12:30:00 GMT"]),
    text: async () => new TextDecoder().decode(body),
    excerpt: async () => new TextDecoder().decode(body.subarray(0, 16_384)),
    discard: () => {},
  };
}

const never = new AbortController().signal;

async function throughHttp(kind: AnswerKind, body: Buffer, dice: Dice, borders: Borders): Promise<unknown> {
  const tokens = { get: async () => ({ value: "token", expiresAt: undefined, renewAt: undefined }), refuse: () => {} };
  const core = createCoreApi({
    tokens,
    baseUrl: "https://core.example.com",
    sendRequest: async () => replyOf(dice, body),
    clock: { now: () => NOW },
    report: borders.report,
    redactor: borders.redactor,
  });
  return readers[kind](await core.ask({ method: "GET", path: "/v1/x" }, never), borders);
}

async function throughIssuer(body: Buffer, dice: Dice, { report, redactor }: Borders): Promise<unknown> {
  const tokens = createTokenSource({
    config: {
      authUrl: "https://issuer.example.com",
      clientId: "id",
      clientSecret: "hush-hush",
      audience: "x",
      requestTimeoutMs: 1_000,
    },
    sendRequest: async () => replyOf(dice, body),
    clock: { now: () => NOW },
    random: () => 0,
    redactor,
    report,
    closing: never,
    onRenewal: () => {},
  });
  const token = await tokens.get(never);
  for (const at of [token.expiresAt, token.renewAt]) {
    if (at !== undefined && !(at > NOW && at < NOW + 10 * 365 * 86_400_000)) throw new Error(`expires at ${at}`);
  }
  if (!/^[\x21-\x7e]+$/.test(token.value)) throw new Error("a token that no header can carry");
  return token;
}

async function through(nth: number, borders: Borders): Promise<void> {
  const dice = diceOf(SEED + nth);
  const kind = dice.pick(answerKinds);
  const body = bent(real[kind], dice, nth % BLOATED === 0);
  if (kind === "token") await throughIssuer(body, dice, borders);
  else if (OVER_HTTP.has(kind)) await throughHttp(kind, body, dice, borders);
  else throughSocket(kind, framed(ID, body, dice), borders);
}

const CODES: ReadonlySet<string> = new Set(serviceErrorCodes);

/** Why a failure is not one that callers can deal with; undefined where it is. */
function unforeseen(thrown: unknown): string | undefined {
  if (!(thrown instanceof ServiceError)) return `${thrown}`;
  if (!CODES.has(thrown.code)) return `code ${thrown.code}`;
  if (thrown.message.length > 400) return `a message of ${thrown.message.length} characters`;
  return undefined;
}

describe(`bent answers (seed ${SEED})`, () => {
  test("4,000 of them are read or refused by name, in bounded memory and with bounded log lines", async () => {
    const heapUsed = heapMeter();
    const borders = openBorders();
    const surprises: string[] = [];
    const outcomes = new Map<string, number>();
    const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const before = heapUsed();
    for (let nth = 1; nth <= ANSWERS; nth++) {
      borders.later();
      try {
        await through(nth, borders);
        count("read");
      } catch (thrown) {
        const why = unforeseen(thrown);
        if (why !== undefined) surprises.push(`answer ${nth}: ${why}`);
        count(thrown instanceof ServiceError ? thrown.code : "surprise");
      }
    }
    const grown = heapUsed() - before;
    expect(surprises.slice(0, 10)).toEqual([]);
    expect(borders.lines.longest).toBeLessThan(LOG_LINE_BYTES);
    expect(borders.lines.count).toBeGreaterThan(400);
    expect(grown).toBeLessThan(HEAP_BYTES);
    // Neither everything was refused nor nothing: the harm is of every kind.
    for (const outcome of ["read", "bad_payload", "unavailable", "auth", "rate_limited", "bad_request"])
      expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThan(5);
  }, 180_000);
});

interface Rows {
  readonly kind: AnswerKind;
  /** The body with these rows. */
  body(rows: readonly unknown[]): unknown;
  /** What was read of each good row. */
  read(result: never): readonly unknown[];
}

const OTHER = "ffffffffffffffffffffffff";

describe(`one bent row (seed ${SEED})`, () => {
  const lists: Readonly<Record<string, Rows>> = {
    "of the location list": {
      kind: "locations",
      body: (rows) => rows,
      read: ({ locations }: { locations: readonly unknown[] }) => locations,
    },
    "of uptimes": {
      kind: "uptimes",
      body: (rows) => rows,
      read: ({ results }: { results: readonly unknown[] }) => results,
    },
    "of status/uptime": {
      kind: "status_uptime",
      body: (rows) => rows,
      read: ({ readings }: { readings: readonly unknown[] }) => readings,
    },
    "of detail/list": {
      kind: "area_contexts",
      body: (rows) => rows,
      read: ({ contexts }: { contexts: readonly unknown[] }) => contexts,
    },
    "of a metric's summary": {
      kind: "entries",
      body: (rows) => ({ ...(real.entries as object), summary: rows }),
      read: ({ summary }: { summary: readonly unknown[] }) => summary,
    },
  };

  test.each(Object.entries(lists))("%s costs that row alone, 800 times", (_name, { kind, body, read: rowsOf }) => {
    const borders = openBorders();
    const rows = kind === "entries" ? (real.entries as { summary: unknown[] }).summary : (real[kind] as unknown[]);
    const readAll = (given: readonly unknown[]) => {
      // As it comes over the wire: NaN and the like do not.
      const payload = JSON.parse(JSON.stringify(body(given))) as unknown;
      return rowsOf(readers[kind](payload, borders) as never).map((row) => JSON.stringify(row));
    };
    const good = readAll(rows);
    expect(good).toHaveLength(rows.length);
    for (let nth = 1; nth <= 800; nth++) {
      const dice = diceOf(SEED + nth);
      const one = JSON.parse(JSON.stringify(rows[0]).replaceAll(/[0-9a-f]{24}/g, OTHER)) as unknown;
      const found = readAll(rows.toSpliced(dice.roll(rows.length + 1), 0, mutateJson(one, dice)));
      expect({ nth, missing: good.filter((row) => !found.includes(row)) }).toEqual({ nth, missing: [] });
      expect(found.length).toBeLessThanOrEqual(good.length + 1);
    }
  });
});

/** The report is what a hostile answer reaches first. */
test("a report never throws, whatever its detail is", () => {
  const { report, lines, later } = openBorders();
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  const endless: Record<string, unknown> = {};
  endless.self = endless;
  for (const detail of [deep, endless, 10n, Symbol("x"), () => 1, { toJSON: () => deep }, "x".repeat(1e6)]) {
    expect(() => report("bad_row", () => detail)).not.toThrow();
    later();
  }
  expect(lines.count).toBe(7);
  expect(lines.longest).toBeLessThan(LOG_LINE_BYTES);
});
