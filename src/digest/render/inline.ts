/** Puts the style sheet into the elements, where mail clients read it. In a file of its own: juice is large. */
import juice from "juice";

/** What of the HTML is no style stays as it was written, character for character. */
export function inlineStyles(html: string, css: string): string {
  return juice.inlineContent(html, css, { applyStyleTags: false, removeStyleTags: false });
}
