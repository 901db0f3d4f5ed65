/**
 * Makes docs/terminal.svg, the picture in the README, from what the built command line prints: `node docs/terminal.mjs`.
 * With `--print` the picture goes to stdout; a test compares that with the file.
 */

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSeed, startEmulator } from "../dist/emulator/index.js";

const PROGRAM = fileURLToPath(new URL("../dist/bin/tenon.js", import.meta.url));
const PICTURE = new URL("terminal.svg", import.meta.url);

const ACCOUNT = `
vpcs:
  - label: prod
    region: us-east
    subnets: [{ label: web, ipv4: 10.0.1.0/24 }, { label: batch, ipv4: 10.0.9.0/24 }]
nodes:
  - { id: 21, interfaces: [{ id: 31, subnet: prod/batch, active: true, config_id: 41, address: 10.0.9.2 }] }
domains:
  - domain: example.com
    soa_email: hostmaster@example.com
    records:
      - { type: A, name: www, target: 198.51.100.10, ttl_sec: 300 }
      - { type: A, name: old, target: 198.51.100.9, ttl_sec: 300 }
      - { type: CNAME, name: shop, target: www.example.com, ttl_sec: 300 }
`;

const PROJECT = `tenon: 1
vpcs:
  - label: prod
    region: us-east
    subnets:
      - { label: web, ipv4: 10.0.1.0/24 }
      - { label: db, ipv4: 10.0.2.0/24 }
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    records:
      - { type: A, name: www, target: 198.51.100.20, ttl_sec: 300 }
      - { type: A, name: shop, target: 198.51.100.21, ttl_sec: 300 }
      - { type: MX, target: mx.example.net., priority: 10 }
`;
const BROKEN = PROJECT.replace("name: shop, target", "name: shop, taget");

/** Each with the project as it is then. */
const SCENES = [
  { project: BROKEN, args: ["validate"] },
  { project: PROJECT, args: ["plan"] },
];

/** What a terminal shows: prompts, commands and their coloured output. */
async function record() {
  const folder = await mkdtemp(join(tmpdir(), "tenon-terminal-"));
  const emulator = await startEmulator({ seed: parseSeed(ACCOUNT) });
  try {
    const env = {
      PATH: process.env.PATH,
      FORCE_COLOR: "1",
      TENON_BASE_URL: emulator.baseUrl,
      TENON_TOKEN: "emulator-token",
    };
    const shown = [];
    for (const { project, args } of SCENES) {
      await writeFile(join(folder, "tenon.yaml"), project);
      shown.push(
        `\u001b[2m$\u001b[22m \u001b[1mtenon ${args.join(" ")}\u001b[22m\n${await run(args, { cwd: folder, env })}`,
      );
    }
    return shown.join("\n").trimEnd();
  } finally {
    await emulator.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Results and messages; of the commands here each prints one of them only. */
function run(args, options) {
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], options, (_, stdout, stderr) => resolve(stderr + stdout));
  });
}

const FONT_PIXELS = 13;
const COLUMN_PIXELS = 7.85;
const LINE_PIXELS = 18;
const MARGIN_PIXELS = 18;

/** Numbers of SGR sequences → classes; those that end a style, with what they end. */
const BEGINS = {
  1: "bold",
  2: "dim",
  31: "red",
  32: "green",
  33: "yellow",
  34: "blue",
  35: "magenta",
  36: "cyan",
  90: "dim",
};
const ENDS = { 22: ["bold", "dim"], 39: ["red", "green", "yellow", "blue", "magenta", "cyan", "dim"] };

const STYLE = `
  text { font: ${FONT_PIXELS}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #1f2328 }
  rect { fill: #f6f8fa; stroke: #d1d9e0 }
  .bold { font-weight: 600 } .dim { fill: #59636e } .red { fill: #b91c1c } .green { fill: #116329 }
  .yellow { fill: #7d4e00 } .blue { fill: #0550ae } .magenta { fill: #8250df } .cyan { fill: #0b6a75 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    rect { fill: #0d1117; stroke: #3d444d }
    .dim { fill: #9198a1 } .red { fill: #ff7b72 } .green { fill: #56d364 }
    .yellow { fill: #e3b341 } .blue { fill: #79c0ff } .magenta { fill: #d2a8ff } .cyan { fill: #56d4dd }
  }`;

function picture(text) {
  const styles = new Set();
  const lines = text.split("\n").map((line) => spansOf(line, styles));
  const columns = Math.max(...lines.map((spans) => spans.reduce((sum, span) => sum + [...span.text].length, 0)));
  const width = Math.ceil(columns * COLUMN_PIXELS + 2 * MARGIN_PIXELS);
  const height = lines.length * LINE_PIXELS + 2 * MARGIN_PIXELS;
  const rows = lines.flatMap((spans, index) => {
    if (spans.length === 0) return [];
    const y = MARGIN_PIXELS + index * LINE_PIXELS + FONT_PIXELS;
    return [`<text x="${MARGIN_PIXELS}" y="${y}" xml:space="preserve">${spans.map(tspan).join("")}</text>`];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    "<title>tenon validate points at a misspelt key; tenon plan shows changes, a gap and a blocked deletion</title>",
    `<style>${STYLE}\n</style>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...rows,
    "</svg>\n",
  ].join("\n");
}

/** Styles last beyond the end of a line: `styles` is what is on. */
function spansOf(line, styles) {
  const spans = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal is told in
  for (const [, codes, text] of line.matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
    if (text !== undefined) spans.push({ text, classes: [...styles] });
    for (const code of codes === undefined ? [] : codes.split(";")) {
      if (code === "0" || code === "") styles.clear();
      for (const style of ENDS[code] ?? []) styles.delete(style);
      if (BEGINS[code] !== undefined) styles.add(BEGINS[code]);
    }
  }
  return spans;
}

function tspan({ text, classes }) {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return classes.length === 0 ? escaped : `<tspan class="${classes.join(" ")}">${escaped}</tspan>`;
}

const svg = picture(await record());
if (process.argv.includes("--print")) process.stdout.write(svg);
else await writeFile(PICTURE, svg);
