/** What people name on the command line: a recording, a location or a camera server, by its id or full name. */
import type { z } from "zod";
import { isIncidentId } from "../../alerting/incident.ts";
import { ApiIncidentTimeline } from "../../http/v1/incidents.ts";
import { ApiLocation } from "../../http/v1/locations.ts";
import { ApiRecording } from "../../http/v1/recordings.ts";
import { asRead } from "./as-read.ts";
import { listRows, unknownMessage } from "./command.ts";
import { type Daemon, DaemonError } from "./daemon.ts";

const RecordingRow = asRead(ApiRecording);
const LocationRow = asRead(ApiLocation);

/** The label that has the id of each kind. */
export const labelOfKind = {
  recording: "recording_id",
  location: "location_id",
  "camera server": "camera_server",
} as const;

export interface Named {
  readonly kind: keyof typeof labelOfKind;
  readonly id: string;
  readonly name: string;
  /** The time zone of a location. */
  readonly timezone?: string | undefined;
  /** The name of a recording's location. */
  readonly location?: string;
  readonly row?: ApiRecording;
  /** The recordings of a location by status. */
  readonly recordings?: z.infer<typeof ApiLocation>["recordings"];
}

/** Characters of a search, as the API takes them. */
const SEARCHED = 256;
const MOST_LISTED = 20;

/** The one with that id, else with that name, in any case; undefined for none. Throws DaemonError where several have it. */
export async function findNamed(daemon: Daemon, wanted: string): Promise<Named | undefined> {
  const recordings = await daemon.all("/api/v1/recordings", { recording: wanted }, RecordingRow);
  const locations = await daemon.all("/api/v1/locations", { location: wanted }, LocationRow);
  const all = [...recordings.map(ofRecording), ...locations.map(ofLocation)];
  const named = all.length > 0 ? all : await cameraServers(daemon, wanted);
  const exact = named.filter(({ id }) => id === wanted);
  const [found, ...others] = exact.length > 0 ? exact : named;
  if (others.length === 0) return found;
  const kinds = new Set(named.map(({ kind }) => kind));
  const what = kinds.size === 1 ? `${found?.kind}s` : "recordings and locations";
  const listed = listRows(named.slice(0, MOST_LISTED));
  throw new DaemonError("bad_option", `${named.length} ${what} have that name; give an id:${listed}`);
}

const IncidentRow = asRead(ApiIncidentTimeline);

/** The incident with that id; undefined where none has it. */
export async function incidentNamed(daemon: Daemon, wanted: string) {
  if (!isIncidentId(wanted)) return undefined;
  return daemon.get(`/api/v1/incidents/${wanted}`, {}, IncidentRow).catch(orNothing);
}

/** Undefined where the daemon found nothing. Throws any other error. */
export function orNothing(thrown: unknown): undefined {
  if (thrown instanceof DaemonError && thrown.code === "not_found") return undefined;
  throw thrown;
}

async function cameraServers(daemon: Daemon, wanted: string): Promise<Named[]> {
  const text = wanted.trim().toLowerCase();
  if (text === "" || text.length > SEARCHED) return [];
  const rows = await daemon.all("/api/v1/recordings", { q: wanted }, RecordingRow);
  const servers = rows.flatMap(({ cameraServer }) => cameraServer ?? []);
  const found = servers.filter(({ id, name }) => id.toLowerCase() === text || name.toLowerCase() === text);
  return [...new Map(found.map((one) => [one.id, { kind: "camera server" as const, ...one }])).values()];
}

/** The message for a name that nothing has, with what is similar. */
export async function nothingNamed(daemon: Daemon, wanted: string): Promise<string> {
  const recordings = await daemon.all("/api/v1/recordings", {}, RecordingRow);
  const locations = await daemon.all("/api/v1/locations", {}, LocationRow);
  const servers = new Map(recordings.flatMap(({ cameraServer: one }) => (one ? [[one.id, one] as const] : [])));
  const rows = [...recordings.map(ofRecording), ...locations.map(ofLocation), ...servers.values()];
  return unknownMessage("recording or location", wanted, rows);
}

function ofRecording(row: ApiRecording): Named {
  return { kind: "recording", id: row.recordingId, name: row.recording, location: row.location, row };
}

function ofLocation({ locationId: id, location: name, timezone, recordings }: z.infer<typeof LocationRow>): Named {
  return { kind: "location", id, name, timezone: timezone ?? undefined, recordings };
}

/** `camera server edge-7`, `Till 3 · Leeds Briggate`. */
export function titleOf({ kind, name, location }: Named): string {
  const title = kind === "camera server" ? `${kind} ${name}` : name;
  return [title, ...(location ? [location] : [])].join(" · ");
}
