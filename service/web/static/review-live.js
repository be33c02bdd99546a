// Keeps an open page up to date by polling counts, claims and new comments.

import { fetchInTime } from "./review-sending.js";

const ASK_EVERY_MS = 15_000;
const MOST_ROWS = 200;

export function listen({ take, parse, part, rows }) {
  let asking = 0;
  let known = "";

  const since = () => document.querySelector("[data-since]")?.dataset.since ?? "";
  const shown = () => rows().slice(0, MOST_ROWS).map((row) => row.dataset.id);

  function seen() {
    const here = new Set(rows().map((row) => row.dataset.id));
    return part("news").dataset.ids.split(",").filter((id) => here.has(id));
  }

  function address(base, values) {
    const url = new URL(base, window.location.href);
    for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
    return url;
  }

  async function refresh() {
    const answer = await fetchInTime(address(document.body.dataset.rows, { id: shown().join(","), seen: seen().join(","), since: since() }));
    if (answer.ok && !answer.redirected) take(parse(await answer.text()));
    return answer.ok;
  }

  async function ask() {
    try {
      const answer = await fetchInTime(address(document.body.dataset.counts, { id: shown().join(","), since: since() }), {
        headers: known ? { "If-None-Match": known } : {},
      });
      if (answer.redirected) stop();
      else if (answer.status === 200 && await refresh()) known = answer.headers.get("ETag") ?? "";
    } catch {
      // The next poll retries.
    }
  }

  function stop() { window.clearInterval(asking); }

  function start() {
    stop();
    asking = window.setInterval(ask, ASK_EVERY_MS);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") stop();
    else { ask(); start(); }
  });
  if (document.visibilityState === "visible") start();
}
