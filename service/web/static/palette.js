// Lists every command of a page by name, and runs the one that is chosen. Ctrl or Cmd with K opens it.
import { keyOf } from "./keys.js";

const palette = document.getElementById("palette");
const asked = document.getElementById("palette-asked");
const found = document.getElementById("palette-found");
const status = palette.querySelector("[role=status]");
const says = palette.querySelector("template").dataset;

let commands = [];
let shown = [];
let at = 0;

const wordsOf = (element) => element.textContent.replace(/\s+/g, " ").trim();

// Pages add what they do themselves; ways, lists, filters and buttons of the bar are found here.
function collect() {
  commands = [];
  const add = (name, run, act) => commands.push({ name, run, key: act ? keyOf(act) : "", plain: name.toLowerCase() });
  document.dispatchEvent(new CustomEvent("commands", { detail: { add } }));
  for (const link of document.querySelectorAll(".tabs a")) add(says.list.replace("{what}", wordsOf(link)), () => link.click());
  for (const link of document.querySelectorAll(".campaign-strip a")) add(wordsOf(link), () => link.click());
  for (const select of document.querySelectorAll(".lists .sites select")) {
    const of = wordsOf(select.closest("label").querySelector(".unseen-label"));
    for (const option of select.options) {
      add(says.choose.replace("{of}", of).replace("{what}", wordsOf(option)), () => { select.value = option.value; select.form.requestSubmit(); });
    }
  }
  for (const link of document.querySelectorAll(".bar nav a, .bar .who a")) add(says.go.replace("{what}", wordsOf(link)), () => link.click());
  for (const button of document.querySelectorAll(".bar .who form button")) add(wordsOf(button), () => button.form.requestSubmit(button));
}

function find() {
  const words = asked.value.toLowerCase().split(/\s+/).filter(Boolean);
  shown = commands.filter(({ plain }) => words.every((word) => plain.includes(word)));
  at = 0;
  found.replaceChildren(...shown.map(({ name, key }, number) => {
    const option = document.createElement("li");
    option.id = `palette-${number}`;
    option.role = "option";
    option.append(name);
    if (key) {
      const label = document.createElement("kbd");
      label.textContent = key.toUpperCase();
      option.append(" ", label);
    }
    return option;
  }));
  status.textContent = shown.length ? status.dataset.n.replace("{n}", shown.length) : status.dataset.none;
  mark();
}

function mark() {
  for (const [number, option] of [...found.children].entries()) option.setAttribute("aria-selected", String(number === at));
  const chosen = found.children[at];
  if (chosen) asked.setAttribute("aria-activedescendant", chosen.id);
  else asked.removeAttribute("aria-activedescendant");
  chosen?.scrollIntoView({ block: "nearest" });
}

function open() {
  if (palette.open) return;
  for (const menu of document.querySelectorAll(".bar details[open]")) menu.open = false;
  collect();
  asked.value = "";
  palette.showModal();
  find();
  asked.focus();
}

function run(number) {
  const command = shown[number];
  if (!command) return;
  palette.close();
  command.run();
}

const MOVES = {
  ArrowDown: () => (at + 1) % shown.length,
  ArrowUp: () => (at - 1 + shown.length) % shown.length,
  Home: () => 0,
  End: () => shown.length - 1,
};

asked.addEventListener("input", find);
asked.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Enter") { event.preventDefault(); run(at); return; }
  if (!Object.hasOwn(MOVES, event.key) || !shown.length || (event.key === "Home" || event.key === "End") && event.shiftKey) return;
  event.preventDefault();
  at = MOVES[event.key]();
  mark();
});
found.addEventListener("click", (event) => run([...found.children].indexOf(event.target.closest("li"))));
palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (palette.open) palette.close();
  else open();
});
const opens = document.querySelector(".palette-opens");
opens.hidden = false;
opens.addEventListener("click", open);
