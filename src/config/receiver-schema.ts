/** `receivers`: the ways of telling, each entry an integration of its own. */
import { channelKeys } from "./channel-schema.ts";
import { required, section } from "./key.ts";
import { name } from "./scalars.ts";

const receiver = section({
  name: required("What routes call it.", name),
  ...channelKeys,
});

export const receiverSection: typeof receiver = receiver;
