import { html } from "../../lib/markup.ts";

/** Attributes of a table that is there for the layout alone. */
export const TABLE = html` role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"`;
