/** `POST /api/v1/alerts/{fingerprint}/ack`: no reminders of a firing alert until it resolves. */
import { z } from "zod";
import { HttpError } from "../errors.ts";
import { operation } from "./operation.ts";

const text = (max: number) => z.string({ error: "expected a text" }).max(max, `expected at most ${max} characters`);

export const acknowledge = operation({
  id: "acknowledge",
  method: "post",
  path: "/api/v1/alerts/{fingerprint}/ack",
  summary: "Stops reminders of a firing alert until it resolves; its end is still notified.",
  admin: true,
  body: z.strictObject({ author: text(200).default("api"), comment: text(4_000).default("") }).prefault({}),
  answer: z.strictObject({
    fingerprint: z.string(),
    alerts: z.int().min(1).describe("How many firing alerts have the fingerprint."),
    author: z.string(),
    comment: z.string(),
  }),
  async handle(deps, { param: fingerprint, body }) {
    const alerts = await deps.acknowledge(fingerprint, body);
    if (alerts === 0) throw new HttpError("not_found", "No firing alert has this fingerprint.");
    return { fingerprint, alerts, ...body };
  },
});
