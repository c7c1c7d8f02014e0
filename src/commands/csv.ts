/** CSV that a spreadsheet can open without being made to do something (OWASP: CSV injection). */

/** Lines end in `\n`; every line has as many cells as the head. */
export function renderCsv(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** A cell that begins like a formula gets an apostrophe, which spreadsheets take for "this is text". */
function cell(text: string): string {
  const tame = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(tame) ? `"${tame.replaceAll('"', '""')}"` : tame;
}
