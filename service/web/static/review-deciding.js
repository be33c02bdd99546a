// Decides without delay: a key shows the next comment, and the decision is sent in the background.

import { Prefetcher } from "./review-prefetch.js";
import { claimAnew } from "./review-claims.js";
import { following, loadTop, more, remember, take } from "./review-list.js";
import { chosen, isOpen, link, markChosen, paragraph, parse, part, replaceRow, rowOf, rows, say, saying, tell, toTheComment, WIDE } from "./review-page.js";
import { deliverer, fetchInTime, LIMIT_MS, newId, Outbox, pauseOf, tabStore } from "./review-sending.js";

const PREFETCHED_AT_FIRST = 3;
const PREFETCHED_FOR_A_FAST_HAND = 8;
const PAINTED_AFTER_MS = 30;
const MOST_PAST = 20;
const MOST_REFUSED = 20;
// Stands for the first comment of a list that is not loaded yet.
const FROM_THE_TOP = "";

const user = document.body.dataset.user;
const before = new Map();
const past = new Map();
const undoable = [];
let awaited = null;
let isByHand = false;
let awaitedSince = 0;
let typed = [];
let press = () => {};
let nPrefetched = PREFETCHED_AT_FIRST;

const outbox = new Outbox({
  deliver: deliverer({ parse, user }), pause: pauseOf, store: tabStore(`unsent ${user}`), changed: showState, answered,
});
const prefetcher = new Prefetcher({ parse, arrived: arrive, changed: showState });

const openedId = () => document.querySelector("#opened [data-opened]")?.dataset.opened;
const form = () => document.querySelector("#opened form.rule");
const isUnsent = (id) => outbox.has(id);
export const showsOne = () => WIDE.matches || document.body.dataset.view === "one";

// Shows the state of pending actions and of a loading comment.
function showState() {
  const n = outbox.unsent.length;
  let words = "";
  if (n && outbox.why === "looking") {
    words = saying("looking") + (n > 1 ? ` ${saying("behind").replace("{n}", n - 1)}` : "");
  } else if (n) words = saying(outbox.why === "fault" ? "away" : outbox.why).replace("{n}", n);
  const shown = part("sending");
  const isTrouble = n > 0 && outbox.why !== "sending";
  shown.textContent = words;
  shown.classList.toggle("is-trouble", isTrouble);
  // Screen readers announce trouble and its end, not each key.
  const told = isTrouble ? saying(outbox.why === "looking" ? "looking" : "trouble") : "";
  if (told !== (shown.dataset.told ?? "")) say(told || saying("all-sent"));
  shown.dataset.told = told;
  const waits = document.querySelector("#opened .awaited p");
  if (waits) waits.textContent = saying(prefetcher.why ? `next-${prefetcher.why}` : "next");
}

// Shows an action on its row until the server has responded.
function mark(id, kind) {
  const row = rowOf(id);
  if (!row || !isOpen(row) && kind !== "undo") return;
  if (kind === "undo") { restoreRow(id); return; }
  if (!before.has(id)) before.set(id, row.cloneNode(true));
  if (kind === "skip") {
    row.classList.add("is-skipped");
    row.closest(".rows")?.append(row);
    return;
  }
  row.classList.add("is-decided");
  const stamp = document.createElement("span");
  stamp.className = `stamp is-${kind}`;
  stamp.textContent = saying(kind);
  row.querySelector(".top :is(time, .stamp)")?.replaceWith(stamp);
}

function restoreRow(id) {
  const was = before.get(id);
  before.delete(id);
  was?.querySelector("a").removeAttribute("aria-current");
  if (was) replaceRow(was);
}

function put(act) {
  mark(act.comment, act.kind);
  outbox.put({ id: newId(), ...act });
  fetchSoon();
}

// Decides or skips the open comment, and shows the next one.
export function act(kind) {
  const rule = form();
  const id = rule?.dataset.id;
  if (!rule?.querySelector(kind === "skip" ? ".skipping" : `button[value="${kind}"]`)) { say(saying("nothing")); return; }
  const next = nextAfter(id);
  const [seen, note] = [rule.elements.seen.value, rule.elements.note?.value.trim()];
  if (!seen) keepPast(id);
  if (kind === "skip") put({ comment: id, kind });
  else {
    const decision = newId();
    undoable.push({ comment: id, decision });
    put({ id: decision, comment: id, kind, seen, ...(note ? { note } : {}) });
  }
  nPrefetched = PREFETCHED_FOR_A_FAST_HAND;
  open(next);
}

// Decides a comment of the list without opening it.
export function decideRow(row, ruling) {
  const decision = newId();
  undoable.push({ comment: row.dataset.id, decision });
  put({ id: decision, comment: row.dataset.id, kind: ruling, seen: row.dataset.seen ?? "" });
}

function keepPast(id) {
  const view = document.createElement("article");
  view.append(...part("opened").childNodes);
  past.set(id, view);
  if (past.size > MOST_PAST) past.delete(past.keys().next().value);
}

export function undo(id, decision) {
  const at = undoable.findIndex((one) => one.decision === decision);
  if (at >= 0) undoable.splice(at, 1);
  put({ comment: id, kind: "undo", seen: decision });
  if (!showsOne()) return;
  const view = past.get(id);
  past.delete(id);
  if (view) show(id, view);
  else open(id, { byHand: true });
}

const undoForm = (found) => undo(found.dataset.id, found.elements.seen.value);

export async function undoLast() {
  const last = undoable.at(-1);
  const shown = document.querySelector(".done form.undo, #opened form.undo");
  if (last) undo(last.comment, last.decision);
  else if (shown?.dataset.id) undoForm(shown);
  else if (shown) shown.requestSubmit();
  else await askForLast();
}

// Requests the moderator's last action on any page.
async function askForLast() {
  try {
    const answer = await fetchInTime(document.body.dataset.last, { redirect: "manual" });
    const page = parse(await answer.text());
    const found = page.querySelector("form.undo");
    if (!answer.ok) tell(saying("no-answer"));
    else if (!found) { tell(saying("nothing-done")); say(saying("nothing-done")); }
    else if (found.dataset.id) undoForm(found);
    else {
      take(page, { names: ["done"] });
      part("done").querySelector("form.undo").requestSubmit();
    }
  } catch {
    tell(saying("no-answer"));
  }
}

const nextAfter = (id) => following(id).find((one) => !isUnsent(one)) ?? FROM_THE_TOP;

// Shows a comment, or waits for it and queues the keys typed meanwhile.
function open(id, { byHand = false } = {}) {
  const view = id && !isUnsent(id) ? prefetcher.get(id) : null;
  if (view === undefined || (view && !byHand && isSettled(view))) { pass(id, view); return; }
  if (view) { show(id, view); return; }
  awaited = id;
  isByHand = byHand;
  awaitedSince = Date.now();
  const waiting = document.createElement("div");
  waiting.className = "nothing awaited";
  waiting.append(paragraph(saying("next")));
  part("opened").replaceChildren(waiting);
  showState();
  prefetch();
  if (id === FROM_THE_TOP) goOn();
}

// Opens another comment instead of the one that queued keys wait for.
export function choose(id) {
  typed = [];
  open(id, { byHand: true });
}

// A comment that was decided or withdrawn meanwhile is skipped.
const isSettled = (view) => view.querySelector(".act .stamp, .comment .withdrawn") !== null;

function pass(id, view) {
  const [row, stamp] = [rowOf(id), view?.querySelector(".act .stamp")];
  if (stamp) row?.querySelector(".top :is(time, .stamp)")?.replaceWith(stamp.cloneNode(true));
  row?.classList.add(stamp ? "is-decided" : "is-withdrawn");
  open(nextAfter(id));
}

function show(id, view) {
  awaited = null;
  part("opened").replaceChildren(...view.childNodes);
  prefetcher.drop(id);
  markChosen();
  const row = rowOf(id);
  if (row) {
    row.scrollIntoView({ block: "nearest" });
    if (WIDE.matches) link(row).focus({ preventScroll: true });
    else toTheComment();
  }
  claimAnew({ isNew: true });
  fetchSoon();
  // One key per frame, so that each comment is painted.
  if (typed.length) requestAnimationFrame(() => { if (!awaited && typed.length) press(typed.shift()); });
}

export function isWaiting() { return awaited !== null || typed.length > 0; }

export function typeAhead(key) { typed.push(key); }

// Work that can wait until the next comment is painted.
let soon = 0;

function fetchSoon() {
  soon ||= window.setTimeout(() => {
    soon = 0;
    const row = chosen();
    if (row && showsOne()) remember(link(row).href);
    prefetch();
  }, PAINTED_AFTER_MS);
}

function prefetch() {
  const next = following(openedId() ?? awaited).filter((id) => !isUnsent(id) && id !== awaited);
  if (next.length < nPrefetched && document.querySelector(".list .further")) more().then((came) => came && prefetch());
  const first = awaited && !isUnsent(awaited) ? [awaited] : [];
  prefetcher.want(showsOne() ? [...first, ...next.slice(0, nPrefetched)] : []);
}

function arrive() {
  if (awaited && !isUnsent(awaited) && prefetcher.get(awaited) !== null) open(awaited, { byHand: isByHand });
}

let goingOn = false;

// At the list's end, loads its next page, or its top after all actions are sent.
async function goOn() {
  if (goingOn) return;
  goingOn = true;
  while (awaited === FROM_THE_TOP) {
    await more();
    const next = nextAfter("");
    if (next) open(next);
    else if (outbox.unsent.length || !await loadTop({ opens: true, isKept: isUnsent })) await pauseOf(200);
    else {
      awaited = null;
      claimAnew({ isNew: false });
      prefetch();
      const keys = typed;
      typed = [];
      if (form()) for (const key of keys) { if (isWaiting()) typeAhead(key); else press(key); }
      else if (keys.length) say(saying("nothing"));
    }
  }
  goingOn = false;
}

// After a long wait the queued keys are dropped.
function forgetTyped() {
  if (awaited === null || !typed.length || Date.now() - awaitedSince < LIMIT_MS) return;
  tell(saying("forgotten").replace("{n}", typed.length));
  say(saying("forgotten").replace("{n}", typed.length));
  typed = [];
}

function answered(done, { page }, isRefused) {
  const id = done.comment;
  if (!isRefused) {
    take(page, { names: ["tabs", "done"], isKept: isUnsent });
    const [known, seen] = [undoable.find((one) => one.decision === done.id), part("done").querySelector("form.undo[data-id] [name=seen]")?.value];
    // Another moderator had made the same ruling; that decision is in force.
    if (known && seen) known.decision = seen;
  } else refused(done, page);
  if (!isUnsent(id)) before.delete(id);
  if (typeof awaited === "string") { prefetch(); arrive(); }
}

// Puts a refused comment at the top, with the reason.
function refused(done, page) {
  const at = undoable.findIndex((one) => one.decision === done.id);
  if (at >= 0) undoable.splice(at, 1);
  past.delete(done.comment);
  prefetcher.drop(done.comment);
  restoreRow(done.comment);
  take(page, { names: ["tabs"] });
  const row = rowOf(done.comment);
  if (row) row.closest(".rows").prepend(row);
  let told = page.querySelector('[data-part="refused"] > p');
  if (!told) {
    // Use the text of the error page.
    const words = [...page.querySelectorAll(".card h1, .card h1 + p")].map((one) => one.textContent).join(". ");
    told = paragraph(`${saying("refused")} ${words}`, "conflict");
    told.role = "alert";
    if (row) {
      const way = document.createElement("a");
      [way.href, way.dataset.again, way.textContent] = [link(row).href, done.comment, row.querySelector(".name").textContent];
      told.append(" ", way);
    }
  }
  part("refused").append(told);
  while (part("refused").childElementCount > MOST_REFUSED) part("refused").firstElementChild.remove();
}

const stateOf = (row) => [row.className, ...[...row.querySelectorAll(".chip, .stamp")].map((one) => one.textContent)].join("|");

// Updates rows. Prefetched views of changed comments are stale, and the open comment may be too.
export function takeLive(page) {
  for (const fresh of page.querySelectorAll(".row")) {
    const old = rowOf(fresh.dataset.id);
    if (old && stateOf(old) === stateOf(fresh)) fresh.remove();
  }
  const changed = [...page.querySelectorAll(".row")].map((row) => row.dataset.id);
  for (const id of changed) prefetcher.drop(id);
  take(page, { isKept: isUnsent });
  const id = openedId();
  const row = chosen();
  if (changed.includes(id) && row && !isOpen(row) && !isUnsent(id) && document.querySelector("#opened .skipping")) tellMeanwhile(id);
  prefetch();
}

async function tellMeanwhile(id) {
  const { views } = await prefetcher.fetch([id], { meanwhile: 1 });
  const view = views?.get(id);
  const now = form();
  if (!view || now?.dataset.id !== id || isUnsent(id)) return;
  const [note, fresh] = [now.elements.note, view.querySelector("form.rule")?.elements.note];
  if (note?.value && fresh) {
    fresh.value = note.value;
    fresh.closest("details").open = true;
  }
  part("opened").replaceChildren(...view.childNodes);
}

export async function showTop() {
  await loadTop({ opens: false, isKept: isUnsent });
}

export function start({ pressed }) {
  press = pressed;
  const left = outbox.restore();
  const lostNotes = left.filter((one) => one.noted).length;
  if (lostNotes) tell(saying("without-note").replace("{n}", lostNotes));
  for (const one of left) mark(one.comment, one.kind);
  showState();
  const id = form()?.dataset.id;
  if (id && isUnsent(id) && showsOne()) open(nextAfter(id));
  document.addEventListener("list-changed", () => {
    for (const one of outbox.unsent) mark(one.comment, one.kind);
  });
  window.setInterval(forgetTyped, 1_000);
  // A single pending action is sent anyway; with more, or in trouble, ask before leaving.
  window.addEventListener("beforeunload", (event) => {
    if (outbox.unsent.length > (outbox.why === "sending" ? 1 : 0) || typed.length) event.preventDefault();
  });
  claimAnew({ isNew: false });
  prefetch();
}

document.addEventListener("click", (event) => {
  const again = event.target.closest?.("[data-again]");
  if (!again || !WIDE.matches || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  again.closest("p").remove();
  choose(again.dataset.again);
});

document.addEventListener("submit", (event) => {
  const found = event.target;
  const isUndo = found.matches("form.undo[data-id]") && (showsOne() || found.matches(".done form"));
  if (!isUndo && !(found.matches("form.rule") && showsOne())) return;
  event.preventDefault();
  if (isUndo) undoForm(found);
  else act(event.submitter?.hasAttribute("formaction") ? "skip" : event.submitter?.value);
});
