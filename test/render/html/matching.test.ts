import { describe, expect, it } from "vitest";
import { type Candidate, type Criteria, fits, isNarrowing, wordsOf } from "../../../src/render/html/client/matching.ts";

const ALL: Criteria = { words: [], states: new Set(), kind: "", label: "" };
const WWW: Candidate = {
  ...{ kind: "domain_record", state: "create", labels: ["3", "11"] },
  text: () => "+ www a 192.0.2.1 domain example.com",
};

describe("a search", () => {
  it("has words, each once and in lower case", () => {
    expect(wordsOf("  WWW\texample.com www ")).toEqual(["www", "example.com"]);
    expect(wordsOf(" ")).toEqual([]);
  });

  it("finds what has all of its words, in any order and within words", () => {
    expect(fits({ ...ALL, words: ["example", "www"] }, WWW)).toBe(true);
    expect(fits({ ...ALL, words: ["example", "mx"] }, WWW)).toBe(false);
    expect(fits(ALL, WWW)).toBe(true);
  });

  it("lets through the kinds and states that are chosen, or all", () => {
    expect(fits({ ...ALL, kind: "domain_record", states: new Set(["delete", "create"]) }, WWW)).toBe(true);
    expect(fits({ ...ALL, kind: "domain" }, WWW)).toBe(false);
    expect(fits({ ...ALL, states: new Set(["delete"]) }, WWW)).toBe(false);
  });

  it("lets through what has the label that is chosen", () => {
    expect(fits({ ...ALL, label: "11" }, WWW)).toBe(true);
    expect(fits({ ...ALL, label: "1" }, WWW)).toBe(false);
  });

  it("narrows if anything is asked for", () => {
    expect(isNarrowing(ALL)).toBe(false);
    expect(isNarrowing({ ...ALL, words: ["a"] })).toBe(true);
    expect(isNarrowing({ ...ALL, kind: "vpc" })).toBe(true);
    expect(isNarrowing({ ...ALL, label: "0" })).toBe(true);
    expect(isNarrowing({ ...ALL, states: new Set(["create"]) })).toBe(true);
  });

  it("reads no text where nothing is searched for", () => {
    const unread = { ...WWW, text: () => expect.fail("it was read") };
    expect(fits({ ...ALL, kind: "domain_record" }, unread)).toBe(true);
    expect(fits({ ...ALL, kind: "vpc", words: ["a"] }, unread)).toBe(false);
  });
});
