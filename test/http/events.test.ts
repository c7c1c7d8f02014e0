import { fastify } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { type EventsDeps, eventRoutes } from "../../src/http/events.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { serve } from "./serve.ts";

interface Listener {
  readonly status: number;
  readonly headers: Headers;
  /** The next event; undefined at the end. */
  next(): Promise<{ event: string; data: string } | undefined>;
  leave(): void;
}

async function listen(url: string, headers: Record<string, string> = {}): Promise<Listener> {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await fetch(url, { headers, signal: leaving.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    status: response.status,
    headers: response.headers,
    leave: () => leaving.abort(),
    async next() {
      for (;;) {
        const found = /event: (\w+)\ndata: (.*)\n\n/.exec(text);
        if (found) {
          text = text.slice(found.index + found[0].length);
          return { event: found[1] ?? "", data: found[2] ?? "" };
        }
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) return undefined;
        text += value;
      }
    },
  };
}

async function stage(differing: Partial<EventsDeps> = {}) {
  const app = fastify({ forceCloseConnections: "idle" });
  let looks = 0;
  const looked = new Set<() => void>();
  const state = { version: "a" };
  eventRoutes(app, {
    log: silentLogger,
    async version() {
      looks++;
      for (const done of looked) done();
      return state.version;
    },
    tickMs: 5,
    beatMs: 40,
    ...differing,
  });
  onTestFinished(() => app.close());
  const url = `${await app.listen({ host: "127.0.0.1", port: 0 })}/events`;
  const nextLook = () => new Promise<void>((resolve) => looked.add(resolve));
  return { app, url, state, looks: () => looks, nextLook };
}

describe("GET /events", () => {
  test("tells what is shown now, and again when it is another", async () => {
    const { url, state } = await stage();
    const page = await listen(url);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(page.headers.get("cache-control")).toBe("no-store, no-transform");
    expect(page.headers.get("x-accel-buffering")).toBe("no");
    expect(await page.next()).toEqual({ event: "state", data: "a" });
    state.version = "b";
    const events: unknown[] = [];
    do events.push(await page.next());
    while (!events.some((one) => (one as { data: string }).data === "b"));
    expect(events.at(-1)).toEqual({ event: "state", data: "b" });
  });

  test("says now and then that it still looks", async () => {
    const { url } = await stage();
    const page = await listen(url);
    await page.next();
    expect(await page.next()).toEqual({ event: "beat", data: "a" });
  });

  test("tells who comes back of what changed while nobody looked", async () => {
    const { url, state } = await stage();
    const first = await listen(url);
    await first.next();
    first.leave();
    state.version = "b";
    const back = await listen(url);
    while ((await back.next())?.data !== "b");
  });

  test("tells who comes later at once, without another look", async () => {
    const { url, looks } = await stage({ tickMs: 60_000 });
    await (await listen(url)).next();
    expect(await (await listen(url)).next()).toEqual({ event: "state", data: "a" });
    expect(looks()).toBe(1);
  });

  test("looks once for all who listen, and not at all for nobody", async () => {
    const { url, looks, nextLook } = await stage();
    expect(looks()).toBe(0);
    const pages = await Promise.all(Array.from({ length: 10 }, () => listen(url)));
    await Promise.all(pages.map((page) => page.next()));
    const before = looks();
    await nextLook();
    expect(looks()).toBe(before + 1);
  });

  test("says nothing while it cannot look, and goes on when it can", async () => {
    let away = true;
    const { url } = await stage({
      version: async () => {
        if (away) throw new Error("away");
        return "a";
      },
    });
    const page = await listen(url);
    const next = page.next();
    away = false;
    expect(await next).toEqual({ event: "state", data: "a" });
  });

  test("ends with the server, at once", async () => {
    const { app, url } = await stage();
    const page = await listen(url);
    await page.next();
    await app.close();
    while (await page.next());
  });

  test("is for those who may read", async () => {
    const { address } = await serve({ readToken: "read-me" });
    expect((await listen(`${address}/events`)).status).toBe(401);
    const reader = await listen(`${address}/events`, { authorization: "Bearer read-me" });
    expect(reader.status).toBe(200);
    expect(await reader.next()).toMatchObject({ event: "state" });
  });
});
