// Keyboard shortcuts to decide a campaign. Every form also works without scripts.
import { actOf } from "./keys.js";

const form = document.querySelector("form.decide");
const stops = () => [...document.querySelectorAll(".stop")];
const ticks = () => [...document.querySelectorAll("form.decide input.stop")];
const others = document.querySelector("form.decide input[name=others]");

const asks = document.querySelector(".asks");
const HELD_MS = 800;
// The ruling to confirm by a second press, and the time of the first.
let asked = null;
let downAt = 0;

function chosen() {
  const ticked = ticks().filter((tick) => tick.checked);
  const beyond = others?.checked ? Number(others.dataset.count) : 0;
  const low = ticked.filter((tick) => "low" in tick.dataset).length;
  return { ticked: ticked.length, all: ticked.length + beyond, low };
}

// Shows on the buttons how many comments they decide.
function count() {
  const { ticked, all } = chosen();
  for (const button of document.querySelectorAll("form.decide button[data-says]")) {
    button.querySelector(".says").textContent = button.dataset.says.replace("{n}", all);
    button.disabled = ticked === 0 && !others?.checked;
  }
}

function takeBack() {
  asked = null;
  if (asks) asks.hidden = true;
}

// A large bulk decision asks for confirmation and needs a second press.
function ask(button) {
  const { all, low } = chosen();
  const key = button.querySelector("kbd").textContent;
  const said = [
    asks.dataset[button.value].replace("{n}", all),
    low ? asks.dataset.low.replace("{n}", low) : asks.dataset.none,
    asks.dataset.again.replaceAll("{key}", key),
  ];
  asked = button.value;
  asks.textContent = said.join(" ");
  asks.hidden = false;
}

function move(step) {
  const all = stops();
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)];
  next?.focus();
  next?.closest("li")?.scrollIntoView({ block: "nearest" });
}

function toggle() {
  const tick = document.activeElement;
  if (!tick?.matches?.("input.stop")) return;
  tick.checked = !tick.checked;
  takeBack();
  count();
}

function decide(ruling) {
  const button = form?.querySelector(`button[name=ruling][value="${ruling}"]`);
  if (button && !button.disabled) form.requestSubmit(button);
}

const ACTS = {
  next: () => move(1),
  previous: () => move(-1),
  select: toggle,
  reject: () => decide("reject"),
  approve: () => decide("approve"),
  undo: () => document.querySelector("form.undo")?.requestSubmit(),
};
const REPEATED = new Set([ACTS.next, ACTS.previous]);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest?.("input:not([type=checkbox]), select, textarea, dialog")) return;
  const name = actOf(event);
  const act = name ? ACTS[name] : event.key === "Escape" && takeBack;
  if (!act) return;
  event.preventDefault();
  if (!event.repeat) downAt = event.timeStamp;
  const held = asked && name === asked && event.timeStamp - downAt >= HELD_MS;
  if (event.repeat && !REPEATED.has(act) && !held) return;
  act();
});

form?.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!asks?.dataset[button.value] || asked === button.value || chosen().all <= Number(form.dataset.asksBeyond)) return;
  event.preventDefault();
  ask(button);
});
form?.addEventListener("change", () => {
  takeBack();
  count();
});
// The browser may restore earlier ticks when the user returns to the page.
window.addEventListener("pageshow", () => {
  takeBack();
  if (form) count();
});
const told = document.querySelector(".keys-told");
if (told) told.hidden = false;
