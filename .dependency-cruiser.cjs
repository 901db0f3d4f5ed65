/** Which way imports may point. Run by `.ci/imports.mjs`, which also fails when no module was found. */

/** A folder of src that may import itself, the named folders, and nothing else of src. */
function only(name, from, allowed, comment) {
  return { name, comment, severity: "error", from: { path: from }, to: { path: "^src/", pathNot: allowed } };
}

/** Of package.json's libraries those that the package bundles; the others are tools. */
const BUNDLED = [
  ...[
    "@clack/prompts",
    "@fastify/multipart",
    "@opentelemetry/api",
    "@opentelemetry/context-async-hooks",
    "@opentelemetry/exporter-trace-otlp-http",
    "@opentelemetry/resources",
    "@opentelemetry/sdk-trace",
    "ajv",
    "bullmq",
    "bullmq-otel",
    "commander",
    "csv-parse",
    "dns-packet",
    "fast-deep-equal",
    "fastest-levenshtein",
    "fastify",
    "get-east-asian-width",
  ],
  ...[
    "ioredis",
    "ipaddr.js",
    "pg",
    "pg-connection-string",
    "picocolors",
    "semver",
    "undici",
    "vscode-languageserver",
    "vscode-languageserver-textdocument",
    "yaml",
  ],
];

module.exports = {
  forbidden: [
    {
      name: "no-circular",
      comment: "Parts that import each other can be neither understood nor tested alone.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-unresolvable",
      comment: "An import that leads nowhere fails only when it is run.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-development-library",
      comment: "The package has no dependencies: each library that it bundles was chosen for that, and tools were not.",
      severity: "error",
      from: { path: "^src/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        dependencyTypesNot: ["type-only"],
        pathNot: `(^|/)node_modules/(${BUNDLED.join("|").replaceAll(".", "\\.")})/`,
      },
    },
    only(
      "model-imports-nothing",
      "^src/model/",
      ["^src/model/"],
      "The data types are what all parts share: they may depend on none of them.",
    ),
    only(
      "wire-imports-nothing",
      "^src/api/wire\\.ts$",
      ["^src/api/wire\\.ts$"],
      "The wire types are shared with the emulator, which must not learn anything from the product.",
    ),
    only(
      "files-import-model",
      "^src/files/",
      ["^src/(files|model)/"],
      "Reading and writing files knows nothing of what is in them.",
    ),
    only("dns-imports-model", "^src/dns/", ["^src/(dns|model)/"], "DNS knows names and rdata, not plans or services."),
    only(
      "api-imports-model",
      "^src/api/(?!wire\\.ts$)",
      ["^src/(api|model)/"],
      "The client carries requests; what they mean is the units' business.",
    ),
    only(
      "units-are-domain-knowledge",
      "^src/units/",
      ["^src/(units|model|dns)/", "^src/api/wire\\.ts$"],
      "A unit is handed the api; it neither plans, applies nor renders.",
    ),
    {
      name: "units-never-import-each-other",
      comment: "A network, a zone and an image must stay independent, so that each can be read and applied alone.",
      severity: "error",
      from: { path: "^src/units/([^/]+)/" },
      to: { path: "^src/units/[^/]+/", pathNot: ["^src/units/$1/"] },
    },
    {
      name: "units-do-not-know-the-registry",
      comment: "A new kind is one folder and one line in the registry; the line points one way.",
      severity: "error",
      from: { path: "^src/units/[^/]+/" },
      to: { path: "^src/units/index\\.ts$" },
    },
    only(
      "pipeline-parts-are-handed-their-units",
      "^src/(manifest|live|plan|apply|render|lint|verify)/(?!index\\.ts$)",
      ["^src/(model|dns|files)/", "^src/$1/(?!index\\.ts$)"],
      "The parts of the pipeline are generic: they get `units` and `api` as arguments and never import each other.",
    ),
    only(
      "saved-files-are-read-back",
      "^src/saved/",
      ["^src/(files|model|render|saved)/"],
      "What Tenon wrote is read back as data; what it means is for the pipeline.",
    ),
    only(
      "tickets-are-beside-the-pipeline",
      "^src/tickets/",
      ["^src/(dns|files|model|render|saved|tickets)/", "^src/apply/interrupt\\.ts$"],
      "Tickets are no resources that are planned: they are handed an api, and share with an apply how a run is stopped.",
    ),
    only(
      "watch-is-beside-the-pipeline",
      "^src/watch/",
      ["^src/(api|model|watch)/"],
      "A watch is handed how to look; it knows how to tell what is new, and to whom.",
    ),
    only(
      "fleet-is-beside-the-pipeline",
      "^src/fleet/",
      [
        "^src/(fleet|files|model)/",
        "^src/api/index\\.ts$",
        "^src/manifest/(assemble|files|limits|positions|validate)\\.ts$",
        "^src/render/terminal\\.ts$",
      ],
      "A fleet is handed how to run an account; it knows which accounts there are, and when each has its turn.",
    ),
    only(
      "lsp-serves-editors",
      "^src/lsp/",
      [
        "^src/(dns|files|lsp|manifest|model)/",
        "^src/format/reformat\\.ts$",
        "^src/render/(explain|terminal|markdown/parts)\\.ts$",
        "^src/units/index\\.ts$",
      ],
      "The language server is handed how a project is checked; it reads files for the loader, knows what `explain` and `fmt` know, and shows it as markdown.",
    ),
    only(
      "format-writes-manifests",
      "^src/format/(?!index\\.ts$)",
      ["^src/(model|dns)/", "^src/format/(?!index\\.ts$)", "^src/render/terminal\\.ts$"],
      "The one place that knows how manifests are laid out, whoever has them written.",
    ),
    only(
      "import-brings-foreign-data-in",
      "^src/import/(?!index\\.ts$)",
      ["^src/(model|dns|files|format)/", "^src/api/wire\\.ts$", "^src/import/(?!index\\.ts$)"],
      "What was kept elsewhere becomes manifests, if need be by way of the service's objects; units that are handed in read these.",
    ),
    only(
      "export-writes-for-other-tools",
      "^src/export/(?!index\\.ts$)",
      [
        "^src/(model|dns|files|units)/",
        "^src/api/wire\\.ts$",
        "^src/export/(?!index\\.ts$)",
        "^src/render/listing\\.ts$",
      ],
      "What units know of their objects is said in other tools' words: it asks them for the service's own, and neither reads nor plans by itself.",
    ),
    only(
      "faces-bind-their-part-to-the-units",
      "^src/(export|format|import|lint|live|render|verify)/index\\.ts$",
      ["^src/(api|dns|files|manifest|model|render|saved|units)/", "^src/$1/"],
      "The index of a part is what others see of it (`tenon/import`): it hands the part its units, and knows no other part but how text is read and shown.",
    ),
    only(
      "emulator-shares-no-code-with-the-product",
      "^src/emulator/",
      ["^src/emulator/", "^src/api/wire\\.ts$", "^src/dns/"],
      "An emulator that used the product's code would share its bugs, and every test against it would pass.",
    ),
    {
      name: "only-cli-imports-index",
      comment: "The library's face is for those outside; inside, it would close a circle.",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/cli/"] },
      to: { path: "^src/index\\.ts$" },
    },
    {
      name: "only-the-face-imports-the-pipeline",
      comment: "What binds all parts together is imported by none of them.",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/(index|open|pipeline)\\.ts$"] },
      to: { path: "^src/(open|pipeline)\\.ts$" },
    },
    {
      name: "nothing-imports-cli",
      comment: "What the command line can do, the library can do.",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/cli/"] },
      to: { path: "^src/cli/" },
    },
    only(
      "cli-imports-faces-only",
      "^src/cli/",
      [
        "^src/(cli|files|model|render)/",
        "^src/index\\.ts$",
        "^src/(emulator|export|fleet|format|import|live|lsp|tickets|verify|watch)/index\\.ts$",
      ],
      "The command line uses what every user of the library can use, and what shows it.",
    ),
    {
      name: "only-the-program-hands-on-what-writes",
      comment:
        "A command that reads holds a client that cannot write; only those that the program lists as writing get one.",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/cli/program\\.ts$"] },
      to: { path: "^src/cli/writer\\.ts$" },
    },
    {
      name: "undici-belongs-to-api",
      comment: "One client means one limiter, one retry budget and one place that holds the token.",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/api/"] },
      to: { path: "node_modules/undici/" },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { conditionNames: ["import", "node", "default", "types"], exportsFields: ["exports"] },
  },
};
