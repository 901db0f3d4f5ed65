/** What accounts printed and found is bounded for the fleet as a whole: the longest is cut, and says so. */

import { expect, test } from "vitest";
import { fitOutcome, KeptOutcomes } from "../../src/fleet/kept-outcomes.ts";

const LIMIT = 200_000;

function ran(text: string, document: string | null = null, markup: "plain" | "markdown" = "plain") {
  return { type: "ran", code: 0, headline: "1 to add", text, markup, document } as const;
}

function held(kept: KeptOutcomes, names: readonly string[]): number {
  return names.reduce((sum, name) => {
    const outcome = kept.get(name);
    return sum + (outcome?.text.length ?? 0) + (outcome?.document?.length ?? 0);
  }, 0);
}

test("nothing is cut within the limit, and beyond it the longest first", () => {
  const kept = new KeptOutcomes(LIMIT);
  kept.set("small", ran("s".repeat(60_000)));
  kept.set("long", ran(`${"first line\n".repeat(12_000)}`));
  expect(kept.get("long")?.text).toHaveLength(132_000);
  kept.set("other", ran("o".repeat(50_000)));
  expect(kept.get("small")?.text).toBe("s".repeat(60_000));
  expect(kept.get("other")?.text).toBe("o".repeat(50_000));
  expect(kept.get("long")?.text).toMatch(
    /^(first line\n)+This text is cut: it has 132,000 characters, and those of a fleet may have 200,000 together\. --select name=long shows it whole\.\n$/,
  );
  expect(kept.size).toBe(3);
});

test("markdown is left out as a whole, since what follows a cut could stand outside of code; so is a document", () => {
  const kept = new KeptOutcomes(LIMIT);
  kept.set("md", ran(`\`\`\`\n${"x\n".repeat(80_000)}\`\`\`\n`, null, "markdown"));
  kept.set("json", ran("text", JSON.stringify("y".repeat(150_000))));
  kept.set("more", ran("z".repeat(100_000)));
  expect(kept.get("md")?.text).toMatch(/^This text is cut: it has 160,008 characters/);
  expect(kept.get("json")).toMatchObject({
    text: "text",
    document: null,
    headline: "1 to add (its document is left out: those of a fleet may have 200,000 together)",
  });
  expect(kept.get("more")?.text).toHaveLength(100_000);
});

test("markdown that is left out keeps its shorter forms, and the first of them stands in its place", () => {
  const kept = new KeptOutcomes(LIMIT);
  kept.set("md", {
    ...ran(`\`\`\`\n${"x\n".repeat(80_000)}\`\`\`\n`, null, "markdown"),
    shorter: ["in short\n", "short\n"],
  });
  kept.set("more", ran("z".repeat(100_000)));
  expect(kept.get("md")?.text).toMatch(/^in short\n\nThis text is cut: it has 160,008 characters/);
  expect(kept.get("md")?.shorter).toEqual(["in short\n", "short\n"]);
  // They count.
  const long = { ...ran("text"), shorter: ["s".repeat(16_000), "s".repeat(5_000)] };
  const many = new KeptOutcomes(LIMIT);
  for (let index = 0; index < 8; index += 1) many.set(`a${index}`, long);
  many.set("last", ran("l".repeat(40_000)));
  expect(many.get("last")?.text).toContain("This text is cut");
  // What hides a token may be longer than the token.
  expect(fitOutcome("a", { ...long, shorter: ["s".repeat(17_000), "s"] }).shorter).toEqual(["s"]);
});

test("forty accounts with large texts hold no more than the limit", () => {
  const kept = new KeptOutcomes(LIMIT * 10);
  const names = Array.from({ length: 40 }, (_, index) => `a${index}`);
  for (const name of names) kept.set(name, ran("x".repeat(100_000), "y".repeat(100_000)));
  expect(held(kept, names)).toBeLessThanOrEqual(LIMIT * 10);
  // One that is set again counts once.
  for (let again = 0; again < 50; again += 1) kept.set("a0", ran("x".repeat(10_000)));
  expect(kept.get("a0")?.text).toHaveLength(10_000);
});

test("what a worker reports of an account is cut to what a record may have, in octets", () => {
  const most = 100_000;
  const small = ran("text", "{}");
  expect(fitOutcome("a", small, most)).toBe(small);
  // As JSON a quote has two octets, an umlaut two, and an escape six.
  for (const character of ['"', "ü", "\u001b"]) {
    const fitted = fitOutcome("a", ran(`${character.repeat(60_000)}`), most);
    expect(fitted.text).toMatch(
      /This text is cut: it has 60,000 characters, and a worker may report 100,000 octets of/,
    );
    expect(fitted.text).toMatch(/Without --queue, --select name=a shows it whole\.\n$/);
  }
  const both = fitOutcome("a", ran("t".repeat(120_000), JSON.stringify("d".repeat(130_000))), most);
  expect(both).toMatchObject({ document: null, headline: expect.stringMatching(/its document is left out/) });
  expect(both.text.length).toBeLessThan(20_000);
  const long = fitOutcome("a", { ...ran("text"), headline: "h".repeat(20_000) }, most);
  expect(long.headline.length).toBeLessThan(10_000);
});
