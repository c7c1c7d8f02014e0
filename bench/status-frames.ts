/** The frames a sweep gets, fetched with nothing between us and the wire. */
import { WebSocket } from "ws";
import type { ServiceSettings } from "../src/service/service.ts";

/** One frame per list of locations, as it came. */
export async function statusFrames(
  service: ServiceSettings,
  shards: readonly (readonly string[])[],
): Promise<Buffer[]> {
  const url = new URL(service.wsUrl);
  url.searchParams.set("token", await tokenOf(service));
  const ws = new WebSocket(url);
  await new Promise((resolve, reject) => ws.once("open", resolve).once("error", reject));
  const frames: Buffer[] = [];
  for (const [i, entities] of shards.entries()) {
    const body = { entities, entityType: "location" };
    const frame = new Promise<Buffer>((resolve) => ws.once("message", (data) => resolve(data as Buffer)));
    ws.send(JSON.stringify({ action: "status", data: { id: String(i), route: "status/uptime", body } }));
    frames.push(await frame);
  }
  ws.terminate();
  return frames;
}

async function tokenOf({ authUrl, clientId, clientSecret, audience }: ServiceSettings): Promise<string> {
  const reply = await fetch(`${authUrl}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_id: clientId,
      client_secret: clientSecret,
      audience,
      grant_type: "client_credentials",
    }),
  });
  const { access_token } = (await reply.json()) as { access_token: string };
  return access_token;
}
