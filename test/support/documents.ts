/** The project's pages as tests read them: sections, tables, code blocks and links. */
import { readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

export interface Page {
  /** From the root of the project. */
  readonly path: string;
  readonly text: string;
  /** Title → text below the heading, down to the next heading. Headings in code blocks do not count. */
  readonly sections: ReadonlyMap<string, string>;
  /** Targets of its links, as written. */
  readonly targets: readonly string[];
}

/** Throws where two headings of a page are the same: a link could mean either. */
export function readPage(path: string): Page {
  const text = readFileSync(new URL(path, root), "utf8");
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return { path, text, sections: sectionsOf(path, text), targets };
}

function sectionsOf(path: string, text: string): Map<string, string> {
  const sections = new Map([["", ""]]);
  let title = "";
  let inCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) inCode = !inCode;
    const heading = inCode ? undefined : /^#{1,6} (.+)$/.exec(line)?.[1];
    if (heading === undefined) {
      sections.set(title, `${sections.get(title)}${line}\n`);
      continue;
    }
    if (sections.has(heading)) throw new Error(`${path} has two headings "${heading}"`);
    title = heading;
    sections.set(title, "");
  }
  return sections;
}

/** The rows of a section's tables, heads left out, each cell without its code marks. */
export function table({ sections }: Page, title: string): string[][] {
  const lines = (sections.get(title) ?? "").split("\n").filter((line) => line.startsWith("|"));
  return lines
    .filter((line, i) => !/^\| ---/.test(line) && !/^\| ---/.test(lines[i + 1] ?? ""))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim().replaceAll("`", "")),
    );
}

/** The first cell of each row of a section's tables. */
export function firstCells(page: Page, title: string): string[] {
  return table(page, title).map(([first = ""]) => first);
}

/** Its code blocks in that language. */
export function blocks({ text }: Page, language: string): string[] {
  const found = text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...found].flatMap(([, of, block = ""]) => (of === language ? [block] : []));
}

/** The anchor of a heading as GitHub and GitLab make it: lower case, hyphens for spaces, no punctuation. */
export function anchorOf(title: string): string {
  return `#${title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-")}`;
}
