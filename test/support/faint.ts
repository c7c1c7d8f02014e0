/** Runs in a browser: finds text with a contrast below 4.5 to its background, by WCAG's formula. */
export const FAINT = `
const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = numbers(getComputedStyle(at).backgroundColor);
    if (colour[3] !== 0) return colour;
  }
  return [255, 255, 255];
};
const faint = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode.data.trim();
  const element = walker.currentNode.parentElement;
  // The coloured squares repeat the words beside them.
  if (text === "" || text === "\\u25a0" || element.getClientRects().length === 0) continue;
  const [a, b] = [luminance(numbers(getComputedStyle(element).color)), luminance(behind(element))].sort((x, y) => y - x);
  const contrast = (a + 0.05) / (b + 0.05);
  if (contrast < 4.5) faint.push(text + " " + contrast.toFixed(2));
}
faint`;
