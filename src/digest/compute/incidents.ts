/** The incidents of a digest or a report: those of its recordings, worst first. */
import { latestOf } from "../../alerting/acknowledgement.ts";
import { durationOf, fires, incidentOf, incidentsOf, sizeOfIncident, subjectKey } from "../../alerting/incident.ts";
import { incidentTitle } from "../../alerting/incident-words.ts";
import { visitsOf, visitsOnce } from "../../alerting/uncounted.ts";
import { type Interval, lengthIn, subtract } from "../../lib/intervals.ts";
import type { DigestEpisode, DigestIncident, DigestRecording, DigestScope } from "../digest.ts";

/** Alerts that are about no recording, location or group: every digest has them. */
const ABOUT_ALL: ReadonlySet<string> = new Set(["service", "integration", "directory"]);

/** Collects the recordings that a digest is about, and gives the incidents of a period that these had. */
export function createIncidents({ episodes, acknowledgements = new Map(), maintenance = [], names, now }: DigestScope) {
  const known = new Set(episodes.map(subjectKey));
  const concerned = new Set<string>();
  const all = incidentsOf(episodes);
  const windows = new Map(maintenance.map((one) => [one.name, one.windows]));
  const isConcerned = (one: DigestEpisode) => ABOUT_ALL.has(one.subject.kind) || concerned.has(subjectKey(one));
  /** Outside maintenance: downtime in it is planned. */
  const unplanned = ({ startsAt: from, endsAt: to = now, planned = "" }: DigestEpisode) =>
    subtract([{ from, to }], windows.get(planned) ?? []);

  return {
    /** Gives the keys of the episodes that it may have, alone or with others. */
    add({ recording }: DigestRecording): string[] {
      const { id, locationId, cameraServer, organisation, timezone } = recording;
      const groups = [`camera_server/${cameraServer}`, `organisation/${organisation}`, `timezone/${timezone}`];
      const all = [`recording/${id}`, `location/${locationId}`, ...groups.map((group) => `group/${group}`)];
      const keys = all.filter((key) => known.has(key));
      for (const key of keys) concerned.add(key);
      return keys;
    },

    /** The incidents that were open inside a period; one that lasts weighs until now. */
    inside(period: Interval): DigestIncident[] {
      const open = all.flatMap((incident) => {
        const episodes = incident.episodes.filter(isConcerned);
        const part = { ...incidentOf(episodes), id: incident.id };
        const spans = episodes.flatMap(unplanned);
        const lostMs = lengthIn(spans, fires(part) ? { from: period.from, to: now } : period);
        const isInside = lengthIn(spans, period) > 0;
        return isInside ? [{ ...part, lostMs }] : [];
      });
      const listed = visitsOnce(open, period, now).map(({ id, startsAt, endsAt, episodes: of, lostMs, cause }) => {
        const { recordings, locations } = sizeOfIncident({ episodes: of });
        const size = Math.max(recordings, locations.size);
        const title = incidentTitle({ id, startsAt, endsAt, cause, episodes: of }, names);
        const acknowledgement = latestOf(of, acknowledgements);
        const known = { isOutage: size > 0, visits: visitsOf(of), acknowledgement, keys: new Set(of.map(subjectKey)) };
        const incident = { id, title, startsAt, endsAt, durationMs: durationOf({ episodes: of }, now), ...known };
        return { incident, weight: size * lostMs, lostMs };
      });
      listed.sort((a, b) => b.weight - a.weight || b.lostMs - a.lostMs || a.incident.startsAt - b.incident.startsAt);
      return listed.map(({ incident }) => incident);
    },
  };
}
