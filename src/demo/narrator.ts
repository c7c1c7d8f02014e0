/** Describes the true changes of the simulated world, to compare with alerts; equal changes become one line. */
export interface NarratedChange {
  /** A location, or the service. */
  readonly of: string;
  /** A recording of the location, or a fault of the service. */
  readonly name: string;
  /** `offline`, `online`, `at 40 % quality` … */
  readonly became: string;
  /** The number of recordings of the location. */
  readonly size?: number;
}

/** Takes changes, and hands complete sentences to `onSentence` at the end of the turn in which they became true. */
export function createNarrator(onSentence: (sentence: string) => void): (change: NarratedChange) => void {
  let changes: NarratedChange[] = [];
  return (change) => {
    if (changes.push(change) > 1) return;
    setImmediate(() => {
      const groups = Map.groupBy(changes, ({ of, became }) => `${of}\n${became}`);
      changes = [];
      groups.values().map(sentenceOf).forEach(onSentence);
    });
  };
}

function sentenceOf(group: readonly NarratedChange[]): string {
  const { of = "", size = 0, became } = group[0] ?? {};
  const names = new Set(group.map(({ name }) => (name.startsWith(`${of} `) ? name.slice(of.length + 1) : name)));
  const who = size > 1 && names.size === size ? `all ${size} cameras` : [...names].join(", ");
  return `${of}: ${who} ${names.size > 1 ? "are" : "is"} ${became}`;
}
