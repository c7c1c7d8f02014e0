/** Progress on a terminal's stderr. */
import type { CommandIo } from "./command.ts";

const REDRAW_MS = 100;
const CLEAR = "\r\x1b[K";

/** A line such as `3 of 40 recordings`, without `total` `3 recordings`. Undefined where stderr is no terminal. */
export function createProgress({ stderr }: Pick<CommandIo, "stderr">, what: string, total?: number) {
  if ((stderr as Partial<NodeJS.WriteStream>).isTTY !== true) return undefined;
  let done = 0;
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    update(value: number): void {
      done = value;
      const now = performance.now();
      if (now < drawnAt + REDRAW_MS && done !== total) return;
      drawnAt = now;
      stderr.write(`${CLEAR}${total === undefined ? done : `${done} of ${total}`} ${what}`);
    },
    increment(by: number): void {
      this.update(done + by);
    },
    /** Removes the line. */
    stop: () => void stderr.write(CLEAR),
  };
}
