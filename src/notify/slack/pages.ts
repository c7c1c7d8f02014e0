/** The pages of an answer of Slack's Web API, which each name the next one. */
import type { SlackApi } from "./web-api.ts";

const PAGE = 200;
/** The number of pages read: so many posts of others may lie between ours. */
const MOST_PAGES = 10;

export type Page = {
  readonly messages?: readonly unknown[];
  readonly channels?: readonly unknown[];
  readonly members?: readonly unknown[];
  readonly response_metadata?: { readonly next_cursor?: string };
};

export async function* pages(
  api: SlackApi,
  signal: AbortSignal,
  method: string,
  args: object,
  { limit = PAGE, most = MOST_PAGES } = {},
): AsyncGenerator<Page, void, void> {
  let cursor: string | undefined = "";
  for (let read = 0; cursor !== undefined && read < most; read++) {
    const asked = { ...args, limit, ...(cursor && { cursor }) };
    const page: Page = await api.call(signal, method, asked);
    yield page;
    cursor = page.response_metadata?.next_cursor || undefined;
  }
}

/** All of them, ten at most. */
export async function allPages(api: SlackApi, signal: AbortSignal, method: string, args: object): Promise<Page[]> {
  return Array.fromAsync(pages(api, signal, method, args));
}
