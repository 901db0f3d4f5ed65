import { describe, expect, test } from "vitest";
import { MAX_INCLUDE_DEPTH, MAX_INCLUDED_FILES } from "../../../src/dns/zone-file/lexer.ts";
import { type Files, position, problemsIn, read } from "./reading.ts";

async function readWith(
  text: string,
  files: Files,
): Promise<{ records: string[]; problems: string[]; details: string[] }> {
  const { records, diagnostics } = await read(text, "example.com", files);
  return {
    records: records.map(({ name, ttl_sec, span }) => `${span.file} ${name} ${ttl_sec}`),
    problems: problemsIn(text, diagnostics, files),
    details: diagnostics.map(({ detail }) => detail),
  };
}

describe("$INCLUDE", () => {
  test("reads a file in place, with an origin of its own that ends with it; a `$TTL` stays, as in BIND", async () => {
    const text =
      '$TTL 1\nlast A 192.0.2.1\n$INCLUDE "my file" sub\n TXT back\nb A 192.0.2.1\n$include plain ; c\nc A 192.0.2.1';
    const files = {
      "my file": " TXT taken-over\na A 192.0.2.1\n$ORIGIN x\n$TTL 2\n@ A 192.0.2.1\n",
      plain: "p A 192.0.2.1",
    };
    expect(await readWith(text, files)).toEqual({
      problems: [],
      details: [],
      records: [
        "main.zone last 1",
        ...["my file last 1", "my file a.sub 1", "my file x.sub 2"],
        ...["main.zone last 2", "main.zone b 2", "plain p 2", "main.zone c 2"],
      ],
    });
  });

  test("has errors where they are", async () => {
    const files = { inner: "\n\na A 192.0.2.x\n" };
    const { problems, records } = await readWith("$TTL 1\n$INCLUDE inner\nb A 192.0.2.1", files);
    expect(problems).toEqual(['inner:3:5 bad-address "192.0.2.x"']);
    expect(records).toEqual(["main.zone b 1"]);
  });

  test("that leads back to an open file is an error with the whole way; the rest is read", async () => {
    const files = { one: "$INCLUDE two\na A 192.0.2.1", two: "$INCLUDE one\nb A 192.0.2.1\n$INCLUDE two" };
    const { problems, details, records } = await readWith("$TTL 1\n$INCLUDE one\nc A 192.0.2.1", files);
    expect(problems).toEqual(['two:1:10 include-loop "one"', 'two:3:10 include-loop "two"']);
    expect(details).toEqual([
      "`main.zone` includes `one`, which includes `two`, which includes `one` again, without end.",
      "`main.zone` includes `one`, which includes `two`, which includes `two` again, without end.",
    ]);
    expect(records).toEqual(["two b 1", "one a 1", "main.zone c 1"]);
  });

  test("may name a file twice that is not open", async () => {
    const { problems, records } = await readWith("$INCLUDE one\n$INCLUDE one sub", { one: "a 1 A 192.0.2.1" });
    expect([problems, records]).toEqual([[], ["one a 1", "one a.sub 1"]]);
  });

  test("of a file twice under one origin shows both lines, where the ways to it part", async () => {
    const files = { one: "$INCLUDE two\n", two: "a 1 A 192.0.2.1\n" };
    const text = "$INCLUDE one\nb 1 A 192.0.2.1\n$INCLUDE one\n$GENERATE 1-2 c 1 A 192.0.2.1\n";
    const { diagnostics } = await read(text, "example.com", files);
    const related = diagnostics.map((found) =>
      (found.related ?? []).map(({ message, span }) => `${span.file}:${position(text, span)} ${message}`),
    );
    expect(related).toEqual([
      ["main.zone:1:10 its file is included here", "main.zone:3:10 and here again"],
      // One line makes both.
      [],
    ]);
  });

  test(`may be ${MAX_INCLUDE_DEPTH} deep`, async () => {
    const nested = (depth: number) =>
      Object.fromEntries(
        Array.from({ length: depth }, (_, index) => [
          `f${index + 1}`,
          index + 1 === depth ? "a 1 A 192.0.2.1" : `$INCLUDE f${index + 2}`,
        ]),
      );
    const fits = await readWith("$INCLUDE f1", nested(MAX_INCLUDE_DEPTH));
    expect([fits.problems, fits.records]).toEqual([[], ["f10 a 1"]]);
    const tooDeep = await readWith("$INCLUDE f1", nested(MAX_INCLUDE_DEPTH + 1));
    expect([tooDeep.problems, tooDeep.records]).toEqual([['f10:1:10 include-depth "f11"'], []]);
    expect(tooDeep.details[0]).toContain("`main.zone` includes `f1`, which includes `f2`");
  });

  test(`ends after ${MAX_INCLUDED_FILES} files, however they fan out`, async () => {
    const fan = (next: string) => `$INCLUDE ${next}\n`.repeat(10);
    const files = { one: fan("two"), two: fan("three"), three: fan("four"), four: "a 1 A 192.0.2.1" };
    const { diagnostics } = await read(fan("one"), "example.com", files);
    expect(diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code)).toEqual([
      "too-many-includes",
    ]);
  });

  test("says why a file cannot be read, in the words of who reads it", async () => {
    const { details } = await readWith("$INCLUDE ../x", {});
    expect(details).toEqual(["`../x`: there is no such file."]);
  });
});
