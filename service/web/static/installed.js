// What an installed page can do more: open without a connection, and show beside its sign how much waits.
import { ownScript, part } from "./review-page.js";

function showBadge() {
  const waiting = Number(part("tabs").querySelector("[data-waiting]")?.dataset.waiting ?? 0);
  // Browsers that have no such badge, or do not allow it, do without.
  const shown = waiting ? navigator.setAppBadge?.(waiting) : navigator.clearAppBadge?.();
  shown?.catch(() => {});
}

export function install() {
  showBadge();
  new MutationObserver(showBadge).observe(part("tabs"), { childList: true });
  const worker = document.body.dataset.worker;
  if (worker) navigator.serviceWorker?.register(ownScript(worker)).catch(() => {});
}
