/** `POST /api/v1/alerts/{fingerprint}/ack`: no reminders of what fires until it resolves. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { parseBody } from "../query.ts";

/** All of it may be left out, the body as well. */
export const Acknowledgement = z
  .strictObject({
    author: z.string({ error: "expected a text" }).max(200, "expected at most 200 characters").default("api"),
    comment: z
      .string({ error: "expected a text" })
      .max(4_000, "expected at most 4000 characters")
      .default(""),
  })
  .prefault({});

/** What was acknowledged: how many alerts have the fingerprint. */
export const Acknowledged = z.strictObject({
  fingerprint: z.string(),
  alerts: z.int().min(1),
  author: z.string(),
  comment: z.string(),
});

export function acknowledgeRoute(app: FastifyInstance, deps: Pick<HttpDeps, "acknowledge">): void {
  app.post<{ Params: { fingerprint: string } }>(
    "/api/v1/alerts/:fingerprint/ack",
    { config: { admin: true } },
    async ({ params: { fingerprint }, body }) => {
      const acknowledgement = parseBody(Acknowledgement, body ?? {});
      const alerts = await deps.acknowledge(fingerprint, acknowledgement);
      if (alerts === 0) throw new HttpError("not_found", "No alert that fires has this fingerprint.");
      return { fingerprint, alerts, ...acknowledgement };
    },
  );
}
