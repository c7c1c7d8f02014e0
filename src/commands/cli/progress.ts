/** Progress on a terminal's stderr. */
import { SingleBar } from "cli-progress";
import type { CommandIo } from "./command.ts";

/** Undefined where stderr is no terminal. It disappears once it is stopped. */
export function createBar({ stderr }: Pick<CommandIo, "stderr">, format: string, total = 1): SingleBar | undefined {
  if ((stderr as Partial<NodeJS.WriteStream>).isTTY !== true) return undefined;
  const bar = new SingleBar({ stream: stderr, format, clearOnComplete: true });
  bar.start(total, 0);
  return bar;
}
