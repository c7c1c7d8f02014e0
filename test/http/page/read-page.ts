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
