/** One real answer of every kind the service gives, as the simulator gives it. */
import { startSimulator } from "../../src/simulator/simulator.ts";
import { connect, getJson, locationIds, NOON, postJson, snapshot, tokenOf } from "../simulator/client.ts";

export const answerKinds = [
  "token",
  "locations",
  "recording_uptime",
  "uptimes",
  "status_uptime",
  "entries",
  "area_data",
  "average_dwell_time",
  "conversion_rate",
  "area_contexts",
  "error",
] as const;
export type AnswerKind = (typeof answerKinds)[number];

export type RealAnswers = Readonly<Record<AnswerKind, unknown>>;

const WEEK = { start: "2026-11-12T00:00:00.000Z", end: "2026-11-19T23:59:59.999Z" };
const DAY = { start: "2026-11-19", end: "2026-11-19" };

/** Small ones: a few rows each. */
export async function realAnswers(): Promise<RealAnswers> {
  const clock = { now: () => NOON };
  const simulator = await startSimulator({ locations: 2, recordingsPerLocation: 2, seed: 7, clock });
  try {
    const token = await tokenOf(simulator);
    const client = await connect(simulator, token);
    const entities = locationIds(simulator);
    const metric = (route: string, body: object) =>
      client.ask("metric", route, { ...WEEK, entities, entityType: "location", facets: ["summary"], ...body });
    const [recording] = simulator.world.recordings;
    const path = `${simulator.baseUrl}/v1/recording`;
    const authUrl = `${simulator.authUrl}/oauth/token`;
    const login = {
      client_id: simulator.clientId,
      client_secret: simulator.clientSecret,
      audience: simulator.audience,
      grant_type: "client_credentials",
    };
    const answers = {
      token: await (await postJson(authUrl, login)).json(),
      locations: await getJson(`${simulator.baseUrl}/v1/location/list`, token),
      recording_uptime: await getJson(`${path}/${recording?.id}/uptime?start=${DAY.start}&end=${DAY.end}`, token),
      uptimes: await (await postJson(`${path}/uptimes`, DAY, token)).json(),
      status_uptime: await snapshot(client, entities),
      entries: await metric("entries", { facets: ["segments", "summary"], aggregationPeriod: "day" }),
      area_data: await metric("area/data", {
        areaType: "taxonomy",
        taxonomy: [recording?.taxonomies[0]],
        breakdownByDimensions: ["taxonomy"],
      }),
      average_dwell_time: await metric("average-dwell-time", { areaType: "location-dwell" }),
      conversion_rate: await metric("transactions/conversion-rate", { breakdownByDimensions: ["entity"] }),
      area_contexts: await client.ask("detail", "detail/list", {
        returnEntityType: "area_context",
        entities,
        entityType: "location",
      }),
      error: await client.ask("status", "no/such/route", {}),
    };
    client.ws.terminate();
    return trimmed(answers) as RealAnswers;
  } finally {
    await simulator.close();
  }
}

/** Lists of at most three. */
function trimmed(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 3).map(trimmed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, trimmed(one)]));
}
