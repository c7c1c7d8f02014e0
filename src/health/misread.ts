/** Parts of an answer that are not understood, in a sentence. */
import { counted } from "../lib/format.ts";
import { cut } from "../lib/text.ts";
import type { StatusSnapshot } from "./recording.ts";
import { isGood } from "./shard-state.ts";

const MOST_WORDS = 3;
const WORD_CHARACTERS = 40;

/** Undefined where every row is understood. */
export function misreadIn({ readings, unreadable, unidentified }: StatusSnapshot): string | undefined {
  const odd = readings.filter((reading) => !isGood(reading));
  const words = [...Map.groupBy(odd, ({ said = "unknown" }) => said)].sort(([, a], [, b]) => b.length - a.length);
  const others = words.slice(MOST_WORDS).length;
  const parts = [
    ...words
      .slice(0, MOST_WORDS)
      .map(([word, some]) => `answers ${quoted(word)} for ${counted(some.length, "recording")}`),
    ...(others > 0 ? [`and ${counted(others, "other status", "other statuses")}`] : []),
    ...(unreadable.length > 0 ? [`sends ${counted(unreadable.length, "row")} that cannot be read`] : []),
    ...(unidentified > 0 ? [`sends ${counted(unidentified, "row")} without the id of a recording`] : []),
  ];
  return parts.length > 0 ? `The service ${parts.join(", ")}` : undefined;
}

/** The same where no row is understood: the answer says nothing. */
export function nothingReadIn(snapshot: StatusSnapshot): string | undefined {
  return snapshot.readings.some(isGood) ? undefined : misreadIn(snapshot);
}

/** Without line breaks and control characters. */
function quoted(word: string): string {
  return JSON.stringify(cut(word, WORD_CHARACTERS).toWellFormed());
}
