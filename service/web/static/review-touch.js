// Swipes on a touch screen: right approves, left rejects, moving back cancels.

const HINT_AFTER_PX = 24;
const DECIDES_AFTER_PX = 110;
// A steeper swipe scrolls.
const STEEPNESS = 1.2;

export function watchSwipes({ act, decideRow, isNarrow }) {
  const hint = document.querySelector(".swiping");
  let swipe = null;

  const target = (element) => {
    const row = element.closest?.(".list .row:not(.is-decided, .is-withdrawn)");
    if (row) return row;
    const opened = element.closest?.("#opened .scroll");
    return opened && document.querySelector("#opened form.rule .skipping") ? opened : null;
  };

  function begin(event) {
    if (event.pointerType !== "touch" || !event.isPrimary || !isNarrow()) return;
    const on = target(event.target);
    if (on && !event.target.closest("button, input, summary, textarea, label")) {
      swipe = { on, x: event.clientX, y: event.clientY, by: 0, isSwipe: false };
    }
  }

  function move(event) {
    if (!swipe) return;
    const [x, y] = [event.clientX - swipe.x, event.clientY - swipe.y];
    if (!swipe.isSwipe) {
      if (Math.abs(y) > HINT_AFTER_PX && Math.abs(y) * STEEPNESS > Math.abs(x)) { end(); return; }
      if (!window.getSelection().isCollapsed) { end(); return; }
      if (Math.abs(x) < HINT_AFTER_PX || Math.abs(x) < Math.abs(y) * STEEPNESS) return;
      swipe.isSwipe = true;
      swipe.on.classList.add("is-swiped");
    }
    swipe.by = x;
    swipe.on.style.setProperty("--swiped", `${Math.max(-160, Math.min(160, x))}px`);
    show(x);
  }

  function show(x) {
    hint.hidden = false;
    hint.classList.toggle("is-approve", x > 0);
    hint.classList.toggle("is-reject", x < 0);
    hint.classList.toggle("is-armed", Math.abs(x) >= DECIDES_AFTER_PX);
  }

  function end() {
    if (swipe) {
      swipe.on.classList.remove("is-swiped");
      swipe.on.style.removeProperty("--swiped");
    }
    hint.hidden = true;
    swipe = null;
  }

  function lift() {
    const done = swipe;
    end();
    if (!done?.isSwipe) return;
    // The click after the swipe would open the decided comment.
    window.addEventListener("click", stopOnce, { capture: true, once: true });
    window.setTimeout(() => window.removeEventListener("click", stopOnce, { capture: true }), 50);
    if (Math.abs(done.by) >= DECIDES_AFTER_PX) decide(done.on, done.by > 0 ? "approve" : "reject");
  }

  function stopOnce(event) {
    event.preventDefault();
    event.stopPropagation();
  }

  function decide(on, ruling) {
    if (on.matches(".row")) decideRow(on, ruling);
    else act(ruling);
  }

  document.addEventListener("pointerdown", begin);
  document.addEventListener("pointermove", move);
  document.addEventListener("pointerup", lift);
  document.addEventListener("pointercancel", end);
}
