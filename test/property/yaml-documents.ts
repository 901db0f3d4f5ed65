/** Documents of YAML: of the common kind, spelled in all its ways, and with a few characters changed. */

export type Below = (bound: number) => number;

/** A mapping in block style with all that the reader of common YAML knows. */
export function commonDocument(below: Below): string {
  const text = [
    below(4) === 0 ? "---\n" : "",
    ...blankLines(below),
    ...blockMap(below, 0, 3),
    ...blankLines(below),
  ].join("");
  return below(6) === 0 ? text.trimEnd() : text;
}

/** One to five characters, lines or pieces put in, taken out or moved. */
export function mutated(document: string, below: Below): string {
  let text = document;
  for (let count = 1 + below(5); count > 0; count -= 1) text = changed(text, below);
  return text;
}

const PIECES: readonly string[] = [
  ...[
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\r\n",
    ":",
    ": ",
    ":\n",
    "-",
    "- ",
    "-\n",
    " #",
    "#",
    " # c\n",
    ",",
    ", ",
    "{",
    "}",
  ],
  ...[
    "[",
    "]",
    "{}",
    "[]",
    "'",
    '"',
    "''",
    "\\",
    "\\n",
    "&a ",
    "*a",
    "!!str ",
    "!x ",
    "|",
    "|\n",
    ">",
    "? ",
    "%",
    "@",
    "`",
  ],
  ...[
    "---",
    "---\n",
    "\n---\n",
    "...",
    "\n...\n",
    "null",
    "~",
    "true",
    "True",
    "yes",
    "0",
    "01",
    "0x1f",
    "0o7",
    "1e3",
    ".5",
  ],
  ...[
    "-1",
    "+1",
    ".inf",
    "1.",
    "<<",
    "${var.a}",
    "é",
    "\u00a0",
    "\u2028",
    "\ufeff",
    "\u0085",
    "日本",
    "🙂",
    "=",
    ";",
    "a",
    "key: v",
  ],
  ...["\n  ", "\n    ", "\n- ", "\n  - ", "\n# c\n", "{ a: 1 }", "[a, b]", "a: ", "b: {", "__proto__: 1"],
];

function changed(text: string, below: Below): string {
  const at = below(text.length + 1);
  const lines = text.split("\n");
  const line = below(lines.length);
  switch (below(6)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + below(3));
    case 1:
      return lines.toSpliced(line, 1).join("\n");
    case 2:
      return lines.toSpliced(below(lines.length), 0, lines[line] as string).join("\n");
    case 3:
      return lines.with(line, `${" ".repeat(1 + below(3))}${lines[line]}`).join("\n");
    case 4:
      return lines.with(line, (lines[line] as string).replace(/^ {1,2}/, "")).join("\n");
    default:
      return text.slice(0, at) + PIECES[below(PIECES.length)] + text.slice(at);
  }
}

function blankLines(below: Below): string[] {
  return Array.from({ length: below(5) === 0 ? 1 + below(2) : 0 }, () => {
    const blank = " ".repeat(below(4));
    return below(2) === 0 ? `${blank}\n` : `${blank}# comment: [x, "y\n`;
  });
}

function blockMap(below: Below, indent: number, depth: number): string[] {
  const names = keys(below);
  return names.flatMap((name) => [" ".repeat(indent), ...entry(below, name, indent, depth), ...blankLines(below)]);
}

/** A key and its value, from the key on. */
function entry(below: Below, name: string, indent: number, depth: number): string[] {
  const deeper = indent + 1 + below(4);
  switch (depth > 0 ? below(4) : 0) {
    case 1:
      return [`${name}:${lineEnd(below)}`, ...blankLines(below), ...blockMap(below, deeper, depth - 1)];
    case 2:
      return [
        `${name}:${lineEnd(below)}`,
        ...blankLines(below),
        ...blockList(below, below(2) === 0 ? indent : deeper, depth - 1),
      ];
    default:
      return [`${name}:${" ".repeat(1 + below(3))}`, lineValue(below)];
  }
}

function blockList(below: Below, indent: number, depth: number): string[] {
  return Array.from({ length: 1 + below(4) }, () => {
    const gap = 1 + below(3);
    const inner = indent + 1 + gap;
    const dash = `${" ".repeat(indent)}-`;
    switch (depth > 0 ? below(4) : 0) {
      case 1: {
        const [first, ...rest] = keys(below) as [string, ...string[]];
        return [
          ...[dash, " ".repeat(gap), ...entry(below, first, inner, depth - 1), ...blankLines(below)],
          ...rest.flatMap((name) => [" ".repeat(inner), ...entry(below, name, inner, depth - 1)]),
        ].join("");
      }
      case 2:
        return [dash, lineEnd(below), ...blankLines(below), ...blockMap(below, inner, depth - 1)].join("");
      default:
        return [dash, " ".repeat(gap), lineValue(below), ...blankLines(below)].join("");
    }
  });
}

function lineEnd(below: Below): string {
  return `${" ".repeat(below(3))}${below(5) === 0 ? " # why: it is {" : ""}\n`;
}

function lineValue(below: Below): string {
  const value = below(4) === 0 ? flow(below, 2) : pick(below, [...SCALARS, ...BLOCK_SCALARS]);
  const isCut = /[;=]/.test(value);
  return `${value}${isCut ? "\n" : lineEnd(below)}`;
}

function flow(below: Below, depth: number): string {
  const space = (): string => " ".repeat(below(3));
  const value = (): string => (depth > 0 && below(4) === 0 ? flow(below, depth - 1) : pick(below, SCALARS));
  const isMap = below(2) === 0;
  const items = isMap
    ? keys(below).map((name) => `${name}: ${space()}${value()}`)
    : Array.from({ length: 1 + below(4) }, value);
  if (below(8) === 0) return isMap ? `{${space()}}` : `[${space()}]`;
  const joined = items.map((item) => `${space()}${item}${space()}`).join(",");
  const trailing = below(5) === 0 ? `,${space()}` : "";
  return isMap ? `{${joined}${trailing}}` : `[${joined}${trailing}]`;
}

function keys(below: Below): string[] {
  const names = new Set(Array.from({ length: 1 + below(4) }, () => pick(below, KEYS)));
  return [...names];
}

function pick(below: Below, list: readonly string[]): string {
  return list[below(list.length)] as string;
}

const KEYS: readonly string[] = [
  ...["tenon", "domains", "records", "type", "name", "target", "ttl_sec", "a.b-c/d", "_x", "__proto__", "constructor"],
  ...["null", "true", '"quoted key"', "'single'", '"a: b"', "x-1"],
];
/** Scalars that stand in block and in flow collections. */
const SCALARS: readonly string[] = [
  ...[
    "a",
    "www",
    "192.0.2.1",
    "10.0.0.0/24",
    "2001:db8::1",
    "2026-11",
    "1h",
    "0",
    "7",
    "300",
    "999999999999999",
    "true",
    "false",
  ],
  ...[
    "null",
    "~",
    "nullable",
    "truest",
    "a b c",
    "a:b",
    "a#b",
    "_dmarc",
    "/x",
    "$x",
    "x@y.example",
    "é",
    "日本語",
    "🙂",
    "^a(b)",
  ],
  ...[
    '"quoted"',
    "'single'",
    '""',
    "''",
    '"# no comment"',
    "'a: b, [c]'",
    '"  "',
    "it's",
    'say"so"',
    "a-b",
    "1.2.3",
    "+a",
  ],
  ...["v=spf1 include:x -all", "p=none; x"],
];
/** Scalars that stand in block collections only. */
const BLOCK_SCALARS: readonly string[] = ["${var.name}", "a, b", "a]b", "a{b}", "x[1]", "a ,b", "$" + "{env.x}-1"];
