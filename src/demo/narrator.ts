/** Describes the true changes of the simulated world, to compare with alerts; equal changes become one line. */
export interface NarratedChange {
  readonly location: string;
  /** How many recordings the location has. */
  readonly of: number;
  readonly recording: string;
  /** `offline`, `online`, `quality 40 %` … */
  readonly became: string;
}

export interface Narrator {
  changed(change: NarratedChange): void;
  fault(name: string, type: "set" | "cleared"): void;
}

/** Hands complete sentences to `onSentence`, at the end of the turn in which they became true. */
export function createNarrator(onSentence: (sentence: string) => void): Narrator {
  let changes: NarratedChange[] = [];
  let faults: { name: string; type: "set" | "cleared" }[] = [];
  let scheduled = false;
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      const sentences = [...sentencesOf(changes), ...faultSentences(faults)];
      changes = [];
      faults = [];
      for (const sentence of sentences) onSentence(sentence);
    });
  };
  return {
    changed(change) {
      changes.push(change);
      schedule();
    },
    fault(name, type) {
      faults.push({ name, type });
      schedule();
    },
  };
}

function sentencesOf(changes: readonly NarratedChange[]): string[] {
  const groups = Map.groupBy(changes, ({ location, became }) => `${location}\n${became}`);
  return [...groups.values()].map((group) => {
    const [{ location, of, became } = { location: "", of: 0, became: "" }] = group;
    const names = [...new Set(group.map(({ recording }) => nameWithin(location, recording)))];
    const who = of > 1 && names.length === of ? `all ${of} cameras` : names.join(", ");
    return `${location}: ${who} ${names.length > 1 ? "are" : "is"} ${became}`;
  });
}

function faultSentences(faults: readonly { name: string; type: "set" | "cleared" }[]): string[] {
  return (["set", "cleared"] as const).flatMap((type) => {
    const names = faults.filter((fault) => fault.type === type).map(({ name }) => name.replaceAll("_", " "));
    if (names.length === 0) return [];
    return [`the service ${type === "set" ? "fails" : "works again"} (${names.join(", ")})`];
  });
}

/** The name of a recording without that of its location in front. */
function nameWithin(location: string, recording: string): string {
  return recording.startsWith(`${location} `) ? recording.slice(location.length + 1) : recording;
}
