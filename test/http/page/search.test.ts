import { expect, test } from "vitest";
import { incidentsOf } from "../../../src/alerting/incident.ts";
import { textMatcher } from "../../../src/http/search.ts";
import { fleetOf, NOW, recordingState } from "../../metrics/fleets.ts";
import { aRecording } from "../../support/fixtures.ts";
import { serve } from "../serve.ts";
import { endedPrint, pageOf, smallFleet } from "./fleet.ts";

const recording = (id: string) => {
  const cameraServer = { a: "edge-7", b: "edge-8", c: "edge-7" }[id] ?? "edge-9";
  return aRecording(id, { cameraServer, name: smallFleet.inventory.recording(id)?.name ?? id });
};
const states = ["a", "b", "c"].map((id) => recordingState(id, { locationId: "leeds" }));
const served = fleetOf({ recordings: states, locations: [{ id: "leeds", name: "Leeds Briggate" }] });
const onServers = { ...served, inventory: { ...served.inventory, recording } };
const ended = {
  ...{ id: "i1", ruleId: "DiskFull", alertname: "DiskFull", fingerprint: endedPrint, locationId: undefined },
  ...{ subject: { kind: "external", id: "nas" } as const, startsAt: NOW - 60_000, endsAt: NOW },
  endReason: "recovered" as const,
};
const episodes = async () => [ended];

test.each([
  ["till", "./recordings/till-3"],
  ["leeds TILL 3", "./recordings/till-3"],
  ["CAFE", "./recordings/caf%C3%A9"],
  ["leeds", "./?location=leeds"],
  ["diskfull", `./incidents/${incidentsOf([ended])[0]?.id}`],
  [incidentsOf([ended])[0]?.id.toLowerCase() ?? "", `./incidents/${incidentsOf([ended])[0]?.id}`],
])("%j leads to the one thing that has it in its names", async (q, location) => {
  const { address } = await serve({ fleet: async () => smallFleet, episodes });
  const response = await fetch(`${address}/?${new URLSearchParams({ q })}`, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([302, location]);
});

test.each([
  "Till 3 · Leeds Briggate",
  "Till 3 (Leeds Briggate):",
  "Leeds Briggate: Till 3",
  "leeds-briggate till-3",
  "“Till 3”, Leeds–Briggate …",
])("what is pasted from a message is found: %j", async (q) => {
  const { address } = await serve({ fleet: async () => smallFleet });
  const response = await fetch(`${address}/?${new URLSearchParams({ q })}`, { redirect: "manual" });
  expect(response.headers.get("location")).toBe("./recordings/till-3");
});

test.each([
  ["e", smallFleet, "recordings/café recordings/entrance recordings/till-3 recordings/shoes", "1 location"],
  ["EDGE-7", onServers, "recordings/a recordings/c", "1 camera server"],
  ["edge", onServers, "recordings/a recordings/b recordings/c", "2 camera servers"],
  ["Europe/London", onServers, "recordings/a recordings/b recordings/c", "3 recordings"],
  // A time zone is asked for as a whole: part of it is in many names of places.
  ["London", onServers, "", "0 recordings"],
  ["%", smallFleet, "", "0 recordings"],
  [".*", smallFleet, "", "0 recordings"],
])("%j lists all that have it", async (q, fleet, expected, heading) => {
  const { html, shown, status } = await pageOf(`/?${new URLSearchParams({ q })}`, { fleet: async () => fleet });
  const found = new Set([...html.matchAll(/href="\.\/(recordings\/[^"]*)"/g)].map(([, id = ""]) => id));
  expect([status, [...found].map(decodeURIComponent).join(" ")]).toEqual([200, expected]);
  expect(shown).toContain(heading);
});

test("keeps what was searched for in the field, and in the links to more", async () => {
  const recordings = Array.from({ length: 150 }, (_, i) => recordingState(`cam "${i}"`));
  const { html, links, title } = await pageOf('/?q=CAM+"', { fleet: async () => fleetOf({ recordings }) });
  expect(html).toContain('name="q" value="CAM &quot;"');
  expect(title).toBe("150 found · lenswatch");
  const link = links.get("50 more recordings") ?? "";
  expect(new URLSearchParams(link.slice(2)).get("q")).toBe('CAM "');
});

test("sorts numbers as people do", async () => {
  const recordings = ["Till 10", "till 9", "Till 1"].map((name) => recordingState(name));
  const { html } = await pageOf("/?q=till", { fleet: async () => fleetOf({ recordings }) });
  expect([...html.matchAll(/recordings\/(\w+)%20(\d+)"/g)].map(([, , n]) => n)).toEqual(["1", "9", "10"]);
});

test("words are found in names of ASCII as in any other, whatever separates them", () => {
  const separators = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
  for (const text of ["x y", "xy", "X-Y"]) {
    const matches = textMatcher(text);
    const foundIn = (end: string) => separators.filter((one) => matches([`X${one}Y${end}`]));
    expect(foundIn("")).toEqual(foundIn("é"));
  }
  expect(textMatcher("x-y")(["x_(y)"])).toBe(true);
});
