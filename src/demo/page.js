// Prepends each message as it arrives; the server sends those it has when the page connects.
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
  const article = holder.content.firstElementChild;
  if (article && !document.getElementById(article.id)) list.prepend(article);
};
