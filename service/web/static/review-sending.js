// Sends a moderator's actions in order, one at a time, until the server has responded to each.

export const LIMIT_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
// After three failures of the server an action is given up, so that the next ones are sent.
const MOST_FAULTS = 3;

// A fetch with a timeout, which includes the response's body.
export const fetchInTime = (url, options = {}) =>
  fetch(url, { ...options, signal: AbortSignal.timeout(LIMIT_MS) });

export function pauseOf(ms) {
  return new Promise((wake) => {
    const timer = window.setTimeout(wake, ms);
    window.addEventListener("online", () => { window.clearTimeout(timer); wake(); }, { once: true });
  });
}

export const nextPause = (ms) => (ms ? Math.min(ms * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS);

// An action is { id, comment, kind: "approve" | "reject" | "skip" | "undo", seen, note }. `deliver` sends one
// and returns { state }: "done" and "refused" are final. After "looking", "away", "offline", "signed-out" and "fault"
// it is sent again with the same id, which is safe. `store` has ids and rulings, never texts.
export class Outbox {
  #unsent = [];
  #faults = 0;
  #running = false;
  #parts;

  constructor({ deliver, pause, store, changed, answered }) {
    this.#parts = { deliver, pause, store, changed, answered };
    this.why = "sending";
  }

  get unsent() { return [...this.#unsent]; }

  has(comment) { return this.#unsent.some((act) => act.comment === comment); }

  put(act) {
    this.#unsent.push(act);
    this.#save();
    this.#run();
  }

  // Restores and returns unsent actions of an earlier page of this tab, without notes: `noted` marks those.
  restore() {
    this.#unsent = [...this.#parts.store.load(), ...this.#unsent];
    this.#run();
    return this.unsent;
  }

  #save() {
    this.#parts.store.save(this.#unsent.map(({ note, ...act }) => (note ? { ...act, noted: true } : act)));
    this.#parts.changed();
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    let ms = 0;
    while (this.#unsent.length) {
      const act = this.#unsent[0];
      const answer = await this.#parts.deliver(act);
      this.#faults = answer.state === "fault" ? this.#faults + 1 : 0;
      const ends = ["done", "refused"].includes(answer.state) || this.#faults === MOST_FAULTS;
      this.why = ends ? "sending" : answer.state;
      if (ends) {
        this.#end(act, answer);
        ms = 0;
      } else {
        this.#parts.changed();
        ms = nextPause(ms);
        await this.#parts.pause(ms);
      }
    }
    this.#running = false;
  }

  #end(act, answer) {
    const isRefused = answer.state !== "done";
    this.#faults = 0;
    // A refused action cannot be undone.
    this.#unsent = this.#unsent.filter((one) => one !== act && !(isRefused && one.kind === "undo" && one.seen === act.id));
    this.#save();
    this.#parts.answered(act, answer, isRefused);
  }
}

export const newId = () => `dec_${[...crypto.getRandomValues(new Uint8Array(16))].map((n) => n.toString(16).padStart(2, "0")).join("")}`;

export function tabStore(name) {
  return {
    load() {
      try {
        return JSON.parse(window.sessionStorage.getItem(name) ?? "[]");
      } catch {
        return [];
      }
    },
    save(acts) {
      try {
        if (acts.length) window.sessionStorage.setItem(name, JSON.stringify(acts));
        else window.sessionStorage.removeItem(name);
      } catch {
        // No storage; the page asks before leaving.
      }
    },
  };
}

const ACTS = { approve: "decision", reject: "decision", undo: "undo", skip: "skip" };

// Returns the function that sends an action and interprets the response.
export function deliverer({ parse, user }) {
  let token = document.querySelector("[name=csrf_token]")?.value ?? "";

  async function post(act) {
    const body = new URLSearchParams(window.location.search);
    body.set("csrf_token", token);
    body.set("seen", act.seen ?? "");
    if (ACTS[act.kind] === "decision") {
      body.set("ruling", act.kind);
      body.set("decision", act.id);
      body.set("note", act.note ?? "");
    }
    const url = `${document.body.dataset.comments}/${encodeURIComponent(act.comment)}/${ACTS[act.kind]}`;
    const answer = await fetchInTime(url, {
      method: "POST", body, headers: { "X-Parts": "result" }, redirect: "manual", keepalive: true,
    });
    return { status: answer.type === "opaqueredirect" ? 303 : answer.status, page: parse(await answer.text()) };
  }

  // The session may have changed, also to another user's.
  async function renewToken(act) {
    const answer = await fetchInTime(`${document.body.dataset.prefetch}?id=${encodeURIComponent(act.comment)}`);
    const page = parse(await answer.text());
    const [known, fresh] = [token, page.querySelector("[name=csrf_token]")?.value];
    if (page.querySelector("[data-user]")?.dataset.user !== user) return "signed-out";
    token = fresh ?? token;
    return token === known ? "refused" : "renewed";
  }

  return async function deliver(act, isAgain = false) {
    try {
      const { status, page } = await post(act);
      if (status === 303) return { state: "signed-out" };
      if (status === 200) return { state: page.querySelector('[data-part="done"]') ? "done" : "looking", page };
      if (status === 403 && !isAgain) {
        const state = await renewToken(act);
        if (state !== "refused") return state === "renewed" ? await deliver(act, true) : { state };
      }
      if (status === 503 || status === 429) return { state: "away" };
      if (status === 500) return { state: "fault", page };
      return { state: status > 500 || status === 408 ? "looking" : "refused", page };
    } catch {
      return { state: navigator.onLine ? "looking" : "offline" };
    }
  };
}
