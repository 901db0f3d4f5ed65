/** Ownership tags: put on, taken off, told apart from what users write. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  joinDescription,
  ownerOfTags,
  sharedWithOf,
  splitDescription,
  withoutReservedTags,
  withReservedTags,
} from "../../src/units/owner-tag.ts";

const hashes = fc.stringMatching(/^[0-9a-f]{16}$/);
const owners = fc.stringMatching(/^[a-z0-9-]{1,32}$/);

describe("in a domain's tags", () => {
  test.each([
    [[], null],
    [["x", "owner:me"], null],
    [["tenon:me"], "me"],
    [["x", "Tenon:ME", "y"], "me"],
    [["tenon:you", "tenon:me"], "me,you"],
    [["tenon:me", "TENON:me"], "me"],
    [["xtenon:me"], null],
  ] as const)("%j is owned by %j", (tags, owner) => {
    expect(ownerOfTags(tags)).toBe(owner);
  });

  test("an owner that a domain is shared with is none of its owners, in whatever case the tag is, and its tag fits the service", () => {
    const tags = ["Tenon-Part:Shop", "tenon-part:shop", "tenon-part:a", "tenon:me"];
    expect([ownerOfTags(tags), sharedWithOf(tags)]).toEqual(["me", ["a", "shop"]]);
    expect(withReservedTags([], null, ["a".repeat(32)])[0]?.length).toBeLessThanOrEqual(50);
  });

  test("what is put on can be told and taken off again, and nobody else's tags change", () => {
    const tags = fc.array(fc.string().filter((tag) => !/^tenon(-part)?:/i.test(tag)));
    fc.assert(
      fc.property(tags, owners, fc.uniqueArray(owners), (users, owner, others) => {
        const tagged = withReservedTags(users, owner, others);
        expect(ownerOfTags(tagged)).toBe(owner);
        expect(sharedWithOf(tagged)).toEqual([...others].sort());
        expect(withoutReservedTags(tagged)).toEqual(users);
        expect(withReservedTags(users, null, [])).toEqual(users);
      }),
    );
  });
});

describe("at the end of a description", () => {
  test.each([
    [null, "", null],
    ["", "", null],
    ["words", "words", null],
    ["[tenon:me]", "", "me"],
    ["words [tenon:me]", "words", "me"],
    ["words  [tenon:me]", "words ", "me"],
    ["words[tenon:me]", "words", "me"],
    ["words [tenon:me] more", "words [tenon:me] more", null],
    ["words [tenon:me] ", "words", "me"],
    ["[tenon:you] [tenon:me]", "", "me,you"],
    ["words [tenon:ME]", "words", "me"],
    ["words [tenon:]", "words [tenon:]", null],
    [`[tenon:${"a".repeat(33)}]`, `[tenon:${"a".repeat(33)}]`, null],
    ["two\nlines [tenon:me]", "two\nlines", "me"],
  ] as const)("%j is %j of %j", (description, text, owner) => {
    expect(splitDescription(description)).toEqual({ text, owner, sha256: null });
  });

  test.each([
    ["words [tenon:me sha256:0123456789abcdef]", "words", "me", "0123456789abcdef"],
    ["[TENON:Me SHA256:0123456789ABCDEF]", "", "me", "0123456789abcdef"],
    ["[tenon:you] [tenon:me sha256:0123456789abcdef]", "", "me,you", null],
    ["[tenon:me sha256:0123456789abcdef] [tenon:me]", "", "me", null],
    ["[tenon:me sha256:0123456789abcde]", "[tenon:me sha256:0123456789abcde]", null, null],
    ["[tenon:me sha256:0123456789abcdef0]", "[tenon:me sha256:0123456789abcdef0]", null, null],
    ["[tenon:me  sha256:0123456789abcdef]", "[tenon:me  sha256:0123456789abcdef]", null, null],
    ["[tenon:me sha256:]", "[tenon:me sha256:]", null, null],
    ["[tenon: sha256:0123456789abcdef]", "[tenon: sha256:0123456789abcdef]", null, null],
    ["[tenon:me sha256:0123456789abcdef] more", "[tenon:me sha256:0123456789abcdef] more", null, null],
  ] as const)("%j is %j of %j with the hash %j", (description, text, owner, sha256) => {
    expect(splitDescription(description)).toEqual({ text, owner, sha256 });
  });

  test("joined and split again it is the same text and owner", () => {
    fc.assert(
      fc.property(fc.string(), fc.option(owners), fc.option(hashes), (text, owner, hash) => {
        fc.pre(splitDescription(text).owner === null);
        const sha256 = owner === null ? null : hash;
        expect(splitDescription(joinDescription(text, owner, hash))).toEqual({ text, owner, sha256 });
      }),
    );
  });

  test("a hostile description is split in one pass: the square of its length would take minutes", () => {
    for (const piece of [" [tenon:a", "[tenon:a", "[tenon:a sha256:0", " [tenon:", "[", " "]) {
      const hostile = `${piece.repeat(2_000_000 / piece.length)}x`;
      expect(splitDescription(hostile)).toEqual({ text: hostile, owner: null, sha256: null });
    }
  });
});
