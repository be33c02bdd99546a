// Starts Swagger UI over this server's own document: search in all words, no cookies, no key kept.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", dress);
dress();

// A problem document's type leads to one of the problems, which not every browser opens by itself.
if (location.hash.startsWith("#problem")) {
  document.getElementById("problems").open = true;
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

const WORDS = ["summary", "description", "operationId"];
const says = (call, phrase) => [call.get("path"), call.get("method"), ...WORDS.map((word) => call.getIn(["operation", word]))]
  .some((text) => String(text ?? "").toLowerCase().includes(phrase));

// As it comes, the search looks at tags and paths alone.
const searchEverything = () => ({
  fn: {
    opsFilter: (tags, given) => {
      const phrase = given.trim().toLowerCase();
      return tags
        .map((tag) => tag.set("operations", tag.get("operations").filter((call) => says(call, phrase))))
        .filter((tag, name) => tag.get("operations").size || name.toLowerCase().includes(phrase));
    },
  },
});

window.SwaggerUIBundle({
  url: document.body.dataset.document,
  dom_id: "#swagger-ui",
  plugins: [searchEverything],
  filter: true,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  validatorUrl: null,
  // Calls go out as a program's would: with the key alone, never with a moderator's session.
  requestInterceptor: (request) => Object.assign(request, { credentials: "omit" }),
  onComplete: () => { document.documentElement.dataset.ready = "1"; },
});
