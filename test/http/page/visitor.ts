/** Somebody with a browser: keeps the cookie, sends forms as a page of ours would. */

export interface Visit {
  get(path: string): Promise<{ readonly status: number; readonly html: string }>;
  /** Sends a form; the hidden fields of the page at `from` go along. A redirect is not followed. */
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    options?: { readonly from?: string; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Response>;
  /** The cookie as it would be sent. */
  readonly cookie: string;
}

const OURS = { "sec-fetch-site": "same-origin" };

export function visit(address: string): Visit {
  let cookie = "";
  const visitor: Visit = {
    get cookie() {
      return cookie;
    },
    async get(path) {
      const response = await fetch(address + path, { headers: { cookie } });
      return { status: response.status, html: await response.text() };
    },
    async post(path, fields, { from, headers = OURS } = {}) {
      const hidden = from === undefined ? {} : { form: formToken((await visitor.get(from)).html) };
      const response = await fetch(address + path, {
        method: "POST",
        redirect: "manual",
        headers: { cookie, ...headers },
        body: new URLSearchParams({ ...hidden, ...fields }),
      });
      const [set] = response.headers.getSetCookie();
      if (set !== undefined) cookie = set.split(";")[0] ?? "";
      return response;
    },
  };
  return visitor;
}

/** Signs in; throws where that is refused. */
export async function signedIn(address: string, token: string, name = "dana"): Promise<Visit> {
  const visitor = visit(address);
  const response = await visitor.post("/session", { name, token });
  if (response.status !== 303) throw new Error(`not signed in: ${response.status}`);
  return visitor;
}

/** What the forms of a page bring along; empty where it has none. */
export function formToken(html: string): string {
  return /name="form" value="([^"]*)"/.exec(html)?.[1] ?? "";
}
