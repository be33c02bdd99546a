// Starts Swagger UI with full text search, without cookies and without storing the key.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", dress);
dress();

// Opens the problem that a problem document's type links to; not every browser does.
if (location.hash.startsWith("#problem")) {
  document.getElementById("problems").open = true;
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

const WORDS = ["summary", "description", "operationId"];
const says = (call, phrase) => [call.get("path"), call.get("method"), ...WORDS.map((word) => call.getIn(["operation", word]))]
  .some((text) => String(text ?? "").toLowerCase().includes(phrase));

// By default the search only covers tags and paths.
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
  // Requests have the key, but not the moderator's session.
  requestInterceptor: (request) => Object.assign(request, { credentials: "omit" }),
  onComplete: () => { document.documentElement.dataset.ready = "1"; },
});
