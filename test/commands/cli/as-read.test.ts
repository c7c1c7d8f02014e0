import { expect, test } from "vitest";
import { z } from "zod";
import { asRead } from "../../../src/commands/cli/as-read.ts";

const row = z
  .strictObject({ id: z.string(), ack: z.strictObject({ by: z.string() }).readonly().nullable() })
  .readonly();
const page = asRead(z.strictObject({ items: z.array(row).readonly() }).readonly());

test("fields that a later daemon adds are left out, wherever they are; those that are missing are not", () => {
  const read = {
    items: [
      { id: "a", ack: { by: "dana" } },
      { id: "b", ack: null },
    ],
  };
  const later = {
    items: [
      { id: "a", ack: { by: "dana", x: 1 }, x: 1 },
      { id: "b", ack: null },
    ],
    x: 1,
  };
  expect(page.parse(later)).toEqual(read);
  expect(page.safeParse({ items: [{ id: "a" }] }).success).toBe(false);
});
