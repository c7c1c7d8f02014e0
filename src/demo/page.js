// Shows each message as it arrives or changes; the server sends those it has when the page connects.
const list = document.getElementById("messages");
const live = document.getElementById("live");
const source = new EventSource("/events");
source.onopen = () => {
  live.textContent = "live";
};
source.onerror = () => {
  live.textContent = "the demo has ended, or cannot be reached";
};
source.onmessage = (event) => {
  const holder = document.createElement("template");
  holder.innerHTML = JSON.parse(event.data);
  const next = holder.content.firstElementChild;
  if (next) show(next, document.getElementById(next.id));
};

function show(next, old) {
  if (!old) return list.prepend(next);
  if (old.outerHTML === next.outerHTML) return;
  const active = old.contains(document.activeElement) ? document.activeElement : undefined;
  const same = active?.name ? `[name="${active.name}"]` : `[data-action="${active?.dataset.action}"]`;
  for (const { name, value } of old.querySelectorAll("input")) {
    const field = next.querySelector(`[name="${name}"]`);
    if (field) field.value = value;
  }
  if (old.dataset.at === next.dataset.at) old.replaceWith(next);
  else {
    old.remove();
    list.prepend(next);
  }
  if (active) next.querySelector(same)?.focus();
}

async function send(asked, control) {
  control.disabled = true;
  try {
    const headers = { "content-type": "application/json" };
    const response = await fetch("/press", { method: "POST", headers, body: JSON.stringify(asked) });
    live.textContent = response.ok ? "live" : `Not live: ${await response.text()}`;
  } catch {
    live.textContent = "Not live: the demo cannot be reached";
  }
  control.disabled = false;
}

list.addEventListener("click", ({ target }) => {
  if (!target.matches("button[data-action]")) return;
  const root = target.closest("[data-ts]");
  const typed = Object.fromEntries([...root.querySelectorAll("input")].map(({ name, value }) => [name, value]));
  send({ ts: root.dataset.ts, action: target.dataset.action, typed }, target);
});
