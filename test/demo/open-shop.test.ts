import { expect, test } from "vitest";
import { openShop } from "../../src/demo/open-shop.ts";

const HOUR = 3_600_000;

test.each(["2026-11-23T00:00Z", "2027-03-27T00:00Z", "2027-07-05T00:00Z"])(
  "in the week of %s it is afternoon there whenever the demo starts",
  (monday) => {
    const starts = Array.from({ length: 7 * 24 }, (_, i) => Date.parse(monday) + i * HOUR);
    const odd = starts.filter((now) => Math.abs(now - openShop(now).noon - 3.25 * HOUR) > 1.75 * HOUR);
    expect(odd).toEqual([]);
  },
);
