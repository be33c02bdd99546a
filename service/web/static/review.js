// Keyboard shortcuts for the list. Every form also works without scripts.
import { actOf, areOn, change, DEFAULTS, keyOf, switchKeys } from "./keys.js";
import { claim } from "./review-claims.js";
import { act, choose, decideRow, isWaiting, showsOne, showTop, start, takeLive, typeAhead, undoLast } from "./review-deciding.js";
import { comeBack, more, remember } from "./review-list.js";
import { listen } from "./review-live.js";
import { chosen, link, parse, part, rows, say, saying, toTheComment, WIDE } from "./review-page.js";
import { clicked, count, ruleSelected, tick } from "./review-select.js";
import { watchSwipes } from "./review-touch.js";

const help = document.querySelector("dialog.help");

function openRow(row) {
  if (!row || row === chosen()) return;
  if (!WIDE.matches) { link(row).click(); return; }
  choose(row.dataset.id);
  say(saying("place").replace("{at}", rows().indexOf(row) + 1).replace("{all}", rows().length));
}

async function move(step) {
  const all = rows();
  const at = all.indexOf(chosen());
  const next = at < 0 ? 0 : at + step;
  if (next >= all.length && !await more()) document.querySelector(".further")?.focus();
  else openRow(rows()[Math.max(next, 0)]);
}

function rule(kind) {
  if (showsOne()) act(kind);
  else document.querySelector(`#opened form.rule ${kind === "skip" ? ".skipping" : `[value="${kind}"]`}`)?.click();
}

function reveal() {
  const box = document.querySelector(".reveal input");
  if (box) box.checked = !box.checked;
}

function goInto() {
  for (const folded of document.querySelectorAll("#opened :is(.rest, .reasons)")) folded.open = true;
  document.querySelector("#opened .scroll")?.focus();
}

function note() {
  const details = document.querySelector("#opened .noting");
  if (!details) return;
  details.open = true;
  details.querySelector("textarea").focus();
}

const ACTS = {
  next: () => move(1),
  previous: () => move(-1),
  approve: (shift) => (shift ? ruleSelected("approve") : rule("approve")),
  reject: (shift) => (shift ? ruleSelected("reject") : rule("reject")),
  select: (shift) => tick(shift),
  undo: undoLast,
  skip: () => rule("skip"),
  note,
  open: goInto,
  reveal,
  top: showTop,
  search: () => { if (document.body.dataset.search) window.location.assign(document.body.dataset.search); },
  help: () => (help.open ? help.close() : showHelp()),
};
const REPEATED = new Set(["next", "previous"]);
// These act on the open comment, so they wait while it is loading.
const WAIT = new Set(["approve", "reject", "skip", "undo"]);

// The browser focuses the last button; scroll back to the beginning.
function showHelp() {
  help.showModal();
  help.scrollTop = 0;
}

// The links behind an open menu are out of reach, as it may cover them in part. A click elsewhere closes it.
for (const menu of document.querySelectorAll(".menu")) {
  menu.addEventListener("toggle", () => { document.querySelector(".lists").inert = document.querySelector(".menu[open]") !== null; });
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
}

const keysOn = document.getElementById("keys-on");
keysOn.checked = areOn();
keysOn.addEventListener("change", () => switchKeys(keysOn.checked));

const keysForm = document.getElementById("change-keys");
const keyFields = [...keysForm.querySelectorAll("input[data-key-of]")];
const problem = keysForm.querySelector("[role=alert]");

function showKeys(of) {
  for (const field of keyFields) {
    field.value = of(field.dataset.keyOf);
    field.removeAttribute("aria-invalid");
  }
  problem.textContent = "";
}

// Shows one sentence for the problem, and marks its fields.
function keepKeys(event) {
  event?.preventDefault();
  const wrong = change(Object.fromEntries(keyFields.map((field) => [field.dataset.keyOf, field.value])));
  const nameOf = (act) => keysForm.querySelector(`[data-key-of="${act}"]`).labels[0].textContent.trim();
  for (const field of keyFields) field.setAttribute("aria-invalid", String(Boolean(wrong) && wrong.acts.includes(field.dataset.keyOf)));
  problem.textContent = wrong
    ? problem.dataset[wrong.problem].replace("{key}", wrong.key.toUpperCase()).replace("{one}", nameOf(wrong.acts[0])).replace("{other}", nameOf(wrong.acts.at(-1)))
    : problem.dataset.kept;
  if (wrong) keyFields.find((field) => field.dataset.keyOf === wrong.acts[0]).focus();
}

showKeys(keyOf);
keysForm.addEventListener("submit", keepKeys);
keysForm.querySelector("[type=button]").addEventListener("click", () => { showKeys((act) => DEFAULTS[act]); keepKeys(); });

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.closest?.(".noting")) {
    event.target.closest(".noting").open = false;
    document.querySelector("#opened .scroll").focus();
    return;
  }
  const act = actOf(event);
  if (!act || (help.open && act !== "help") || (event.repeat && !REPEATED.has(act))) return;
  event.preventDefault();
  if (isWaiting() && WAIT.has(act) && !event.shiftKey) typeAhead(act);
  else ACTS[act](event.shiftKey);
});

document.addEventListener("click", (event) => {
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const within = (selector) => event.target.closest?.(selector);
  if (within(".newcomers") && plain) { event.preventDefault(); showTop(); return; }
  if (within(".list .further") && plain) { event.preventDefault(); more(); return; }
  if (within(".tick")) { clicked(within(".tick"), event.shiftKey); return; }
  const row = within(".row");
  if (!row || within(".tickbox") || !plain || !WIDE.matches) return;
  event.preventDefault();
  openRow(row);
});

// Hovering a reason highlights its text, and the other way round.
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

// A number in the text scrolls to the reason with this number, which may be folded.
document.addEventListener("click", (event) => {
  const reasons = event.target.closest?.("#opened sup.ref") && document.querySelector("#opened .reasons");
  if (reasons) reasons.open = true;
});

// Until a comment is painted, the page still has the address of the one before.
window.addEventListener("pagehide", () => {
  const row = showsOne() ? chosen() : null;
  remember(row ? link(row).href : window.location.href);
});
comeBack();
count();
start({ pressed: (act) => ACTS[act](false) });
// On a narrow screen the list hides the opened comment.
if (!WIDE.matches && document.body.dataset.view === "list") claim(true);
listen({ take: takeLive, parse, part, rows });
watchSwipes({ act, decideRow, isNarrow: () => !WIDE.matches });
if (!WIDE.matches && document.body.dataset.view === "one" && !window.scrollY) toTheComment();
const sites = document.querySelector(".sites");
if (sites) {
  sites.querySelector("button").hidden = true;
  sites.addEventListener("change", () => sites.submit());
}
const keys = document.querySelector("button.keys");
keys.hidden = false;
keys.addEventListener("click", showHelp);
document.documentElement.dataset.ready = "1";
