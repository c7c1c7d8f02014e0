/**
 * Updates an open page in place: the server notifies of a change, the page is fetched again and its differences are
 * applied, so that focus, scrolling and open details stay. On errors the page shows how old its state is. Without this
 * script the page refreshes itself.
 */
(() => {
  const POLL_MS = 30_000;
  const RETRY_MS = 5_000;
  const RETRY_MOST_MS = 60_000;
  const GAP_MS = 1_000;
  const TIMEOUT_MS = 10_000;
  /** The server sends something every 4 s; a page that hears nothing asks, and waits this long for the answer. */
  const SILENCE_MS = 6_000;
  const PATIENCE_MS = 3_000;
  const LOST_TITLE = "! Not live · ";

  const main = document.querySelector("main");
  const footer = document.querySelector("footer");
  const news = document.querySelector("#news");
  const lost = document.querySelector("#lost");
  const address = document.currentScript?.dataset.events;
  if (!main?.dataset.version || !footer || !news || !lost || !address) return;

  let source;
  let timer;
  let silence;
  let patience;
  let request;
  let asked = 0;
  let wanted = false;
  let retryMs = RETRY_MS;

  function showLink() {
    const link = document.querySelector("#link");
    if (link) link.textContent = lost.hidden ? (source ? "Live." : "") : "Not live.";
  }

  /** Banner, tab and footer say the same at the same time. */
  function setLost(isLost) {
    const time = footer.querySelector("time")?.textContent ?? "";
    if (isLost && lost.hidden) {
      lost.textContent = `Not live: state of ${time}. The current state is not known.`;
      document.title = LOST_TITLE + document.title;
    } else if (!isLost && document.title.startsWith(LOST_TITLE)) {
      document.title = document.title.slice(LOST_TITLE.length);
    }
    lost.hidden = !isLost;
    document.body.classList.toggle("stale", isLost);
    showLink();
  }

  function later(ms) {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(refresh, ms);
  }

  function refresh() {
    if (request) {
      wanted = true;
      return;
    }
    const wait = asked + GAP_MS - Date.now();
    if (wait > 0) {
      later(wait);
      return;
    }
    asked = Date.now();
    wanted = false;
    request = new XMLHttpRequest();
    request.open("GET", location.href);
    request.responseType = "document";
    request.timeout = TIMEOUT_MS;
    request.onloadend = () => {
      const { status, response } = request;
      request = undefined;
      answered(status, response);
    };
    request.send();
  }

  function answered(status, page) {
    clearTimeout(patience);
    const fresh = page?.querySelector("main");
    if (status === 401) {
      location.reload();
      return;
    }
    if (!fresh || status === 0 || status >= 500) {
      setLost(true);
      later(RETRY_MS);
      return;
    }
    put(page, fresh);
    setLost(false);
    later(wanted ? GAP_MS : POLL_MS);
  }

  function put(page, fresh) {
    const active = document.activeElement;
    morph(main, fresh);
    morph(footer, page.querySelector("footer") ?? footer);
    if (active && active !== document.activeElement && active.isConnected) active.focus({ preventScroll: true });
    const icon = page.querySelector("link[rel=icon]")?.getAttribute("href");
    if (icon) document.querySelector("link[rel=icon]")?.setAttribute("href", icon);
    document.documentElement.className = page.documentElement.className;
    if (document.title !== page.title) {
      document.title = page.title;
      news.textContent = page.title;
    }
    showLink();
  }

  /** Rows and cards are identified by their links, so that none becomes another one while it is being clicked. */
  function keysOf(parent) {
    const seen = new Map();
    const keys = new Map();
    for (const child of parent.children) {
      const link = /^(?:TR|LI)$/.test(child.tagName) ? child.querySelector("a[href],form[action]") : undefined;
      const target = link?.getAttribute("href") || link?.getAttribute("action");
      const own = child.id || child.getAttribute("aria-labelledby") || target;
      if (!own) continue;
      const count = (seen.get(own) ?? 0) + 1;
      seen.set(own, count);
      keys.set(child, `${child.tagName} ${own} ${count}`);
    }
    return keys;
  }

  function morph(shown, fresh) {
    for (const { name } of [...shown.attributes]) {
      if (name !== "open" && !fresh.hasAttribute(name)) shown.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (name !== "open" && shown.getAttribute(name) !== value) shown.setAttribute(name, value);
    }
    const had = keysOf(shown);
    const byKey = new Map([...had].map(([child, key]) => [key, child]));
    const keys = keysOf(fresh);
    let at = shown.firstChild;
    for (const child of [...fresh.childNodes]) {
      const key = keys.get(child);
      const match = key ? byKey.get(key) : alike(at, child) && !had.has(at) ? at : undefined;
      if (!match) {
        shown.insertBefore(document.adoptNode(child), at);
        continue;
      }
      if (match === at) at = at.nextSibling;
      else shown.insertBefore(match, at);
      if (match.nodeType !== Node.ELEMENT_NODE) {
        if (match.data !== child.data) match.data = child.data;
      } else if (match.tagName !== "INPUT") morph(match, child);
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  function alike(a, b) {
    return a?.nodeType === b.nodeType && a.nodeName === b.nodeName;
  }

  function connect() {
    if (source || document.hidden) return;
    source = new EventSource(address);
    source.addEventListener("open", () => {
      retryMs = RETRY_MS;
      listen();
      showLink();
    });
    source.addEventListener("state", ({ data }) => {
      listen();
      if (data !== main.dataset.version) refresh();
    });
    source.addEventListener("beat", listen);
    source.addEventListener("error", broken);
  }

  /** A connection may be dead and not known to be. */
  function listen() {
    clearTimeout(silence);
    silence = setTimeout(broken, SILENCE_MS);
  }

  function broken() {
    disconnect();
    clearTimeout(patience);
    patience = setTimeout(() => setLost(true), PATIENCE_MS);
    refresh();
    setTimeout(connect, retryMs);
    retryMs = Math.min(RETRY_MOST_MS, 2 * retryMs);
  }

  function disconnect() {
    clearTimeout(silence);
    source?.close();
    source = undefined;
    showLink();
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      disconnect();
      clearTimeout(timer);
    } else {
      connect();
      refresh();
    }
  });
  /** The name of a tile is shown to its left where there is no room to its right. */
  main.addEventListener("pointerover", ({ target }) => {
    const tile = target.closest?.(".map a");
    tile?.classList.toggle("end", tile.parentElement && tile.offsetLeft > document.body.clientWidth - 260);
  });
  addEventListener("online", refresh);
  addEventListener("offline", () => setLost(true));
  connect();
  later(POLL_MS);
  /** Pages show times in this zone. */
  const zone = `timezone=${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
  if (!document.cookie.split("; ").includes(zone)) {
    // biome-ignore lint/suspicious/noDocumentCookie: no other way is known to Safari.
    document.cookie = `${zone}; path=/; max-age=31536000; samesite=lax`;
    refresh();
  }
})();
