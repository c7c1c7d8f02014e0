/** `slo`: objectives for the ratio of time that recordings record, each with an error budget. */
import { optional, required, section, withDefault } from "./key.ts";
import { matchers } from "./route-schema.ts";
import { duration, leaf, name, oneOf, ratio } from "./scalars.ts";

const objective = leaf("a ratio between 0 and 1, neither included, such as 99.5%", (text) => {
  const { data } = ratio.safeParse(text);
  return data !== undefined && data > 0 && data < 1 ? { value: data } : {};
});

export const sloSection = section({
  name: required("The objective's name, in the label `slo` of its alerts and metrics.", name),
  objective: required("The ratio of the expected time that must be recorded, planned maintenance aside.", objective),
  period: withDefault(
    "The time whose error budget the metrics and burn alerts are about.",
    duration("7d", "90d"),
    "30d",
  ),
  matchers: withDefault("The recordings it is about, by their labels; without any, all.", matchers, []),
  by: optional(
    "Gives each of them an error budget of its own; without, all recordings share one.",
    oneOf("location", "organisation", "camera_server"),
  ),
});
