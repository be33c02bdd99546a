// Keeps an open page up to date: numbers, rows that others decide or look at, news of what came in.

import { fetchInTime } from "./review-sending.js";

// Whoever only passes through needs no stream.
const START_AFTER_MS = 400;
const ASK_EVERY_MS = 20_000;
const GATHER_MS = 150;
const MOST_ROWS = 200;

export function listen({ take, parse, part, rows, isOpen }) {
  const tab = window.sessionStorage.getItem("page") ?? crypto.getRandomValues(new Uint32Array(3)).join("-");
  window.sessionStorage.setItem("page", tab);
  let source = null;
  let asking = 0;
  let gathering = 0;
  const gathered = new Set();

  const since = () => document.querySelector("[data-since]")?.dataset.since ?? "";
  const shown = () => rows().filter(isOpen).slice(0, MOST_ROWS).map((row) => row.dataset.id);

  function seen() {
    const here = new Set(rows().map((row) => row.dataset.id));
    return part("news").dataset.ids.split(",").filter((id) => here.has(id));
  }

  function address(base, values) {
    const url = new URL(base, window.location.href);
    for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
    return url;
  }

  async function refresh(ids) {
    const url = address(document.body.dataset.rows, { id: ids.join(","), seen: seen().join(","), since: since() });
    try {
      const answer = await fetchInTime(url);
      if (answer.redirected) { stop(); return; }
      if (answer.ok) take(parse(await answer.text()));
    } catch {
      // The next event, or the next turn, asks anew.
    }
  }

  function gather(ids) {
    for (const id of ids) gathered.add(id);
    window.clearTimeout(gathering);
    gathering = window.setTimeout(() => {
      refresh([...gathered].slice(0, MOST_ROWS));
      gathered.clear();
    }, GATHER_MS);
  }

  function stop() {
    source?.close();
    source = null;
    window.clearInterval(asking);
  }

  function askNowAndThen() {
    stop();
    asking = window.setInterval(() => {
      if (document.visibilityState === "visible") refresh(shown());
    }, ASK_EVERY_MS);
  }

  function start() {
    stop();
    if (document.visibilityState !== "visible") return;
    const waiting = document.querySelector("[data-waiting]")?.dataset.waiting ?? "";
    source = new EventSource(address(document.body.dataset.live, {
      page: tab, id: shown().join(","), waiting, since: since(),
    }));
    source.addEventListener("changed", (event) => gather(JSON.parse(event.data).rows));
    source.addEventListener("open", () => { document.documentElement.dataset.live = "1"; });
    source.addEventListener("error", () => {
      delete document.documentElement.dataset.live;
      // Closed for good: there are too many streams, or nobody is signed in any more.
      if (source?.readyState === EventSource.CLOSED) askNowAndThen();
    });
  }

  document.addEventListener("list-changed", start);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") stop();
    else { refresh(shown()); start(); }
  });
  window.setTimeout(start, START_AFTER_MS);
}
