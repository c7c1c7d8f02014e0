import { expect, test } from "vitest";
import type { Digest, DigestEpisode } from "../../src/digest/digest.ts";
import { renderDigestHtml } from "../../src/digest/render/html.ts";
import { renderDigestText } from "../../src/digest/render/text.ts";
import { viewOf } from "../../src/digest/render/view.ts";
import { computeDigest } from "./compute-digest.ts";
import { at, input, locationOffline, offline, subject } from "./fixtures.ts";

const visits = (estimate: number) => ({ estimate, low: estimate * 0.8, high: estimate * 1.3 });
const costing = (episode: DigestEpisode, estimate: number) => ({ ...episode, uncounted: visits(estimate) });
const york = { locationId: "york", locationName: "York" };

function digestOf(episodes: readonly DigestEpisode[]): Digest {
  return computeDigest(input({ recordings: [subject("a"), subject("b")], episodes }));
}

test("visits that were not counted are counted once for each location, inside the period, and of what still fires", () => {
  const leeds = [
    costing(locationOffline("leeds-briggate", at("10:00"), at("14:00")), 400),
    costing(offline("a", at("10:00"), at("14:00")), 400),
    costing(offline("b", at("11:00"), at("12:00")), 90),
    costing(offline("b", at("2026-11-18T22:00:00Z"), at("02:00")), 40),
    offline("a", at("16:00"), at("17:00")),
  ];
  expect(digestOf(leeds).visits.map(({ locationId, visits: { estimate } }) => [locationId, estimate])).toEqual([
    ["leeds-briggate", 420],
  ]);
  expect(digestOf([costing(offline("a", at("20:00")), 90)]).visits[0]?.visits.estimate).toBeLessThanOrEqual(90);
  expect(digestOf([offline("a", at("16:00"), at("17:00"))]).visits).toEqual([]);
});

test("they are a section with a total, what they were worth, and a table; none where nothing is known", async () => {
  const digest: Digest = {
    ...digestOf([costing(offline("a", at("10:00"), at("14:00")), 310)]),
    visitWorth: { valuePerVisit: 12.5, currency: "EUR" },
  };
  const two = {
    ...digest,
    visits: [...digest.visits, { ...york, visits: visits(1) }, { ...york, visits: visits(40) }],
  };
  const frame = { name: "daily", externalUrl: undefined };
  const text = renderDigestText(viewOf(two, frame, 60));
  expect(text).toContain("Visits not counted: about 350 visits uncounted (290–450), about 4,400 EUR");
  expect(text).toContain("about 310 (250–400), about 3,900 EUR");
  expect(text).toContain("York: about 40 (30–50), about 500 EUR");
  expect(text).not.toContain("about 0");
  expect(renderDigestHtml(viewOf(two, frame, 60), "")).toContain("about 310 (250–400)");

  const none = digestOf([offline("a", at("10:00"), at("14:00"))]);
  expect(renderDigestText(viewOf(none, frame, 60))).not.toContain("not counted");
});
