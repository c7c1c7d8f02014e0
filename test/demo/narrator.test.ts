import { describe, expect, test } from "vitest";
import { createNarrator, type NarratedChange } from "../../src/demo/narrator.ts";

const change = (recording: string, over: Partial<NarratedChange> = {}): NarratedChange => ({
  of: "Leeds Briggate",
  size: 3,
  name: recording,
  became: "offline",
  ...over,
});

/** What is told of what happens in one turn. */
async function told(happen: (narrator: ReturnType<typeof createNarrator>) => void): Promise<string[]> {
  const sentences: string[] = [];
  const narrator = createNarrator((sentence) => sentences.push(sentence));
  happen(narrator);
  await new Promise(setImmediate);
  return sentences;
}

describe("the narrator", () => {
  test("names the camera", async () => {
    expect(await told((n) => n(change("Till 1")))).toEqual(["Leeds Briggate: Till 1 is offline"]);
  });

  test("says the shop's name once", async () => {
    const sentences = await told((n) => n(change("Leeds Briggate Till 1")));
    expect(sentences).toEqual(["Leeds Briggate: Till 1 is offline"]);
  });

  test("makes one line of what happens to several at once", async () => {
    const sentences = await told((n) => {
      n(change("Till 1"));
      n(change("Till 2"));
      n(change("Door", { of: "Bath Southgate" }));
      n(change("Till 1", { became: "at 40 % quality" }));
    });
    expect(sentences).toEqual([
      "Leeds Briggate: Till 1, Till 2 are offline",
      "Bath Southgate: Door is offline",
      "Leeds Briggate: Till 1 is at 40 % quality",
    ]);
  });

  test("says so when it is the whole shop", async () => {
    const sentences = await told((n) => {
      for (const name of ["Till 1", "Till 2", "Door"]) n(change(name));
    });
    expect(sentences).toEqual(["Leeds Briggate: all 3 cameras are offline"]);
  });

  test("tells of the service in words", async () => {
    const fault = (name: string, became: string) => ({ of: "the service", name, became });
    const sentences = await told((n) => {
      n(fault("http error", "set"));
      n(fault("drop sockets", "set"));
      n(fault("slow", "cleared"));
    });
    expect(sentences).toEqual(["the service: http error, drop sockets are set", "the service: slow is cleared"]);
  });
});
