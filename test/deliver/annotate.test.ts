import { expect, it } from "vitest";
import { createAnnotate } from "../../src/deliver/annotate.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { firing, T0 } from "../store/fixtures.ts";

const ALERTS = [firing("a", T0, { location_id: "leeds" }), firing("b", T0, { location_id: "leeds" })];

it("each location is read once, however many alerts it has", async () => {
  const asked: (readonly string[])[] = [];
  const annotate = createAnnotate({
    log: silentLogger,
    zones: {
      async read(ids) {
        asked.push(ids);
        return new Map([["leeds", new Map([["b", ["Tills"]]])]]);
      },
    },
    usualEntries: { read: async () => new Map() },
  });
  const annotated = await annotate(ALERTS, T0);
  expect(annotated.map(({ annotations }) => annotations.zones)).toEqual([undefined, "Tills"]);
  expect(asked).toEqual([["leeds"]]);
});

it("alerts go out as they are where the store fails or hangs", async () => {
  const read = (how: () => Promise<never>) =>
    createAnnotate({ log: silentLogger, zones: { read: how }, usualEntries: { read: async () => new Map() } });
  expect(await read(async () => Promise.reject(new Error("gone")))(ALERTS, T0)).toBe(ALERTS);
  const began = performance.now();
  expect(await read(() => new Promise(() => {}))(ALERTS, T0)).toBe(ALERTS);
  expect(performance.now() - began).toBeLessThan(20_000);
});
