/** The handle of a conversation: the channel's id and the root's timestamp, which is gone where the root was deleted. */
import { z } from "zod";
import { tryJson } from "../../lib/json-values.ts";

const schema = z.object({
  channel: z.string().regex(/^[A-Z0-9]{2,30}$/),
  ts: z
    .string()
    .regex(/^\d{1,12}\.\d{1,9}$/)
    .optional(),
  /** The channel as it was configured. */
  of: z.string().max(100).optional(),
});
export type Handle = z.infer<typeof schema>;

/** The answer of chat.postMessage. Without `thread_ts` the message is no reply, whatever was asked for. */
const Answer = schema.extend({ message: z.object({ thread_ts: schema.shape.ts }).optional() });

/** The conversation of a message that was accepted; undefined where the answer does not say. */
export function handleOf(answer: unknown): Handle | undefined {
  const { channel, ts, message } = Answer.safeParse(answer).data ?? {};
  return channel === undefined ? undefined : { channel, ts: message?.thread_ts ?? ts };
}

export const formatHandle = (handle: Handle): string => JSON.stringify(handle);

/** Undefined where it is none of ours, or of another channel kind. */
export function parseHandle(text: string | undefined): Handle | undefined {
  return text === undefined ? undefined : schema.safeParse(tryJson(text)).data;
}
