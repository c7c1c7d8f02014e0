/** Reading a page as its reader does: the words without the markup. */

/** What is shown of a document's body, a line per block, spaces joined; the style sheet is not. */
export function shownText(document: string): string[] {
  const body = document.slice(document.indexOf("<body"));
  return body
    .replace(/\s+/g, " ")
    .replace(
      /<(?:\/?(?:p|h1|h2|h3|li|ol|summary|details|fieldset|legend|tr|dt|dd|dl|ul|nav|main|header|footer|section|div|table|form|label))\b[^>]*>/g,
      "\n",
    )
    .replace(/<(?:td|th)\b[^>]*>/g, " | ")
    .replace(/<[^>]*>/g, "")
    .split("\n")
    .map((line) =>
      unescaped(line)
        .replace(/\s+/g, " ")
        .replace(/^ ?\| /, "")
        .trim(),
    )
    .filter((line) => line !== "");
}

/** The same as one text, with where its links, buttons and forms lead and what is in its fields. */
export function linesOf(document: string): string {
  const body = document
    .replace(/<svg\b.*?<\/svg>/gs, "")
    .replace(/<a\b[^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs, "$2 ‹$1›")
    .replace(/<form\b[^>]*?action="([^"]*)"/g, "\n‹form $1›$&")
    .replace(/<button\b([^>]*)>(.*?)<\/button>/gs, (_, of: string, words: string) => {
      const [, to = ""] = /formaction="([^"]*)"/.exec(of) ?? [];
      return ` [${words}${to && ` ‹${to}›`}]`;
    })
    .replace(/<input\b([^>]*)>/g, (_, of: string) => {
      const [name = "", value = ""] = ["name", "value"].map((key) => new RegExp(` ${key}="([^"]*)"`).exec(of)?.[1]);
      return ` {${name}${name === "form" || value === "" ? "" : `=${value}`}}`;
    })
    .replace(/(live|style)-[0-9a-f]{16}/g, "$1");
  return `${shownText(body).join("\n")}\n`;
}

/** Where the links lead whose words these are. */
export function linksOf(document: string): Map<string, string> {
  const links = document.matchAll(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs);
  return new Map(
    [...links].map(([, href = "", words = ""]) => [unescaped(words.replace(/<[^>]*>/g, "")).trim(), unescaped(href)]),
  );
}

/** The text of the first such element. */
export function elementOf(document: string, name: string): string {
  const found = new RegExp(`<${name}\\b[^>]*>(.*?)</${name}>`, "s").exec(document);
  return unescaped((found?.[1] ?? "").replace(/<[^>]*>/g, "")).trim();
}

function unescaped(text: string): string {
  const characters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return text.replace(/&([a-z]+|#39);/g, (entity, name: string) => characters[name] ?? entity);
}
