// Keyboard shortcuts. A user can change or disable them for each browser.

export const DEFAULTS = {
  next: "j", previous: "k", approve: "a", reject: "r", skip: "z", undo: "u", note: "n", select: "x",
  open: "o", reveal: "s", top: "g", search: "/", help: "?",
};

const name = `keys of ${document.querySelector("[data-user]")?.dataset.user ?? ""}`;
let keys = { ...DEFAULTS, ...load() };

// The stored value may be of another version or edited.
function load() {
  try {
    const kept = Object.entries(JSON.parse(window.localStorage.getItem(name) ?? "{}"));
    return Object.fromEntries(kept.filter(([act, key]) => act in DEFAULTS && isKey(key)));
  } catch {
    return {};
  }
}

function isKey(key) {
  return typeof key === "string" && [...key].length === 1 && key.trim() === key && key === key.toLowerCase();
}

export const areOn = () => window.localStorage.getItem("keys") !== "off";
export const switchKeys = (on) => window.localStorage.setItem("keys", on ? "on" : "off");
export const keyOf = (act) => keys[act];

// Returns "" if these keys are stored, else the problem: { problem: "empty" | "clash", key, acts }.
export function change(wanted) {
  const asked = Object.entries(wanted).map(([act, key]) => [act, key.trim().toLowerCase()]);
  const bad = asked.find(([, key]) => !isKey(key));
  if (bad) return { problem: "empty", key: bad[1], acts: [bad[0]] };
  for (const [act, key] of asked) {
    const [other] = asked.find(([one, its]) => its === key && one !== act) ?? [];
    if (other) return { problem: "clash", key, acts: [act, other] };
  }
  keys = { ...DEFAULTS, ...Object.fromEntries(asked) };
  const changed = Object.entries(keys).filter(([act, key]) => DEFAULTS[act] !== key);
  if (changed.length) window.localStorage.setItem(name, JSON.stringify(Object.fromEntries(changed)));
  else window.localStorage.removeItem(name);
  label(document);
  return "";
}

// Returns the action of a key press; undefined if there is none, or while the user types text.
export function actOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !areOn()) return undefined;
  if (event.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]")) return undefined;
  if (event.key.length !== 1) return undefined;
  const key = event.key.toLowerCase();
  return Object.keys(keys).find((act) => keys[act] === key);
}

// Shows the stored keys next to the buttons.
function label(root) {
  for (const shown of root.querySelectorAll?.("kbd[data-act]") ?? []) {
    const says = (shown.dataset.before ?? "") + keys[shown.dataset.act].toUpperCase();
    if (shown.textContent !== says) shown.textContent = says;
  }
}

label(document);
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE) label(node.parentNode ?? node);
}).observe(document.body, { childList: true, subtree: true });
