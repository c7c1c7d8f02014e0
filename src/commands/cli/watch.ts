/** Prints an answer of the daemon again and again: in place on a terminal, one after another anywhere else. */
import { setTimeout as sleep } from "node:timers/promises";
import { styleText } from "node:util";
import type { Clock, Instant } from "../../lib/clock.ts";
import { stripControls } from "../../lib/text.ts";
import { span, timesSeenAt } from "../../lib/when.ts";
import type { CommandIo } from "./command.ts";
import { DaemonError } from "./daemon.ts";
import { tableTarget } from "./table.ts";

/**
 * Until `io.signal` aborts. A daemon that stops answering is waited for, with what it answered last.
 * Throws DaemonError where it never answered, and AbortError at the end.
 */
export async function watch(
  io: Pick<CommandIo, "stdout" | "env" | "signal">,
  { clock, zone }: { readonly clock: Clock; readonly zone: string },
  everyMs: number,
  read: () => Promise<string>,
): Promise<never> {
  const { width, colour } = tableTarget(io);
  const timeOf = (at: Instant) => timesSeenAt(clock.now(), zone).at(at, "UTC", true);
  let last: { readonly text: string; readonly at: Instant } | undefined;
  for (let isFirst = true; ; isFirst = false) {
    let head: string;
    let isLost = false;
    try {
      last = { text: await read(), at: clock.now() };
      head = timeOf(last.at);
    } catch (thrown) {
      if (!last || !(thrown instanceof DaemonError)) throw thrown;
      isLost = true;
      const lost = `No answer since ${timeOf(last.at)} (${span(last.at, clock.now())}): ${stripControls(thrown.message)}.`;
      head = colour ? styleText("red", lost, { validateStream: false }) : lost;
    }
    if (width !== undefined) io.stdout.write(inPlace(`${head}\n${last.text}`, io.stdout, isFirst));
    else io.stdout.write(isLost ? `${head}\n\n` : `${head}\n${last.text}\n`);
    await sleep(everyMs, undefined, { signal: io.signal });
  }
}

const HOME = "\u001b[H";
const CLEAR = "\u001b[2J";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

/** No more lines than the terminal has: it would scroll. */
function inPlace(text: string, stdout: NodeJS.WritableStream, isFirst: boolean): string {
  const most = ((stdout as Partial<NodeJS.WriteStream>).rows || 24) - 1;
  const lines = text.trimEnd().split("\n");
  const left = lines.length - most;
  const shown = left > 0 ? [...lines.slice(0, most - 1), `… ${left + 1} more lines`] : lines;
  return `${isFirst ? CLEAR : ""}${HOME}${shown.map((line) => `${line}${CLEAR_LINE}\n`).join("")}${CLEAR_BELOW}`;
}
