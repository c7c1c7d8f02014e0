/** What happens to the fleet in a year: a YAML file, validated as a configuration is. Durations in ms, ratios 0–1. */
import { readFileSync } from "node:fs";
import type { z } from "zod";
import { readYaml } from "../../src/config/document.ts";
import { section, withDefault } from "../../src/config/key.ts";
import { ConfigError, toProblems } from "../../src/config/problem.ts";
import { integer, leaf, oneOrMore, ratio, textThat } from "../../src/config/scalars.ts";
import { validate } from "../../src/config/validate.ts";
import { parseDuration } from "../../src/lib/duration.ts";

/** Both ends included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

function rangeOf(expected: string, read: (text: string) => number | undefined) {
  return leaf<Range>(expected, (text) => {
    const parts = text.split(" to ");
    const [from, to] = [read(parts[0] ?? ""), read(parts.at(-1) ?? "")];
    if (parts.length > 2 || from === undefined || to === undefined || from > to) return {};
    return { value: { from, to } };
  });
}

const number = (text: string) => (/^\d{1,6}(?:\.\d{1,4})?$/.test(text) ? Number(text) : undefined);
const percentage = (text: string) => (/^\d{1,3}%$/.test(text) ? Number(text.slice(0, -1)) / 100 : undefined);

const durations = rangeOf("a duration or two, such as 1m to 20m", parseDuration);
const counts = rangeOf("a whole number or two, such as 1 to 12", (text) =>
  /^\d{1,6}$/.test(text) ? number(text) : undefined,
);
const ratios = rangeOf("a ratio or two, such as 40% to 65%", percentage);
const rate = leaf("a number such as 0.5", (text) => {
  const value = number(text);
  return value === undefined ? {} : { value };
});
const zones = oneOrMore(
  textThat("an IANA time zone", (text) => Intl.supportedValuesOf("timeZone").includes(text)),
  "a list of IANA time zones",
);

const lasts = (fallback: string) => withDefault("How long one lasts.", durations, fallback);
const perSite = (fallback: string) => withDefault("How many a site has in a year.", rate, fallback);
const perRecording = (fallback: string) => withDefault("How many a recording has in a year.", rate, fallback);
const perYear = (fallback: string) => withDefault("How many there are in a year.", rate, fallback);

const sections = {
  fleet: section({
    recordings_per_site: withDefault("Recordings of a site.", counts, "1 to 12"),
    sites_per_region: withDefault("Sites of a region, which go offline together.", counts, "20 to 60"),
    sites_per_server: withDefault("Neighbouring sites that share a camera server.", counts, "1 to 6"),
    timezones: withDefault("Time zones, one for each region in turn.", zones, ["Europe/London", "Europe/Berlin"]),
    scheduled: withDefault("The ratio of sites that upload by a schedule.", ratio, "60%"),
    opens: withDefault("The local hour a scheduled site begins to upload.", counts, "6 to 9"),
    closes: withDefault("The local hour it stops.", counts, "19 to 23"),
    closed_sundays: withDefault("The ratio of scheduled sites that are closed on Sundays.", ratio, "40%"),
    late: withDefault("How long after the schedule begins a recording uploads.", durations, "0s to 1m"),
    skew: withDefault("How differently recordings that fail together are reported offline.", durations, "0s to 45s"),
  }),
  router_restarts: section({
    rate: perSite("20"),
    lasts: lasts("1m to 20m"),
    returns: withDefault("How long after the first recording another one is back.", durations, "0s to 2m"),
  }),
  power_cuts: section({
    rate: perSite("1.5"),
    lasts: lasts("5m to 12h"),
    returns: withDefault("How long after the first recording another one is back.", durations, "0s to 10m"),
  }),
  night_maintenance: section({
    rate: perSite("4"),
    begins: withDefault("The hour in UTC it begins.", counts, "1 to 4"),
    lasts: lasts("10m to 2h"),
    silenced: withDefault("The ratio that somebody silences beforehand.", ratio, "50%"),
  }),
  camera_failures: section({ rate: perRecording("0.3"), lasts: lasts("3h to 3w") }),
  camera_dropouts: section({ rate: perRecording("6"), lasts: lasts("10s to 30m") }),
  flapping_cables: section({
    rate: perRecording("0.1"),
    lasts: lasts("1h to 2d"),
    offline: withDefault("How long it is offline at a time.", durations, "20s to 4m"),
    online: withDefault("How long it is online in between.", durations, "20s to 4m"),
  }),
  reboot_loops: section({
    rate: perRecording("0.1"),
    lasts: lasts("1h to 12h"),
    offline: withDefault("How long a restart takes.", durations, "30s to 90s"),
    online: withDefault("How long until the next one.", durations, "1m to 3m"),
  }),
  degraded_phases: section({ rate: perRecording("0.5"), lasts: lasts("2m to 8h") }),
  low_quality: section({
    rate: perRecording("0.3"),
    lasts: lasts("5m to 3d"),
    quality: withDefault("The average quality meanwhile.", ratios, "30% to 65%"),
  }),
  lossy_uploads: section({
    rate: perRecording("0.1"),
    lasts: lasts("1h to 4d"),
    uptime: withDefault("The ratio of segments that arrive, while the recording is online.", ratios, "40% to 90%"),
  }),
  missing_rows: section({ rate: perRecording("0.2"), lasts: lasts("30s to 12h") }),
  server_outages: section({
    rate: withDefault("How many a camera server has in a year.", rate, "1"),
    lasts: lasts("1m to 8h"),
    returns: withDefault("How long after the first recording another one is back.", durations, "0s to 3m"),
  }),
  region_outages: section({
    rate: withDefault("How many a region has in a year.", rate, "1"),
    lasts: lasts("2m to 8h"),
    returns: withDefault("How long after the first recording another one is back.", durations, "0s to 5m"),
  }),
  service_outages: section({
    rate: perYear("12"),
    lasts: lasts("30s to 3h"),
    answers: withDefault("How often in an hour the failing service answers for a moment.", rate, "2"),
  }),
  service_partly: section({
    rate: perYear("24"),
    lasts: lasts("2m to 3h"),
    shards: withDefault("The ratio of shards that fail.", ratios, "10% to 50%"),
  }),
};
const keys = {
  locations_per_request: withDefault("The locations of a shard, which fail together.", integer(1, 1000), "50"),
  fleet: withDefault("The fleet.", sections.fleet, {}),
  router_restarts: withDefault("Restarting routers: whole sites, briefly.", sections.router_restarts, {}),
  power_cuts: withDefault("Power cuts: whole sites, for long.", sections.power_cuts, {}),
  night_maintenance: withDefault("Maintenance of a whole site at night.", sections.night_maintenance, {}),
  camera_failures: withDefault("Cameras that break and are replaced.", sections.camera_failures, {}),
  camera_dropouts: withDefault("Single recordings offline for a while.", sections.camera_dropouts, {}),
  flapping_cables: withDefault("Recordings with a loose cable.", sections.flapping_cables, {}),
  reboot_loops: withDefault("Recordings that restart again and again.", sections.reboot_loops, {}),
  degraded_phases: withDefault("Recordings reported degraded.", sections.degraded_phases, {}),
  low_quality: withDefault("Recordings with a low quality.", sections.low_quality, {}),
  lossy_uploads: withDefault("Recordings that lose segments and stay online.", sections.lossy_uploads, {}),
  missing_rows: withDefault("Recordings that the service leaves out.", sections.missing_rows, {}),
  server_outages: withDefault("Camera servers offline, with all their recordings.", sections.server_outages, {}),
  region_outages: withDefault("Regions offline, with all their sites.", sections.region_outages, {}),
  service_outages: withDefault("The service answers nothing.", sections.service_outages, {}),
  service_partly: withDefault("The service answers for some shards only.", sections.service_partly, {}),
};
/** Every key, with its description and default. */
export const mixSection = section(keys);

export type Mix = z.output<typeof mixSection.schema>;

/** The mix of a text. Throws ConfigError with every problem and its line. */
export function parseMix(text: string, file: string): Mix {
  const document = readYaml(text, {});
  const checked = document.findings.length > 0 ? { findings: [] } : validate(document, mixSection);
  if ("value" in checked) return checked.value;
  const findings = [...document.findings, ...checked.findings];
  throw new ConfigError("invalid", `${file} is not a valid mix`, {
    problems: toProblems(findings, document, { file, secrets: [] }),
  });
}

export function loadMix(file: string): Mix {
  return parseMix(readFileSync(file, "utf8"), file);
}
