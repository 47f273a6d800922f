// Keeps a page as it is at the server: a stream says that something has changed, the page is fetched again, and its parts
// that are marked `data-live` take the place of those that are shown. Without this script, reloading does the same.
"use strict";

(() => {
  const stream = document.querySelector("[data-stream]");
  const liveness = document.getElementById("liveness");
  if (!stream || !window.EventSource) return;

  const parts = (of) => of.querySelectorAll("[data-live]");
  const keyed = (part, what) => part.querySelectorAll(`${what}[data-key]`);

  const say = (state, text) => {
    liveness.hidden = false;
    liveness.className = `liveness ${state}`;
    liveness.textContent = text;
  };

  // What the reader has opened, and where the focus is, stays.
  const replace = (part, fresh) => {
    const opened = new Set();
    for (const one of keyed(part, "details[open]")) opened.add(one.dataset.key);
    const rows = new Map();
    for (const row of keyed(part, "tr")) rows.set(row.dataset.key, row.textContent);
    for (const details of keyed(fresh, "details")) details.open = opened.has(details.dataset.key);
    // Nothing is torn from under the pointer or a form that is being filled.
    if (fresh.isEqualNode(part)) return;
    const focus = part.contains(document.activeElement) ? document.activeElement : null;
    const at = focus && focus.closest("[data-key]");
    for (const row of keyed(fresh, "tr")) {
      if (!rows.has(row.dataset.key)) row.classList.add("is-new");
      else if (rows.get(row.dataset.key) !== row.textContent) row.classList.add("is-changed");
    }
    part.replaceChildren(...fresh.childNodes);
    if (!at) return;
    for (const one of part.querySelectorAll("[data-key]")) {
      if (one.dataset.key !== at.dataset.key || one.tagName !== at.tagName) continue;
      const same = [...one.querySelectorAll("a, summary, button, input")];
      const before = [...at.querySelectorAll("a, summary, button, input")].indexOf(focus);
      (same[before] || one).focus({ preventScroll: true });
      return;
    }
  };

  let isFetching = false;
  let isLate = false;
  const refresh = async () => {
    if (isFetching) {
      isLate = true;
      return;
    }
    isFetching = true;
    try {
      const reply = await fetch(location.pathname + location.search);
      const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
      for (const part of parts(document)) {
        const other = fresh.getElementById(part.id);
        if (other) replace(part, other);
      }
      say("is-live", "Live");
      document.documentElement.dataset.refreshed = Number(document.documentElement.dataset.refreshed || 0) + 1;
    } catch {
      say("is-away", "The server does not answer");
    } finally {
      isFetching = false;
      if (isLate) {
        isLate = false;
        refresh();
      }
    }
  };

  const listen = () => {
    const source = new EventSource(stream.dataset.stream);
    source.addEventListener("changed", refresh);
    source.addEventListener("error", () => {
      say("is-away", "Not live: what is shown may be old");
      // It tries again by itself, unless the server has refused.
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, 5000);
    });
    addEventListener("pagehide", () => source.close(), { once: true });
  };
  say("is-away", "Connecting");
  listen();
})();
