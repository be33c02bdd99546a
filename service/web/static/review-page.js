// Helpers for all scripts of the review page: parts, rows, texts.
export { parse } from "./parts.js";

export const WIDE = window.matchMedia("(min-width: 860px)");
const LITTLE_HEIGHT = window.matchMedia("(max-width: 859px) and (max-height: 400px)");
const spoken = document.getElementById("spoken");
const sayings = document.getElementById("sayings").content;

export const part = (name) => document.querySelector(`[data-part="${CSS.escape(name)}"]`);
export const rows = () => [...document.querySelectorAll(".list .row")];
export const rowOf = (id) => document.querySelector(`.list [data-part="${CSS.escape(`row-${id}`)}"]`);
export const link = (row) => row.querySelector("a");
export const chosen = () => document.querySelector(".list .row:has(a[aria-current])");
export const isOpen = (row) => !row.matches(".is-decided, .is-withdrawn");
export const saying = (name) => sayings.querySelector(`[data-say="${name}"]`).textContent;

export function say(words) {
  spoken.textContent = "";
  requestAnimationFrame(() => { spoken.textContent = words; });
}

// On a low screen, scrolls past the bars to the comment.
export function toTheComment() {
  if (LITTLE_HEIGHT.matches) document.querySelector("#opened .scroll")?.scrollIntoView();
  else window.scrollTo(0, 0);
}

export function paragraph(words, className = "") {
  const told = document.createElement("p");
  told.textContent = words;
  told.className = className;
  return told;
}

export const tell = (words) => part("done").replaceChildren(paragraph(words));

export function markChosen() {
  const id = document.querySelector("#opened [data-opened]")?.dataset.opened;
  for (const current of document.querySelectorAll(".list .row a[aria-current]")) {
    if (current.closest(".row").dataset.id !== id) current.removeAttribute("aria-current");
  }
  const row = id && rowOf(id);
  if (row) link(row).setAttribute("aria-current", "true");
}

// Adapts a row that was rendered for another page of the list.
export function keepPlace(row) {
  const [url, here] = [new URL(link(row).href), new URL(window.location.href)];
  const cursor = here.searchParams.get("cursor");
  if (cursor) url.searchParams.set("cursor", cursor);
  else url.searchParams.delete("cursor");
  link(row).href = url.href;
}

export function replaceRow(fresh) {
  const old = rowOf(fresh.dataset.id);
  if (!old || old === fresh) return;
  // Keep the focus and the tick.
  const had = document.activeElement;
  const where = old.contains(had) ? [...old.querySelectorAll("a, input")].indexOf(had) : -1;
  const [ticked, now] = [old.querySelector(".tick"), fresh.querySelector(".tick")];
  if (ticked && now) now.checked = ticked.checked;
  if (link(old).hasAttribute("aria-current")) link(fresh).setAttribute("aria-current", "true");
  keepPlace(fresh);
  old.replaceWith(fresh);
  if (where >= 0) fresh.querySelectorAll("a, input")[where]?.focus({ preventScroll: true });
}
