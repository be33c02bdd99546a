// The list: applies updates, loads further pages and restores its position.

import { fetchInTime } from "./review-sending.js";
import { chosen, isOpen, keepPlace, link, markChosen, parse, part, replaceRow, rowOf, rows, WIDE } from "./review-page.js";
import { count } from "./review-select.js";

let pages = 1;
let end = null;

const isFree = (row) => isOpen(row) && !row.matches(".is-claimed, .is-skipped");

// Returns the free comments: first those below, then those above, then skipped ones.
export function following(id) {
  const all = rows();
  const at = all.findIndex((row) => row.dataset.id === id);
  const others = [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))];
  const later = others.filter((row) => isOpen(row) && row.matches(".is-skipped:not(.is-claimed)"));
  return [...others.filter(isFree), ...later].map((row) => row.dataset.id);
}

// Applies an update without replacing the list, so that its position is kept.
export function take(page, { isKept = () => false, names = ["tabs", "done", "list", "news", "opened"] } = {}) {
  let isRelisted = false;
  for (const name of names) {
    const fresh = page.querySelector(`[data-part="${name}"]`);
    if (!fresh) continue;
    part(name).replaceChildren(...fresh.childNodes);
    if (fresh.dataset.ids !== undefined) part(name).dataset.ids = fresh.dataset.ids;
    isRelisted ||= name === "list";
  }
  for (const fresh of page.querySelectorAll(".row")) if (!isKept(fresh.dataset.id)) replaceRow(fresh);
  markChosen();
  count();
  if (!isRelisted) return;
  pages = 1;
  seeEnd();
  document.dispatchEvent(new Event("list-changed"));
}

let asking = null;

// Appends the list's next page; resolves to whether there was one.
export function more() {
  asking ??= askMore().finally(() => { asking = null; });
  return asking;
}

async function askMore() {
  const further = document.querySelector(".list .further");
  if (!further) return false;
  try {
    const answer = await fetchInTime(further.href, { headers: { "X-Parts": "list" } });
    const page = parse(await answer.text());
    const pager = page.querySelector(".pager");
    if (!pager) return false;
    for (const row of page.querySelectorAll(".row")) {
      if (rowOf(row.dataset.id)) continue;
      keepPlace(row);
      document.querySelector(".list .rows").append(row);
    }
    pager.querySelector("a:not(.further)")?.remove();
    document.querySelector(".list .pager").replaceWith(pager);
    pages += 1;
    seeEnd();
    markChosen();
    document.dispatchEvent(new Event("list-changed"));
    return true;
  } catch {
    return false;
  }
}

function seeEnd() {
  end?.disconnect();
  const root = WIDE.matches ? document.querySelector(".list") : null;
  end = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) more(); }, { root, rootMargin: "400px" });
  const pager = document.querySelector(".list .pager:has(.further)");
  if (pager) end.observe(pager);
}

const scroller = () => (WIDE.matches ? document.querySelector(".list") : document.scrollingElement);

export function remember(url) {
  window.history.replaceState({ pages, top: scroller().scrollTop }, "", url);
}

export async function comeBack() {
  const left = window.history.state;
  if (document.body.dataset.view === "one" && !WIDE.matches) return;
  while (left?.pages > pages && await more());
  if (left?.top) scroller().scrollTop = left.top;
  else chosen()?.scrollIntoView({ block: "nearest" });
  seeEnd();
}

// Reloads the list's first page; resolves to whether the server returned one.
export async function loadTop({ opens, isKept }) {
  const url = document.querySelector(".newcomers")?.href ?? document.querySelector(".tabs [aria-current]").href;
  try {
    const answer = await fetchInTime(url, { headers: opens ? {} : { "X-Parts": "list" } });
    const page = parse(await answer.text());
    if (!page.querySelector('[data-part="list"]')) {
      if (answer.redirected) window.location.assign(url);
      return false;
    }
    part("news").replaceChildren();
    part("news").dataset.ids = "";
    take(page, { isKept, names: opens ? ["tabs", "list", "opened"] : ["list"] });
  } catch {
    return false;
  }
  for (const row of rows()) keepPlace(row);
  scroller().scrollTop = 0;
  const first = chosen() ?? rows()[0];
  if (first) link(first).focus({ preventScroll: true });
  return true;
}
