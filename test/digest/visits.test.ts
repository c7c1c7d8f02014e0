import { expect, test } from "vitest";
import type { Digest, DigestEpisode } from "../../src/digest/digest.ts";
import { renderDigestText } from "../../src/digest/render/text.ts";
import { viewOf } from "../../src/digest/render/view.ts";
import { computeDigest } from "./compute-digest.ts";
import { at, episode, input, locationOffline, offline, subject } from "./fixtures.ts";

const visits = (estimate: number) => ({ estimate, low: estimate * 0.8, high: estimate * 1.3 });
const costing = (one: DigestEpisode, estimate: number) => {
  return { ...one, locationId: "leeds-briggate", uncounted: visits(estimate) };
};

function digestOf(episodes: readonly DigestEpisode[]): Digest {
  return computeDigest(input({ recordings: [subject("a"), subject("b")], episodes }));
}

test("each visit that was not counted is at one incident, inside the period, and of what still fires", () => {
  const all = [
    costing(locationOffline("leeds-briggate", at("10:00"), at("14:00")), 400),
    costing(offline("a", at("10:00"), at("14:00")), 400),
    costing(episode("counts_low", "b", at("13:00"), at("15:00")), 100),
    costing(offline("b", at("2026-11-18T22:00:00Z"), at("02:00")), 40),
    offline("a", at("16:00"), at("17:00")),
  ];
  const costs = (episodes: readonly DigestEpisode[]) =>
    digestOf(episodes).incidents.map((one) => [one.title, one.visits?.estimate]);
  expect(costs(all)).toEqual([
    ["1 camera at Leeds Briggate offline", 400],
    ["Camera b · Leeds Briggate: offline", 20],
    ["Camera a · Leeds Briggate: offline", undefined],
    ["Camera b · Leeds Briggate: counts too low", 50],
  ]);
  expect(costs([costing(offline("a", at("20:00")), 90)])[0]?.[1]).toBe(30);
});

test("they are in the line of each incident with what they were worth, and in all; nowhere where nothing is known", () => {
  const two = [
    costing(offline("a", at("10:00"), at("14:00")), 310),
    costing(offline("b", at("16:00"), at("17:00")), 40),
    costing(offline("b", at("18:00"), at("18:30")), 1),
  ];
  const digest = { ...digestOf(two), visitWorth: { valuePerVisit: 12.5, currency: "EUR" } };
  const textOf = (one: Digest) => renderDigestText(viewOf(one, { name: "daily", externalUrl: undefined }, 60));
  const text = textOf(digest);
  expect(text).toContain("What happened: 3 incidents, about 350 visits uncounted (290–450), about 4,400 EUR");
  expect(text).toContain("10:00–14:00; about 310 visits uncounted (250–400), about 3,900 EUR");
  expect(text).toContain("16:00–17:00; about 40 visits uncounted (30–50), about 500 EUR");
  expect(text).not.toContain("about 0");
  expect(textOf(digestOf([offline("a", at("10:00"), at("14:00"))]))).not.toContain("uncounted");
});
