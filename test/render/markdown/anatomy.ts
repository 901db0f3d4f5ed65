/** Takes a comment apart by the rules of CommonMark 0.31.2, as far as ours use it: what is in code, and what is not. */

/** What GitHub takes, less the room of a pipeline: docs/reference/command-line.md promises it. Not read from the code under test. */
export const MAX_BODY_CHARACTERS: number = 65_536 - 500;

export interface Anatomy {
  /** Lines of fenced blocks. */
  readonly fenced: readonly string[];
  /** What is in code spans and `<code>`, still escaped. */
  readonly spans: readonly string[];
  /** All else, with `·` where a span was. */
  readonly prose: string;
}

export function anatomyOf(markdown: string): Anatomy {
  const fenced: string[] = [];
  const prose: string[] = [];
  const spans: string[] = [];
  let fence: string | null = null;
  for (const line of markdown.split("\n")) {
    const run = /^ {0,3}(`{3,})([^`]*)$/.exec(line);
    if (fence === null && run !== null) fence = run[1] ?? "";
    else if (fence !== null && run !== null && (run[1] ?? "").length >= fence.length && run[2]?.trim() === "")
      fence = null;
    else if (fence !== null) fenced.push(line);
    else prose.push(withoutSpans(line, spans));
  }
  if (fence !== null) throw new Error("a fence is open at the end");
  return { fenced, spans, prose: prose.join("\n") };
}

function withoutSpans(line: string, spans: string[]): string {
  const pattern = line.startsWith("<summary>") ? /()<code>([^<]*)<\/code>/g : /(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/g;
  return line.replace(pattern, (_, _delimiter: string, text: string) => {
    spans.push(text);
    return "·";
  });
}

export interface Stated {
  /** Of all lines that count the changes of a unit or a kind. */
  readonly changes: number;
  readonly add: number;
  readonly change: number;
  readonly destroy: number;
  readonly blocked: number;
  /** Of the sentence about what is shown as numbers only. */
  readonly counted: number;
  /** Lines in the folds that are a change. */
  readonly lines: number;
}

/** What a plan's comment says of its changes, summed up. */
export function statedIn(markdown: string): Stated {
  const { prose } = anatomyOf(markdown);
  // Where there is one number only, it is that of all.
  const counts = [...prose.matchAll(/^(?:<summary>·: |- ·: |- )(?=(\d+) )(?:\d+ [^:\n]+: )?([^<\n]*)/gm)];
  const sum = (word: string): number =>
    counts.reduce((total, [, , text = ""]) => total + Number(new RegExp(`(\\d+) ${word}`).exec(text)?.[1] ?? 0), 0);
  const diffs = [...markdown.matchAll(/^(`{3,})diff\n([\s\S]*?)\n\1$/gm)].flatMap(([, , text = ""]) =>
    text.split("\n"),
  );
  return {
    changes: counts.reduce((total, [, number]) => total + Number(number), 0),
    add: sum("to add"),
    change: sum("to change"),
    destroy: sum("to destroy"),
    blocked: sum("blocked"),
    counted: Number(/^\*\*(\d+) changes? (?:is|are) shown as numbers only/m.exec(prose)?.[1] ?? 0),
    lines: diffs.filter((line) => /^(\+|-|!|-\/\+|#) (?! {5})/.test(line)).length,
  };
}

export function fits(markdown: string): boolean {
  return markdown.length <= MAX_BODY_CHARACTERS;
}
