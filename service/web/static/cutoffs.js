// Previews cutoffs while they are edited. Without scripts there is a button.
import { parse } from "./parts.js";

const box = document.querySelector("[data-preview]");
const preview = document.getElementById("preview");
const fields = ["ham_cutoff", "spam_cutoff"].map((id) => document.getElementById(id));
const WAIT_MS = 150;
// Cutoffs are near both ends, so the slider uses log-odds, from 0.05 % to 99.95 %.
const MOST = 7.6;
let timer = 0;
let asked = 0;

const percentOf = (logOdds) => 100 / (1 + Math.exp(-logOdds));
const logOddsOf = (percent) => {
  const p = Math.min(Math.max(percent / 100, 1e-9), 1 - 1e-9);
  return Math.min(Math.max(Math.log(p / (1 - p)), -MOST), MOST);
};
const read = (field) => parseFloat((field.value || field.placeholder).replace(",", "."));

function addSlider(field) {
  const slider = document.createElement("input");
  slider.type = "range";
  slider.className = "slider";
  slider.min = String(-MOST);
  slider.max = String(MOST);
  slider.step = "0.05";
  slider.setAttribute("aria-label", field.labels[0].textContent);
  const follow = () => {
    const percent = read(field);
    if (!Number.isNaN(percent)) slider.value = String(logOddsOf(percent));
    slider.setAttribute("aria-valuetext", `${field.value || field.placeholder}`);
  };
  follow();
  slider.addEventListener("input", () => {
    field.value = percentOf(Number(slider.value)).toFixed(2);
    slider.setAttribute("aria-valuetext", field.value);
    soon();
  });
  field.addEventListener("input", () => {
    follow();
    soon();
  });
  field.after(slider);
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT_MS);
}

async function ask() {
  const mine = ++asked;
  const query = new URLSearchParams(fields.map((field) => [field.name, field.value]));
  preview.classList.add("waits");
  try {
    const answer = await fetch(`${box.dataset.preview}?${query}`, { credentials: "same-origin" });
    const found = parse(await answer.text());
    if (mine === asked) show(found);
  } catch {
    // Signed out or offline: the button shows the error.
  } finally {
    if (mine === asked) preview.classList.remove("waits");
  }
}

function show(found) {
  for (const fresh of found.querySelectorAll("[data-part]")) {
    preview.querySelector(`[data-part=${fresh.dataset.part}]`)?.replaceChildren(...fresh.childNodes);
  }
}

if (preview) fields.forEach(addSlider);
