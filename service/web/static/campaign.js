// Lets a moderator decide a campaign by keys; every form works without this file too.
"use strict";

const form = document.querySelector("form.decide");
const stops = () => [...document.querySelectorAll(".stop")];
const ticks = () => [...document.querySelectorAll("form.decide input[name=id]")];
const others = document.querySelector("form.decide input[name=others]");

// The number on the buttons is how many comments they decide.
function count() {
  const ticked = ticks().filter((tick) => tick.checked).length;
  for (const button of document.querySelectorAll("form.decide button[data-says]")) {
    const all = ticked + (others?.checked ? Number(others.dataset.count) : 0);
    button.querySelector(".says").textContent = button.dataset.says.replace("{n}", all);
    button.disabled = ticked === 0 && !others?.checked;
  }
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
  count();
}

function decide(ruling) {
  const button = form?.querySelector(`button[name=ruling][value="${ruling}"]`);
  if (button && !button.disabled) form.requestSubmit(button);
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  x: toggle,
  r: () => decide("reject"),
  a: () => decide("approve"),
  u: () => document.querySelector("form.undo")?.requestSubmit(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (window.localStorage.getItem("keys") === "off") return;
  if (event.repeat && event.key !== "j" && event.key !== "k") return;
  if (event.target.closest?.("input:not([type=checkbox]), select, textarea")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!Object.hasOwn(KEYS, key)) return;
  event.preventDefault();
  KEYS[key]();
});

form?.addEventListener("change", count);
// The browser may bring back ticks of before when one returns to the page.
window.addEventListener("pageshow", () => { if (form) count(); });
const told = document.querySelector(".keys-told");
if (told) told.hidden = false;
