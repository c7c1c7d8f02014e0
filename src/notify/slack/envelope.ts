/** The messages of Slack's socket; everything in them is a person's or a stranger's text, bounded and of known shape. */
import { z } from "zod";

const id = z.string().min(1).max(64);
/** A name for people; Slack leaves it out of some payloads. */
const name = z
  .string()
  .transform((all) => all.slice(0, 3_000))
  .default("");

const hello = z.object({ type: z.literal("hello"), connection_info: z.object({ app_id: id }).optional() });
const disconnect = z.object({ type: z.literal("disconnect"), reason: z.string().max(100).default("") });

const interactive = z.object({
  type: z.literal("interactive"),
  envelope_id: id,
  payload: z.object({ type: z.string().max(100) }).loose(),
});

const message = z.discriminatedUnion("type", [hello, disconnect, interactive]);
const other = z.object({ type: z.literal("other"), envelope_id: id });

const action = z.object({
  action_id: z.string().max(255),
  block_id: z.string().max(255),
  value: z.string().max(2_000).nullish(),
});
const typed = z.object({ text: z.object({ value: z.string().max(3_000).nullish() }) }).optional();

/** A button pressed in a message, with what is typed in its fields. */
export const SlackPress = z.object({
  type: z.literal("block_actions"),
  api_app_id: id.optional(),
  team: z.object({ id }).nullish(),
  user: z.object({ id, username: name, name, team_id: id.optional() }),
  container: z.object({ channel_id: id, message_ts: id }),
  actions: z.tuple([action], action),
  state: z.object({ values: z.object({ until: typed, reason: typed }) }).nullish(),
});
export type SlackPress = z.infer<typeof SlackPress>;
/** An envelope that is to be acted on. */
export type SlackEnvelope = z.infer<typeof interactive>;

/** The answer where something of ours failed. */
export const slackFailed = "lenswatch could not do that now. Look at its status page before you try again.";

/** `other`: to be acknowledged and left. Undefined for what cannot be read. */
export function readSocketMessage(data: Buffer): z.infer<typeof message> | z.infer<typeof other> | undefined {
  try {
    const value: unknown = JSON.parse(data.toString("utf8"));
    const known = message.safeParse(value);
    return known.success ? known.data : other.safeParse({ ...Object(value), type: "other" }).data;
  } catch {
    return undefined;
  }
}
