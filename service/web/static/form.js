// Sends a token and counts with a comment form: no cookie, no storage, no fingerprint, no rhythm of
// keys, no request before somebody touches a form.
(() => {
  "use strict";
  const home = document.currentScript.src.replace(/form\.js[^/]*$/, "");
  const PUT_IN = /^insert(From(Paste|Drop|Yank)|Replacement)/;
  const forms = new WeakMap();
  const restored = new WeakSet();
  const page = { pointer: 0, touch: 0, scroll: 0 };

  const formOf = (target) => {
    const form = target.closest?.("form");
    return form?.querySelector("textarea,[contenteditable]") ? form : null;
  };
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (two) => parseInt(two, 16));
  const hex = (buffer) =>
    Array.from(new Uint8Array(buffer), (one) => one.toString(16).padStart(2, 0)).join("");

  // An ALTCHA challenge: count up until the derived key begins as it should.
  async function solve({ nonce, salt, cost, keyLength, keyPrefix }) {
    const password = new Uint8Array([...bytes(nonce), 0, 0, 0, 0]);
    const end = new DataView(password.buffer, password.length - 4);
    const how = { name: "PBKDF2", hash: "SHA-256", salt: bytes(salt), iterations: cost };
    for (let counter = 0; counter < 1e3; counter++) {
      end.setUint32(0, counter);
      const key = await crypto.subtle.importKey("raw", password, how.name, false, ["deriveBits"]);
      const derivedKey = hex(await crypto.subtle.deriveBits(how, key, keyLength * 8));
      if (derivedKey.startsWith(keyPrefix)) return { counter, derivedKey };
    }
  }

  async function ask(seen) {
    const where = encodeURIComponent(location.origin + location.pathname);
    const answer = await fetch(`${home}form-token?page=${where}`, { credentials: "omit" });
    if (!answer.ok) return;
    seen.challenge = await answer.json();
    seen.solution = await solve(seen.challenge.parameters);
  }

  function seenOf(form) {
    let seen = forms.get(form);
    // A box that is empty after sending is for another comment.
    if (!seen || (seen.sent && ![...form.querySelectorAll("textarea")].some((box) => box.value))) {
      seen = { from: performance.now(), keys: 0, pastes: +restored.has(form), other_inputs: 0 };
      forms.set(form, seen);
      ask(seen).catch(() => {});
    }
    return seen;
  }

  const on = (kind, what) => addEventListener(kind, what, { capture: true, passive: true });
  const inForm = (kind, what) =>
    on(kind, (event) => {
      const form = formOf(event.target);
      if (form) what(seenOf(form), event, form);
    });

  inForm("focusin", () => {});
  inForm("keydown", (seen, { repeat }) => {
    seen.key = true;
    if (!repeat) seen.keys++;
  });
  inForm("input", (seen, { inputType }) => {
    if (PUT_IN.test(inputType)) seen.pastes++;
    else if (!seen.key) seen.other_inputs++;
    seen.key = false;
  });
  on("pointerdown", ({ pointerType }) => page[pointerType === "touch" ? "touch" : "pointer"]++);
  on("scroll", () => page.scroll++);

  // What the browser puts back was typed before.
  on("pageshow", ({ persisted }) => {
    for (const box of document.querySelectorAll("form textarea"))
      if (box.value !== box.defaultValue) {
        restored.add(box.form);
        if (persisted) forms.delete(box.form);
      }
  });

  inForm("submit", (seen, _, form) => {
    const { keys, pastes, other_inputs, challenge, solution } = seen;
    const seconds = (performance.now() - seen.from) / 1e3;
    const behaviour = { ...page, seconds, driven: navigator.webdriver };
    // Keys in an editor's frame are not seen.
    if (!form.querySelector("iframe")) Object.assign(behaviour, { keys, pastes, other_inputs });
    let field = form.querySelector("[name=slopsieve_form]");
    if (!field) {
      field = form.appendChild(document.createElement("input"));
      field.type = "hidden";
      field.name = "slopsieve_form";
    }
    field.value = btoa(JSON.stringify({ challenge, solution, behaviour }));
    seen.sent = true;
  });
})();
