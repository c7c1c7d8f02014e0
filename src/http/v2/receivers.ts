/** `GET /api/v2/receivers`: every receiver's name. */
import { z } from "zod";
import type { ShownReceiver } from "../deps.ts";
import { isReceiverWanted, matcherList } from "./alert-query.ts";

export const ReceiversQuery = z.object({ receiver_matchers: matcherList });
export type ReceiversQuery = z.infer<typeof ReceiversQuery>;

/** In the order of the configuration; receivers have no labels here. */
export function gettableReceivers(
  receivers: readonly ShownReceiver[],
  { receiver_matchers }: ReceiversQuery,
) {
  return receivers
    .filter(({ name }) => isReceiverWanted(name, { receiver: undefined, receiver_matchers }))
    .map(({ name }) => ({ name, labels: {} }));
}
