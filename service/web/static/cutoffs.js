// Shows what cutoffs would have done while they are being chosen. Without it there is a button.
"use strict";

(() => {
  const box = document.querySelector("[data-preview]");
  const preview = document.getElementById("preview");
  if (!box || !preview) return;
  const fields = ["ham_cutoff", "spam_cutoff"].map((id) => document.getElementById(id));
  const WAIT_MS = 150;
  // Cutoffs lie near both ends, so the slider moves in log-odds: here from 0.05 % to 99.95 %.
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
      const found = await answer.json();
      if (mine === asked) show(found);
    } catch {
      // Signed out or away: the button still works, and says so.
    } finally {
      if (mine === asked) preview.classList.remove("waits");
    }
  }

  function show(found) {
    const say = (name) => preview.querySelector(`[data-say=${name}]`);
    if (found.problems) {
      say("held").textContent = found.problems.join(" ");
      say("mistakes").replaceChildren();
      return;
    }
    say("held").textContent = found.held;
    say("mistakes").replaceChildren(...found.mistakes.map((text) => made("li", text)));
    for (const row of found.outcomes) {
      const cells = preview.querySelector(`[data-outcome=${row.outcome}]`);
      for (const name of ["were", "would_be"]) {
        cells.querySelector(`[data-cell=${name}]`).textContent = counted(row[name]);
      }
    }
    const moved = say("moved");
    moved.hidden = found.moved.length === 0;
    moved.tBodies[0].replaceChildren(...found.moved.map(movedRow));
  }

  function movedRow(row) {
    const names = [...preview.querySelectorAll("[data-say=moved] thead th")];
    const head = made("th", row.was);
    head.scope = "row";
    const numbers = ["comments", "approved", "rejected"].map((name) => counted(row[name]));
    const cells = [row.becomes, ...numbers].map((text, index) => {
      const cell = made("td", text);
      cell.dataset.label = names[index + 1].textContent;
      cell.classList.toggle("number", index > 0);
      return cell;
    });
    const line = document.createElement("tr");
    line.append(head, ...cells);
    return line;
  }

  function made(name, text) {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  }

  const counted = (number) => number.toLocaleString(document.documentElement.lang);

  fields.forEach(addSlider);
})();
