// Lets a moderator go through the list by keys; every form works without this file too.
import { listen } from "./review-live.js";
import { watchSwipes } from "./review-touch.js";

const WIDE = window.matchMedia("(min-width: 860px)");
const spoken = document.getElementById("spoken");
const help = document.querySelector("dialog.help");
const sayings = document.getElementById("sayings").content;
// The one place where text becomes elements: a page of our own, parsed into a document that runs nothing.
const policy = window.trustedTypes?.createPolicy("slopsieve", { createHTML: (html) => html });
const undoable = [];
let busy = false;
let pages = 1;
let lastTicked = null;

const part = (name) => document.querySelector(`[data-part="${CSS.escape(name)}"]`);
const rows = () => [...document.querySelectorAll(".list .row")];
const link = (row) => row.querySelector("a");
const chosen = () => rows().find((row) => link(row).hasAttribute("aria-current"));
const isOpen = (row) => !row.matches(".is-decided, .is-withdrawn");
const isFree = (row) => isOpen(row) && !row.matches(".is-claimed, .is-skipped");
const ticks = () => [...document.querySelectorAll(".list .tick")];
const saying = (name) => sayings.querySelector(`[data-say="${name}"]`).textContent;
const parse = (html) => new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");

function say(words) {
  spoken.textContent = "";
  requestAnimationFrame(() => { spoken.textContent = words; });
}

function tell(words) {
  const told = document.createElement("p");
  told.textContent = words;
  part("done").replaceChildren(told);
}

function replaceRow(fresh) {
  const old = document.querySelector(`.list [data-part="${CSS.escape(fresh.dataset.part)}"]`);
  if (!old || old === fresh) return Boolean(old);
  // It stays as it was under the hand and under the eye.
  const had = document.activeElement;
  const where = old.contains(had) ? [...old.querySelectorAll("a, input")].indexOf(had) : -1;
  const [ticked, now] = [old.querySelector(".tick"), fresh.querySelector(".tick")];
  if (ticked && now) now.checked = ticked.checked;
  if (link(old).hasAttribute("aria-current")) link(fresh).setAttribute("aria-current", "true");
  keepPlace(fresh);
  old.replaceWith(fresh);
  if (where >= 0) fresh.querySelectorAll("a, input")[where]?.focus({ preventScroll: true });
  return true;
}

// A row that was drawn for another page of the list belongs to this one now.
function keepPlace(row) {
  const [url, here] = [new URL(link(row).href), new URL(window.location.href)];
  const cursor = here.searchParams.get("cursor");
  if (cursor) url.searchParams.set("cursor", cursor);
  else url.searchParams.delete("cursor");
  link(row).href = url.href;
}

// Takes over what changed; the list itself stays, so that nobody loses their place in it.
function take(page) {
  let isRelisted = false;
  for (const name of ["tabs", "done", "list", "news", "opened"]) {
    const fresh = page.querySelector(`[data-part="${name}"]`);
    if (!fresh) continue;
    part(name).replaceChildren(...fresh.childNodes);
    if (fresh.dataset.ids !== undefined) part(name).dataset.ids = fresh.dataset.ids;
    isRelisted ||= name === "list";
    if (name === "opened") claimAnew();
  }
  for (const fresh of page.querySelectorAll(".row")) {
    if (!replaceRow(fresh) && page.querySelector('[data-part="opened"]')) {
      document.querySelector(".list .rows")?.prepend(fresh);
    }
  }
  markChosen();
  count();
  if (!isRelisted) return;
  pages = 1;
  seeEnd();
  document.dispatchEvent(new Event("list-changed"));
}

function markChosen() {
  const id = document.querySelector("#opened [data-opened]")?.dataset.opened;
  for (const row of rows()) {
    if (row.dataset.id === id) link(row).setAttribute("aria-current", "true");
    else link(row).removeAttribute("aria-current");
  }
}

async function ask(url, options = {}) {
  if (busy) return null;
  busy = true;
  try {
    const answer = await fetch(url, { ...options, headers: { "X-Parts": "1" } });
    const page = parse(await answer.text());
    if (!page.querySelector('[data-part="opened"]')) {
      // Signed out, erased or refused: the whole page says it better than a part could.
      if (answer.redirected || answer.ok) window.location.assign(answer.url);
      else tell(saying("refused"));
      return null;
    }
    take(page);
    chosen()?.scrollIntoView({ block: "nearest" });
    if (!options.staysHere && (answer.redirected || !options.method)) remember(answer.url);
    return answer;
  } catch {
    tell(saying("no-answer"));
    return null;
  } finally {
    busy = false;
  }
}

async function open(row) {
  if (!row || row === chosen()) return;
  if (!WIDE.matches) { link(row).click(); return; }
  if (await ask(link(row).href)) {
    const now = chosen();
    if (now) link(now).focus({ preventScroll: true });
    say(saying("place").replace("{at}", rows().indexOf(now) + 1).replace("{all}", rows().length));
  }
}

async function move(step) {
  const all = rows();
  const at = all.indexOf(chosen());
  const next = at < 0 ? 0 : at + step;
  if (next >= all.length && !await more()) document.querySelector(".further")?.focus();
  else open(rows()[Math.max(next, 0)]);
}

// The next one that nobody decided or looks at: further down, else further up, else one put off.
function following(id) {
  const all = rows();
  const at = all.findIndex((row) => row.dataset.id === id);
  const others = [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))];
  const next = others.find(isFree) ?? others.find((row) => isOpen(row) && !row.matches(".is-claimed"));
  return next?.dataset.id ?? "";
}

async function send(form, button) {
  const data = new FormData(form, button);
  const rules = form.classList.contains("rule");
  const skips = button?.hasAttribute("formaction");
  if (rules) data.set("then", following(form.dataset.id));
  const url = skips ? button.getAttribute("formaction") : form.getAttribute("action");
  const left = chosen();
  if (!await ask(url, { method: "POST", body: new URLSearchParams(data), staysHere: !WIDE.matches })) return;
  const undo = part("done").querySelector("form.undo");
  if (skips) putLast(form.dataset.id, left);
  else if (rules && undo) undoable.push(undo.cloneNode(true));
  else if (!rules) undoable.splice(0, undoable.length, ...undoable.filter((f) => f.dataset.id !== form.dataset.id));
  const now = chosen();
  if (now) link(now).focus({ preventScroll: true });
}

function putLast(id, left) {
  const row = rows().find((one) => one.dataset.id === id) ?? left;
  if (!row) return;
  row.classList.add("is-skipped");
  row.closest(".rows")?.append(row);
}

function undoLast() {
  const last = undoable.pop() ?? document.querySelector(".done form.undo, #opened form.undo");
  if (last) send(last);
}

function press(selector) {
  const button = document.querySelector(`#opened form.rule ${selector}`);
  if (!button) say(saying("nothing"));
  else if (WIDE.matches) send(button.form, button);
  else button.click();
}

const rule = (ruling) => press(`button[value="${ruling}"]`);

// Selecting.
function count() {
  const n = ticks().filter((tick) => tick.checked).length;
  const shown = document.querySelector(".selection .n");
  if (shown) shown.textContent = saying("selected").replace("{n}", n);
  for (const row of rows()) row.classList.toggle("is-ticked", Boolean(row.querySelector(".tick:checked")));
}

function tick(range) {
  const box = chosen()?.querySelector(".tick");
  if (!box) return;
  if (range) tickRange(box);
  else box.checked = !box.checked;
  lastTicked = box.value;
  count();
}

function tickRange(box) {
  const all = ticks();
  const [a, b] = [all.findIndex((one) => one.value === lastTicked), all.indexOf(box)].sort((x, y) => x - y);
  for (const one of all.slice(Math.max(a, 0), b + 1)) one.checked = true;
}

function ruleSelected(ruling) {
  const form = document.getElementById("selection");
  if (form && ticks().some((one) => one.checked)) form.requestSubmit(form.querySelector(`[value="${ruling}"]`));
}

// The list goes on by itself; its place is kept for whoever comes back.
async function more() {
  const further = document.querySelector(".list .further");
  if (!further || further.dataset.asked) return false;
  further.dataset.asked = "1";
  try {
    const answer = await fetch(further.href, { headers: { "X-Parts": "list" } });
    const page = parse(await answer.text());
    const fresh = [...page.querySelectorAll(".row")];
    if (!fresh.length) return false;
    for (const row of fresh) {
      if (part(row.dataset.part)) continue;
      keepPlace(row);
      document.querySelector(".list .rows").append(row);
    }
    const pager = page.querySelector(".pager");
    pager.querySelector("a:not(.further)")?.remove();
    document.querySelector(".list .pager").replaceWith(pager);
    pages += 1;
    seeEnd();
    markChosen();
    document.dispatchEvent(new Event("list-changed"));
    return true;
  } catch {
    delete further.dataset.asked;
    return false;
  }
}

let end = null;

function seeEnd() {
  end?.disconnect();
  const root = WIDE.matches ? document.querySelector(".list") : null;
  end = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) more(); }, { root, rootMargin: "400px" });
  const pager = document.querySelector(".list .pager:has(.further)");
  if (pager) end.observe(pager);
}

const scroller = () => (WIDE.matches ? document.querySelector(".list") : document.scrollingElement);

function remember(url) {
  window.history.replaceState({ pages, top: scroller().scrollTop }, "", url);
}

async function comeBack() {
  const left = window.history.state;
  if (document.body.dataset.view === "one" && !WIDE.matches) return;
  while (left?.pages > pages && await more());
  if (left?.top) scroller().scrollTop = left.top;
  else chosen()?.scrollIntoView({ block: "nearest" });
  seeEnd();
}

async function showNew() {
  const url = document.querySelector(".newcomers")?.href ?? document.querySelector(".tabs [aria-current]").href;
  const page = parse(await (await fetch(url, { headers: { "X-Parts": "list" } })).text());
  if (!page.querySelector('[data-part="list"]')) { window.location.assign(url); return; }
  part("news").replaceChildren();
  part("news").dataset.ids = "";
  take(page);
  for (const row of rows()) keepPlace(row);
  scroller().scrollTop = 0;
  const first = chosen() ?? rows()[0];
  if (first) link(first).focus({ preventScroll: true });
}

// Whoever looks at a comment holds it; whoever went away lets it go.
const CLAIM_EVERY_MS = 30_000;
const AWAY_AFTER_MS = 180_000;
let lastSeen = Date.now();
for (const type of ["keydown", "pointerdown", "pointermove", "scroll"]) {
  document.addEventListener(type, () => { lastSeen = Date.now(); }, { capture: true, passive: true });
}

async function claim(ends) {
  const url = document.querySelector("#opened [data-claim]")?.dataset.claim;
  const token = document.querySelector("#opened [name=csrf_token]")?.value;
  if (!url || !token) return;
  const body = new URLSearchParams({ csrf_token: token, ...(ends ? { end: "1" } : {}) });
  await fetch(url, { method: "POST", body, keepalive: true }).catch(() => null);
}

let renewing = 0;
function claimAnew() {
  window.clearInterval(renewing);
  renewing = window.setInterval(() => {
    if (document.visibilityState === "visible" && Date.now() - lastSeen < AWAY_AFTER_MS) claim(false);
  }, CLAIM_EVERY_MS);
}

function reveal() {
  const box = document.querySelector(".reveal input");
  if (box) box.checked = !box.checked;
}

function goInto() {
  const folded = document.querySelector("#opened .rest");
  if (folded) folded.open = true;
  document.querySelector("#opened .scroll")?.focus();
}

function note() {
  const details = document.querySelector("#opened .noting");
  if (!details) return;
  details.open = true;
  details.querySelector("textarea").focus();
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  a: (event) => (event.shiftKey ? ruleSelected("approve") : rule("approve")),
  r: (event) => (event.shiftKey ? ruleSelected("reject") : rule("reject")),
  x: (event) => tick(event.shiftKey),
  u: undoLast,
  z: () => press(".skipping"),
  n: note,
  o: goInto,
  s: reveal,
  g: showNew,
  "/": () => { if (document.body.dataset.search) window.location.assign(document.body.dataset.search); },
  "?": () => (help.open ? help.close() : showHelp()),
};
const REPEATED = new Set(["j", "k"]);

// The browser goes to the button at the end; the sheet is read from its beginning.
function showHelp() {
  help.showModal();
  help.scrollTop = 0;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.closest?.(".noting")) {
    event.target.closest(".noting").open = false;
    document.querySelector("#opened .scroll").focus();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!Object.hasOwn(KEYS, key) || (help.open && key !== "?") || (event.repeat && !REPEATED.has(key))) return;
  event.preventDefault();
  KEYS[key](event);
});

document.addEventListener("click", (event) => {
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const within = (selector) => event.target.closest?.(selector);
  if (within(".newcomers") && plain) { event.preventDefault(); showNew(); return; }
  if (within(".list .further") && plain) { event.preventDefault(); more(); return; }
  if (within(".tick")) {
    if (event.shiftKey) tickRange(within(".tick"));
    lastTicked = within(".tick").value;
    return;
  }
  const row = within(".row");
  if (!row || within(".tickbox") || !plain || !WIDE.matches) return;
  event.preventDefault();
  open(row);
});

document.addEventListener("change", (event) => { if (event.target.matches(".tick")) count(); });
document.addEventListener("reset", () => setTimeout(count));

document.addEventListener("submit", (event) => {
  const form = event.target;
  const stays = document.body.dataset.view === "list" && form.matches(".done form.undo");
  if (!(WIDE.matches && form.matches("form.rule, form.undo")) && !stays) return;
  event.preventDefault();
  send(form, event.submitter);
});

// Pointing at a reason shows where it stands in the text, and the other way round.
for (const [type, on] of [["mouseover", true], ["mouseout", false]]) {
  document.addEventListener(type, (event) => {
    const by = event.target.closest?.("[data-by]")?.dataset.by.split(" ") ?? [];
    if (!by.length) return;
    for (const other of document.querySelectorAll("#opened [data-by]")) {
      const same = other.dataset.by.split(" ").some((number) => by.includes(number));
      other.classList.toggle("lit", on && same);
    }
  });
}

window.addEventListener("pagehide", () => remember(window.location.href));
comeBack();
claimAnew();
count();
// On a narrow screen the list hides what a wide one opens beside it.
if (!WIDE.matches && document.body.dataset.view === "list") claim(true);
listen({ take, parse, part, rows, isOpen });
watchSwipes({ ask, say, tell, isNarrow: () => !WIDE.matches });
const sites = document.querySelector(".sites");
if (sites) {
  sites.querySelector("button").hidden = true;
  sites.addEventListener("change", () => sites.submit());
}
const keys = document.querySelector("button.keys");
keys.hidden = false;
keys.addEventListener("click", showHelp);
document.documentElement.dataset.ready = "1";
