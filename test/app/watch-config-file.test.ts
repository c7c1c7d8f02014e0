import { expect, onTestFinished, test, vi } from "vitest";
import type { AuditEntry } from "../../src/alerting/audit.ts";
import { watchConfigFile } from "../../src/app/watch-config-file.ts";
import type { Config } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/problem.ts";
import { silentLogger } from "../../src/lib/log.ts";

const LOOK_MS = 1_000;
const by = { actor: { via: "signal", name: "SIGHUP" } } as const;

/** A source with content set by the test; `taken` lists what was applied or refused. */
function stage() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const state = { content: "one", loaded: "one" as string | undefined };
  const taken: string[] = [];
  const audited: AuditEntry[] = [];
  const following = watchConfigFile({
    source: {
      contentHash: async () => state.content,
      loadedHash: () => state.loaded,
      async load() {
        state.loaded = state.content;
        if (state.content.startsWith("bad")) throw new ConfigError("invalid", "bad", {});
        return { config: { name: state.content } as unknown as Config, warnings: [] };
      },
    },
    app: {
      async reload(config) {
        taken.push((config as unknown as { name: string }).name);
        return ["http.read_token"];
      },
      audit: (entry) => void audited.push(entry),
      refused: () => void taken.push("refused"),
    },
    log: silentLogger,
    everyMs: LOOK_MS,
  });
  onTestFinished(() => following.stop());
  return { state, taken, audited, ...following, looks: (n: number) => vi.advanceTimersByTimeAsync(n * LOOK_MS) };
}

test("a change is applied once, after two reads agree", async () => {
  const { state, taken, looks } = stage();
  await looks(3);
  state.content = "two, half writ";
  await looks(1);
  state.content = "two, written";
  await looks(1);
  expect(taken).toEqual([]);
  await looks(5);
  expect(taken).toEqual(["two, written"]);
});

test("an invalid configuration is refused once, and the next valid one applied", async () => {
  const { state, taken, looks } = stage();
  state.content = "bad";
  await looks(5);
  expect(taken).toEqual(["refused"]);
  state.content = "good";
  await looks(5);
  expect(taken).toEqual(["refused", "good"]);
});

test("a requested reload happens at once, changed or not, and never after the stop", async () => {
  const { taken, reload, stop } = stage();
  reload(by);
  await vi.advanceTimersByTimeAsync(1);
  expect(taken).toEqual(["one"]);
  stop();
  reload(by);
  await vi.advanceTimersByTimeAsync(10 * LOOK_MS);
  expect(taken).toEqual(["one"]);
});

test("each reload is audited with its cause and the keys that changed, an invalid one as refused", async () => {
  const { state, audited, reload, looks } = stage();
  state.content = "two";
  await looks(3);
  const file = { actor: { via: "file", name: "a changed file" }, action: "reload" };
  expect(audited).toEqual([{ ...file, outcome: "done", after: { changed: "http.read_token" } }]);
  state.content = "bad";
  await looks(3);
  expect(audited.slice(1)).toEqual([{ ...file, outcome: "refused", reason: "invalid_configuration" }]);
  await reload(by);
  expect(audited.slice(2)).toEqual([{ ...by, action: "reload", outcome: "refused", reason: "invalid_configuration" }]);
});
