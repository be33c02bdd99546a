// Lets a moderator go through the list by keys; every form works without this file too.
"use strict";

const WIDE = window.matchMedia("(min-width: 860px)");
const spoken = document.getElementById("spoken");
const help = document.querySelector("dialog.help");
const undoable = [];
let busy = false;

const part = (name) => document.querySelector(`[data-part="${CSS.escape(name)}"]`);
const rows = () => [...document.querySelectorAll(".row")];
const link = (row) => row.querySelector("a");
const chosen = () => rows().find((row) => link(row).hasAttribute("aria-current"));
const isOpen = (row) => !row.matches(".is-decided, .is-withdrawn");

function say(words) {
  spoken.textContent = "";
  requestAnimationFrame(() => { spoken.textContent = words; });
}

function tell(words) {
  const told = document.createElement("p");
  told.textContent = words;
  part("done").replaceChildren(told);
}

// Takes over what changed; the list itself stays, so that nobody loses their place in it.
function take(page) {
  for (const name of ["tabs", "done", "list", "opened"]) {
    const fresh = page.querySelector(`[data-part="${name}"]`);
    if (fresh) part(name).replaceChildren(...fresh.childNodes);
  }
  for (const fresh of page.querySelectorAll(".row")) {
    const old = part(fresh.dataset.part);
    if (old && old !== fresh) old.replaceWith(fresh);
    else if (!old) document.querySelector(".rows")?.prepend(fresh);
  }
  const id = document.querySelector("#opened [data-opened]")?.dataset.opened;
  for (const row of rows()) {
    if (row.dataset.id === id) link(row).setAttribute("aria-current", "true");
    else link(row).removeAttribute("aria-current");
  }
  chosen()?.scrollIntoView({ block: "nearest" });
}

async function ask(url, options = {}) {
  if (busy) return null;
  busy = true;
  try {
    const answer = await fetch(url, { ...options, headers: { "X-Parts": "1" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.querySelector('[data-part="opened"]')) {
      // Signed out, erased or refused: the whole page says it better than a part could.
      if (answer.redirected || answer.ok) window.location.assign(answer.url);
      else tell("That was refused and nothing was changed. Load the page anew and try once more.");
      return null;
    }
    take(page);
    if (answer.redirected || !options.method) window.history.replaceState(null, "", answer.url);
    return answer;
  } catch {
    tell("The server did not answer. Nothing may have been changed; try once more.");
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
    say(`Comment ${rows().indexOf(now) + 1} of ${rows().length}`);
  }
}

function move(step) {
  const all = rows();
  const at = all.indexOf(chosen());
  const next = at < 0 ? 0 : at + step;
  if (next >= all.length) document.querySelector(".further")?.focus();
  else open(all[Math.max(next, 0)]);
}

// The next one that nobody decided: further down, else further up.
function following(id) {
  const all = rows();
  const at = all.findIndex((row) => row.dataset.id === id);
  const others = [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))];
  return others.find(isOpen)?.dataset.id ?? "";
}

async function send(form, button) {
  const data = new FormData(form, button);
  const rules = form.classList.contains("rule");
  if (rules) data.set("then", following(form.dataset.id));
  if (!await ask(form.action, { method: "POST", body: new URLSearchParams(data) })) return;
  const undo = part("done").querySelector("form.undo");
  if (rules && undo) undoable.push(undo.cloneNode(true));
  else if (!rules) undoable.splice(0, undoable.length, ...undoable.filter((f) => f.dataset.id !== form.dataset.id));
  const now = chosen();
  if (now) link(now).focus({ preventScroll: true });
}

function undoLast() {
  const last = undoable.pop() ?? document.querySelector(".done form.undo, #opened form.undo");
  if (last) send(last);
}

function rule(ruling) {
  const button = document.querySelector(`#opened form.rule button[value="${ruling}"]`);
  if (button) send(button.form, button);
  else say("Nothing to decide here");
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  a: () => rule("approve"),
  r: () => rule("reject"),
  u: undoLast,
  "?": () => (help.open ? help.close() : help.showModal()),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat && event.key !== "j" && event.key !== "k") return;
  if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!Object.hasOwn(KEYS, key) || (help.open && key !== "?")) return;
  event.preventDefault();
  KEYS[key]();
});

document.addEventListener("click", (event) => {
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const row = event.target.closest?.(".row");
  if (!row || !plain || !WIDE.matches) return;
  event.preventDefault();
  open(row);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!WIDE.matches || !form.matches("form.rule, form.undo")) return;
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

chosen()?.scrollIntoView({ block: "nearest" });
const sites = document.querySelector(".sites");
if (sites) {
  sites.querySelector("button").hidden = true;
  sites.addEventListener("change", () => sites.submit());
}
const keys = document.querySelector("button.keys");
keys.hidden = false;
keys.addEventListener("click", () => help.showModal());
