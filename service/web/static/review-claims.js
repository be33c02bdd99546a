// Claims the comment that a moderator looks at, and releases it when they leave.

import { fetchInTime } from "./review-sending.js";

// A comment that is only passed is not claimed.
const LOOKS_AFTER_MS = 400;
const CLAIM_EVERY_MS = 30_000;
const AWAY_AFTER_MS = 180_000;

let lastSeen = Date.now();
let looking = 0;
let renewing = 0;

for (const type of ["keydown", "pointerdown", "pointermove", "scroll"]) {
  document.addEventListener(type, () => { lastSeen = Date.now(); }, { capture: true, passive: true });
}

export async function claim(ends) {
  const url = document.querySelector("#opened [data-claim]")?.dataset.claim;
  const token = document.querySelector("#opened [name=csrf_token]")?.value;
  if (!url || !token) return;
  const body = new URLSearchParams({ csrf_token: token, ...(ends ? { end: "1" } : {}) });
  await fetchInTime(url, { method: "POST", body, keepalive: true }).catch(() => null);
}

export function claimAnew({ isNew }) {
  window.clearTimeout(looking);
  window.clearInterval(renewing);
  if (isNew) looking = window.setTimeout(() => claim(false), LOOKS_AFTER_MS);
  renewing = window.setInterval(() => {
    if (document.visibilityState === "visible" && Date.now() - lastSeen < AWAY_AFTER_MS) claim(false);
  }, CLAIM_EVERY_MS);
}
