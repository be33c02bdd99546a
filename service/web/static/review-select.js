// Selects rows of the list, to decide them together.

import { chosen, saying } from "./review-page.js";

let lastTicked = null;
const ticks = () => [...document.querySelectorAll(".list .tick")];

export function count() {
  const ticked = [...document.querySelectorAll(".list .tick:checked")].map((tick) => tick.closest(".row"));
  const shown = document.querySelector(".selection .n");
  if (shown) shown.textContent = saying("selected").replace("{n}", ticked.length);
  for (const row of document.querySelectorAll(".list .row.is-ticked")) row.classList.toggle("is-ticked", ticked.includes(row));
  for (const row of ticked) row.classList.add("is-ticked");
}

export function tick(range) {
  const box = chosen()?.querySelector(".tick");
  if (!box) return;
  if (range) tickRange(box);
  else box.checked = !box.checked;
  lastTicked = box.value;
  count();
}

export function clicked(box, range) {
  if (range) tickRange(box);
  lastTicked = box.value;
}

function tickRange(box) {
  const all = ticks();
  const [a, b] = [all.findIndex((one) => one.value === lastTicked), all.indexOf(box)].sort((x, y) => x - y);
  for (const one of all.slice(Math.max(a, 0), b + 1)) one.checked = true;
}

export function ruleSelected(ruling) {
  const form = document.getElementById("selection");
  if (form && ticks().some((one) => one.checked)) form.requestSubmit(form.querySelector(`[value="${ruling}"]`));
}

document.addEventListener("change", (event) => { if (event.target.matches(".tick")) count(); });
document.addEventListener("reset", () => setTimeout(count));
