/** Describes the true changes of the simulated world, to compare with alerts; equal changes become one line. */
export interface NarratedChange {
  readonly location: string;
  /** How many recordings the location has. */
  readonly of: number;
  readonly recording: string;
  /** `offline`, `online`, `quality 40 %` … */
  readonly became: string;
}

type NarratedFault = { readonly name: string; readonly type: "set" | "cleared" };

/** Hands complete sentences to `onSentence`, at the end of the turn in which they became true. */
export function createNarrator(onSentence: (sentence: string) => void) {
  let changes: NarratedChange[] = [];
  let faults: NarratedFault[] = [];
  const narrateSoon = () => {
    if (changes.length + faults.length > 1) return;
    setImmediate(() => {
      const sentences = [...sentencesOf(changes), ...faultSentences(faults)];
      changes = [];
      faults = [];
      sentences.forEach(onSentence);
    });
  };
  return {
    changed(change: NarratedChange): void {
      changes.push(change);
      narrateSoon();
    },
    fault(fault: NarratedFault): void {
      faults.push(fault);
      narrateSoon();
    },
  };
}

function sentencesOf(changes: readonly NarratedChange[]): string[] {
  const groups = Map.groupBy(changes, ({ location, became }) => `${location}\n${became}`);
  return [...groups.values()].map((group) => {
    const [{ location, of, became } = { location: "", of: 0, became: "" }] = group;
    const withoutLocation = (name: string) =>
      name.startsWith(`${location} `) ? name.slice(location.length + 1) : name;
    const names = [...new Set(group.map(({ recording }) => withoutLocation(recording)))];
    const who = of > 1 && names.length === of ? `all ${of} cameras` : names.join(", ");
    return `${location}: ${who} ${names.length > 1 ? "are" : "is"} ${became}`;
  });
}

function faultSentences(faults: readonly NarratedFault[]): string[] {
  return (["set", "cleared"] as const).flatMap((type) => {
    const names = faults.filter((fault) => fault.type === type).map(({ name }) => name.replaceAll("_", " "));
    if (names.length === 0) return [];
    return [`the service ${type === "set" ? "fails" : "works again"} (${names.join(", ")})`];
  });
}
