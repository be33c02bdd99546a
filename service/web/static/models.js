// Shows a retraining's progress. Without scripts it is updated by reloading the page.
const list = document.querySelector("[data-models]");
const EVERY_MS = 5000;

async function look() {
  if (document.hidden) return;
  let now;
  try {
    const answer = await fetch(list.dataset.progress, { credentials: "same-origin" });
    if (!answer.ok) return;
    now = await answer.json();
  } catch {
    return; // The next poll retries.
  }
  if (now.under_way !== list.dataset.underWay) {
    location.reload();
    return;
  }
  const bar = list.querySelector("progress");
  const says = list.querySelector(".says");
  if (!bar || !says) return;
  bar.value = now.percent;
  if (says.textContent !== now.says) says.textContent = now.says;
}

setInterval(look, EVERY_MS);
