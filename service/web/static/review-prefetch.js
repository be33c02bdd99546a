// Prefetches the next comments, so that a key shows one at once.

import { fetchInTime, nextPause, pauseOf } from "./review-sending.js";

const AT_ONCE = 3;

export class Prefetcher {
  #held = new Map();
  #wanted = [];
  #running = false;
  #parts;

  constructor({ parse, arrived, changed }) {
    this.#parts = { parse, arrived, changed };
    this.why = "";
  }

  // Returns a comment's view, null while it is loading, undefined if the comment no longer exists.
  get(id) { return this.#held.has(id) ? this.#held.get(id) : null; }

  drop(id) { this.#held.delete(id); }

  // Prefetches these comments in order, and drops all others.
  want(ids) {
    this.#wanted = ids;
    for (const id of this.#held.keys()) if (!ids.includes(id)) this.#held.delete(id);
    this.#run();
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    let ms = 0;
    for (;;) {
      const missing = this.#wanted.filter((id) => !this.#held.has(id)).slice(0, AT_ONCE);
      if (!missing.length) break;
      const { why, views } = await this.fetch(missing);
      this.why = why;
      this.#parts.changed();
      if (why) {
        ms = nextPause(ms);
        await pauseOf(ms);
        continue;
      }
      ms = 0;
      for (const id of missing) this.#held.set(id, views.get(id));
      this.#parts.arrived();
    }
    this.#running = false;
  }

  async fetch(ids, values = {}) {
    const url = new URL(document.body.dataset.prefetch, window.location.href);
    url.search = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(window.location.search)), ...values, id: ids.join(",") });
    try {
      const answer = await fetchInTime(url, { redirect: "manual" });
      if (answer.type === "opaqueredirect") return { why: "signed-out" };
      if (!answer.ok) return { why: "away" };
      const page = this.#parts.parse(await answer.text());
      return { why: "", views: new Map([...page.querySelectorAll("[data-prefetched]")].map((view) => [view.dataset.prefetched, view])) };
    } catch {
      return { why: navigator.onLine ? "away" : "offline" };
    }
  }
}
