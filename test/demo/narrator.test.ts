import { expect, test } from "vitest";
import { createNarrator, type NarratedChange } from "../../src/demo/narrator.ts";

const change = (name: string, over: Partial<NarratedChange> = {}): NarratedChange => {
  return { of: "Leeds Briggate", size: 3, name, became: "offline", ...over };
};
const fault = (name: string, became: string) => ({ of: "the service", name, became });

test.each<[string, NarratedChange[], string[]]>([
  ["the camera", [change("Till 1")], ["Leeds Briggate: Till 1 is offline"]],
  ["the shop's name once", [change("Leeds Briggate Till 1")], ["Leeds Briggate: Till 1 is offline"]],
  [
    "what happens to several at once in one line",
    [
      change("Till 1"),
      change("Till 2"),
      change("Door", { of: "Bath Southgate" }),
      change("Till 1", { became: "at 40 % quality" }),
    ],
    [
      "Leeds Briggate: Till 1, Till 2 are offline",
      "Bath Southgate: Door is offline",
      "Leeds Briggate: Till 1 is at 40 % quality",
    ],
  ],
  [
    "a whole shop",
    ["Till 1", "Till 2", "Door"].map((name) => change(name)),
    ["Leeds Briggate: all 3 cameras are offline"],
  ],
  [
    "the service in words",
    [fault("http error", "set"), fault("drop sockets", "set"), fault("slow", "cleared")],
    ["the service: http error, drop sockets are set", "the service: slow is cleared"],
  ],
])("the narrator names %s", async (_, changes, expected) => {
  const sentences: string[] = [];
  const narrator = createNarrator((sentence) => sentences.push(sentence));
  changes.forEach(narrator);
  await new Promise(setImmediate);
  expect(sentences).toEqual(expected);
});
