/** `--output`, the same at every command: for people by default, JSON for scripts. */
import { Option } from "commander";
import { visibleJson } from "../../lib/text.ts";

/** The option; `text` is what people get, beside `json` and others. */
export function outputOption(text: "table" | "text", ...others: readonly string[]): Option {
  return new Option("--output <format>", "how to print it").choices([text, "json", ...others]).default(text);
}

/** An answer as scripts read it: indented, with a line's end; safe on a terminal whatever the names in it are. */
export function asJson(answer: unknown): string {
  return `${visibleJson(JSON.stringify(answer, null, 2))}\n`;
}
