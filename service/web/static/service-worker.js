// Answers with a page of its own where there is no connection. It keeps that page, its style sheet and the sign:
// nothing that a comment, a name or a session stands in.

const KEPT = "slopsieve-shell-";
const given = new URL(self.location.href).searchParams;
const shell = { name: KEPT + given.get("shell"), page: "/offline", files: given.getAll("file") };

self.addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(shell.name);
    await cache.addAll([shell.page, ...shell.files].map((url) => new Request(url, { credentials: "same-origin", cache: "reload" })));
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith(KEPT) && name !== shell.name).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

const kept = async (url) => (await (await caches.open(shell.name)).match(url)) ?? Response.error();

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const path = new URL(request.url).pathname;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => kept(shell.page)));
  else if (shell.files.includes(path)) event.respondWith(fetch(request).catch(() => kept(path)));
});
