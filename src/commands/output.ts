/** `--output`, the same at every command: for people by default, JSON for scripts. */
import { Option } from "commander";

/** The option; `text` is what people get, beside `json` and others. */
export function outputOption(text: "table" | "text", ...others: readonly string[]): Option {
  return new Option("--output <format>", "how to print it").choices([text, "json", ...others]).default(text);
}

/** An answer as scripts read it: indented, with a line's end. */
export function asJson(answer: unknown): string {
  return `${JSON.stringify(answer, null, 2)}\n`;
}
