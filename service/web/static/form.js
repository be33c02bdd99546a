// Sends a token and counts with a form: no cookie, storage, fingerprint, rhythm of keys, no request
// before a form is touched. A tag with `data-comments` also gets comments.
(() => {
  "use strict";
  const tag = document.currentScript;
  const home = tag.src.replace(/form\.js[^/]*$/, "");
  const PUT_IN = /^insert(From(Paste|Drop|Yank)|Replacement)/;
  const forms = new WeakMap();
  const restored = new WeakSet();
  const page = { pointer: 0, touch: 0 };

  const formOf = (target) => {
    const form = target.closest?.("form");
    return form?.querySelector("textarea,[contenteditable]") ? form : null;
  };
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (two) => parseInt(two, 16));
  const hex = (buffer) =>
    Array.from(new Uint8Array(buffer), (one) => one.toString(16).padStart(2, 0)).join("");

  // What strangers wrote becomes text by this, never markup.
  const make = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    made.append(...children);
    return made;
  };
  // One hidden field a name, none without value.
  const setHidden = (form, name, value) => {
    form.querySelector(`[name=${name}]`)?.remove();
    if (value) form.append(make("input", { type: "hidden", name, value }));
  };

  // An ALTCHA challenge: count up until the key begins as it should.
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

  // Of a query, what names a post in WordPress.
  const [number = ""] = /[?&]p(age_id)?=\d+/.exec(location.search) ?? [];
  const pageOf = (form) =>
    form?.querySelector("[name=post_url]")?.value ||
    location.origin + location.pathname + number.replace("&", "?");

  async function ask(seen, form) {
    const where = encodeURIComponent(pageOf(form));
    const answer = await fetch(`${home}form-token?page=${where}`, { credentials: "omit" });
    if (!answer.ok) return;
    seen.challenge = await answer.json();
    seen.solution = await solve(seen.challenge.parameters);
  }

  function seenOf(form) {
    let seen = forms.get(form);
    // An empty box after sending is for another.
    if (!seen || (seen.sent && ![...form.querySelectorAll("textarea")].some((box) => box.value))) {
      seen = { from: performance.now(), keys: 0, pastes: +restored.has(form), other_inputs: 0 };
      forms.set(form, seen);
      ask(seen, form).catch(() => {});
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

  // What browsers put back was typed.
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
    // An editor's frame shows no keys.
    if (!form.querySelector("iframe")) Object.assign(behaviour, { keys, pastes, other_inputs });
    setHidden(form, "slopsieve_form", btoa(JSON.stringify({ challenge, solution, behaviour })));
    seen.sent = true;
  });

  if (tag.dataset.comments === undefined) return;
  // Deeper threads go on there.
  const MOST_DEPTH = 3;
  // Loaded at once to find a comment that the address names.
  const MOST_PAGES = 20;
  const hook = home.replace(/\/public\/([^/]+)\/$/, "/hooks/$1");
  const { lang } = document.documentElement;
  const options = { credentials: "omit", headers: { Accept: "application/json" } };
  if (lang) options.headers["Accept-Language"] = lang;

  const button = (onclick, ...children) =>
    Object.assign(make("button", { type: "button" }, ...children), { onclick });

  async function begin() {
    const words = await (await fetch(`${home}words`, options)).json();
    let form = document.querySelector(`form[action="${hook}"]`);
    const post = tag.dataset.comments || pageOf(form);
    const rows = new Map();
    const list = make("ol", { class: "slopsieve-comments" });
    const said = make("p", { role: "status" });
    const say = (...what) => said.replaceChildren(...what);
    const target = make("p");
    const more = button(() => load(last + 1), words.more);
    more.hidden = true;
    let last = 1;
    let sendings = 0;

    function show({ id, author, author_url, at, text, reply_to, reply_to_hidden }) {
      if (rows.has(id)) return;
      const parent = rows.get(reply_to);
      const name = () => make("bdi", {}, author || words.anonymous);
      const link = { href: author_url, rel: "nofollow ugc" };
      const day = new Date(at).toLocaleDateString(words.language, { dateStyle: "long" });
      const by = make("p", { class: "slopsieve-by" });
      by.append(/^https?:/i.test(author_url) ? make("a", link, name()) : name(), " ");
      by.append(make("a", { href: `#${id}` }, make("time", { datetime: at }, day)), " ");
      if (parent) by.append(make("a", { href: `#${reply_to}` }, words.answers, " ", parent.name()));
      else if (reply_to_hidden) by.append(words.hidden);
      const body = make("div", { class: "slopsieve-text", dir: "auto" }, text);
      body.style.whiteSpace = "pre-wrap";
      const reply = button(() => answer(id, name()), words.reply, " ", name());
      const item = make("li", { id }, by, body, reply);
      item.style.listStyle = "none";
      const depth = parent ? Math.min(parent.depth + 1, MOST_DEPTH) : 0;
      if (depth > parent?.depth) parent.replies ??= parent.item.appendChild(make("ol"));
      (parent ? (parent.replies ?? parent.item.parentNode) : list).append(item);
      rows.set(id, { item, name, text, depth });
    }

    async function load(page, cache) {
      const where = `${home}comments?post=${encodeURIComponent(post)}&page=${page}`;
      const found = await fetch(where, { ...options, cache });
      if (!found.ok) return;
      const { comments, next_page } = await found.json();
      // What a build put here is as old as it.
      document.querySelector("ol.slopsieve-comments:not(.slopsieve *)")?.remove();
      comments.forEach(show);
      last = page;
      more.hidden = !next_page;
      return next_page;
    }

    function answer(id, name) {
      setHidden(form, "reply_to", id);
      target.replaceChildren();
      if (!id) return;
      target.append(words.reply, " ", name, " ", button(() => answer(), words.end));
      form.querySelector("textarea").focus();
    }

    async function send(event) {
      event.preventDefault();
      const mine = ++sendings;
      say(words.sending);
      const box = form.querySelector("textarea");
      try {
        const body = new URLSearchParams(new FormData(form));
        const sent = await fetch(hook, { ...options, method: "POST", body });
        const { title, detail, statement_url } = await sent.json();
        if (sent.ok) {
          say(words.waits, " ", make("a", { href: new URL(statement_url, home) }, words.why));
          look(box.value.trim(), mine);
          box.value = "";
          answer();
        } else say(`${title}. ${detail}`);
      } catch {
        say(words.away);
      }
    }

    async function look(text, mine) {
      const before = new Set(rows.keys());
      for (const wait of [1e3, 4e3]) {
        await new Promise((done) => setTimeout(done, wait));
        for (let page = last; page; ) page = await load(page, "no-cache");
        for (const [id, row] of rows)
          if (!before.has(id) && row.text.trim() === text) {
            // What is said by now may be about a later comment.
            if (mine === sendings) say(words.shown);
            return;
          }
      }
    }

    const field = (name, kind, how) =>
      make("p", {}, make("label", {}, words[name], make("br"), make(kind, { name, ...how })));
    const input = (name, type, maxlength) =>
      field(name, "input", { type, maxlength, autocomplete: name });

    const box = make("section", { class: "slopsieve" }, list, more);
    if (!form) {
      const trap = field("homepage", "input", { tabindex: -1, autocomplete: "off" });
      trap.hidden = true;
      form = make("form", { method: "post", action: hook });
      form.append(field("text", "textarea", { rows: 6, required: "" }), input("name", "text", 300));
      form.append(input("email", "email", 320), input("url", "url", 2048), trap);
      setHidden(form, "post_url", post);
      setHidden(form, "post_title", document.title.slice(0, 500));
      form.append(make("button", {}, words.send));
      box.append(form);
    }
    form.prepend(target);
    form.append(said);
    form.addEventListener("submit", send);
    tag.after(box);
    box.style.overflowWrap = "anywhere";
    list.style.padding = 0;
    const linked = location.hash.slice(1);
    let next = 1;
    do next = await load(next);
    while (next && next <= MOST_PAGES && linked.startsWith("com_") && !rows.has(linked));
    rows.get(linked)?.item.scrollIntoView();
  }

  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
  else begin();
})();
