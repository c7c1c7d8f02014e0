/** `GET /?location=`: one location, its recordings and its history. */
import {
  alertSortKey,
  alertsByLocation,
  attentionIn,
  type LocationSummary,
  occurring,
  summaryOf,
  toneNow,
} from "../../alerting/overview.ts";
import { phoneLink, type Shop, wordsOf } from "../../health/directory.ts";
import { recordingLabels } from "../../health/recording-evaluator.ts";
import type { FleetSnapshot, RecordingState } from "../../health/shard-state.ts";
import { totalOf } from "../../health/status-counts.ts";
import { count, counted, nameOf, nameWithin } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { capital } from "../../lib/text.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { listingOf } from "../paging.ts";
import { episodeListing } from "../v1/episodes.ts";
import { alertCard } from "./alert-card.ts";
import { alertList } from "./board.ts";
import { thresholdsOf, uptimeSection } from "./charts.ts";
import { decisionLogSection, episodeSection, historySince, PERIOD_DAYS } from "./history.ts";
import type { HtmlPage } from "./layout.ts";
import { type HomeQuery, homeLink, incidentsLink, silenceButton } from "./links.ts";
import { listed, section } from "./listing.ts";
import { inTime, type PageData, readShardOf, statesAt } from "./page-data.ts";
import { recordingListing, recordingTable, zonesInWords } from "./recording-table.ts";
import { countBadges } from "./summary.ts";
import { uptimeDays, uptimeOfAll, withPlanned } from "./uptime-days.ts";
import type { Visitor } from "./visitor.ts";
import { knownZone } from "./when.ts";

const ALERTS_SHOWN = 20;
const EPISODES_SHOWN = 20;
/** The histories of more recordings are not combined on one page. */
const MOST_HISTORIES = 300;

const ROOT = "./";

/** Its recordings and their histories. Throws HttpError `unavailable` where these cannot be read in time. */
export async function locationDetails(id: string, data: PageData, deps: HttpDeps) {
  const shard = await readShardOf(id, data, deps);
  const here = statesAt(shard, id);
  const alerts = alertsAt(id, data);
  const subjects = [{ kind: "location", id } as const, ...alerts.needed.items.map(({ subject }) => subject)];
  const since = historySince(data.moment.now);
  const reading = Promise.all([
    deps.uptimes(here.length > MOST_HISTORIES ? [] : here.map((state) => state.id)),
    deps.episodes(since.episodes),
    deps.timeline(subjects, since.decisions),
    deps.zones([id]),
  ]);
  const [uptimes, episodes, lines, zonesOf] = await inTime(reading, deps);
  const zones = new Set([...(zonesOf.get(id)?.values() ?? [])].flat());
  const { rules, maintenance } = deps.config();
  return {
    shard,
    here,
    alerts,
    uptimes,
    episodes,
    lines,
    maintenance,
    thresholds: thresholdsOf(rules),
    zones: [...zones].sort(),
  };
}

type LocationDetails = Awaited<ReturnType<typeof locationDetails>> & { readonly visitor: Visitor };

const GONE = "There is no watched location with this id; it may have left the fleet, or the link may be cut off.";

/** One location. Throws HttpError `not_found` where there is none with this id. */
export function locationPage(data: PageData, query: HomeQuery, id: string, details: LocationDetails): HtmlPage {
  const { fleet } = data;
  const known = fleet.locations.get(id);
  if (!known) throw new HttpError("not_found", GONE);
  const location = summaryOf(known, fleet, alertsByLocation(data));
  const { shard, here } = details;
  const listing = recordingListing(here, shard, query);
  const link = (cursor: string | undefined) => homeLink(ROOT, { location: id, cursor });
  const name = nameOf(location.name, id);
  return {
    title: `${titleOf(location)} · ${name}`,
    tone: toneNow([location]),
    parameters: { location: id },
    path: pathOf(id),
    body: html`${lead(location, name, details.zones)}${shopSection(fleet.inventory.shop?.(id))}
${alertSection(data, id, details)}
${section("recordings", "Recordings", listed(listing, "recordings", link, recordingTable(listing.items, shard, data.moment)))}
${history(data, id, timezoneOf(id, here, shard), details)}`,
  };
}

function lead(location: LocationSummary, name: string, zones: readonly string[]): Markup {
  const { counts, were } = location;
  const covered = html`<p class="soft">Zones: ${zonesInWords(zones)}</p>`;
  return html`<div class="lead ${toneNow([location])}"><h1><bdi>${name}</bdi></h1>
<p>${countBadges({ counts, were })}<span class="soft">of ${counted(totalOf(counts), "recording")}</span></p>
${zones.length === 0 ? nothing : covered}${silenceButton(ROOT, "location", location.id)}</div>`;
}

/** The contacts and labels that the directory has of the location. */
function shopSection(shop: Shop | undefined): Markup {
  if (!shop) return nothing;
  const rows = [...shop.contacts, ...Object.entries(shop.labels)].map((one) => {
    const [column, value] = one;
    const phone = phoneLink(one);
    const text = html`<bdi>${value}</bdi>`;
    return html`<dt>${capital(wordsOf(column))}</dt><dd>${phone ? html`<a href="${phone}">${text}</a>` : text}</dd>`;
  });
  return rows.length === 0 ? nothing : section("directory", "Directory", html`<dl>${rows}</dl>`);
}

function history(data: PageData, id: string, timezone: string, details: LocationDetails): Markup {
  const { fleet, moment } = data;
  const { uptimes, episodes, lines, thresholds } = details;
  const all = [...uptimes.values()].map((kept) => uptimeDays(kept, moment.now, PERIOD_DAYS, timezone));
  const labels = [...uptimes.keys()].map((one) => recordingLabels(one, id, fleet.inventory));
  const days = withPlanned(uptimeOfAll(all), moment.now, labels, details.maintenance);
  const episodeQuery = { limit: EPISODES_SHOWN, location: id };
  const listing = episodeListing(episodes, episodeQuery, fleet.inventory, moment.now);
  const link = () => incidentsLink(ROOT, { q: id, days: "30" });
  const own = lines.filter(({ subject }) => subject.kind === "location");
  const log = { moment, timezone, title: "Decision log of the location", of: "location" } as const;
  return html`
${uptimeSection(days, timezone, thresholds.uptime)}
${episodeSection(listing, { moment, timezone, link, root: ROOT, withPlace: true })}
${decisionLogSection(own, log)}`;
}

function titleOf({ counts, needed }: LocationSummary): string {
  const [worst] = occurring(counts);
  if (worst === undefined) return "? No recording seen";
  if (worst !== "online") return `${count(counts[worst])} ${worst}`;
  return needed > 0 ? counted(needed, "alert") : "All online";
}

function pathOf(id: string): string {
  return `?${new URLSearchParams({ location: id })}`;
}

/** The alerts of a location and its recordings, the worst first: what needs somebody, and what is handled or suppressed. */
function alertsAt(id: string, data: PageData) {
  const listed = (isNeeded: boolean) =>
    listingOf(data.alerts, { limit: ALERTS_SHOWN }, (alert) => {
      const isListed = alert.labels.location_id === id && (attentionIn(data, alert) === "needed") === isNeeded;
      return isListed ? alertSortKey(alert) : undefined;
    });
  return { needed: listed(true), handled: listed(false) };
}

function alertSection(data: PageData, id: string, { visitor, lines, alerts: { needed, handled } }: LocationDetails) {
  const total = needed.total + handled.total;
  if (total === 0) return nothing;
  const context = { data, root: ROOT, visitor, path: pathOf(id), lines } as const;
  const active = needed.items.flatMap(({ key }) => data.suppressed.get(key) ?? []);
  const cards = active.map((one) => {
    const { recording, location = "" } = one.alert.labels;
    return alertCard(one, { ...context, of: recording && nameWithin(recording, location) });
  });
  const left = total - needed.items.length - handled.items.length;
  const all = html`<p><a href="${incidentsLink(ROOT, { q: id, days: "1" })}">${counted(left, "more alert")}</a></p>`;
  const top = cards.length === 0 ? nothing : html`<ul class="cards">${cards}</ul>`;
  const others = html`${alertList(handled.items, data, ROOT)}${left === 0 ? nothing : all}`;
  return section("alerts", counted(total, "alert"), html`${top}${others}`);
}

function timezoneOf(id: string, [some]: readonly RecordingState[], { inventory }: FleetSnapshot): string {
  return knownZone(inventory.location(id)?.timezone, inventory.recording(some?.id ?? "")?.timezone);
}
