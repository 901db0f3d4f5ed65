/** How deep and how full an answer is, counted while it comes, in pieces of any size. */

import { expect, test } from "vitest";
import { JsonSize, MAX_ANSWER_DEPTH, MAX_ANSWER_SHAPES, MAX_ANSWER_VALUES } from "../../src/api/transport.ts";

/** @returns what is said of the text, whole and byte by byte: the same of both */
function said(text: string): string | null {
  const bytes = Buffer.from(text);
  const [whole, pieces] = [new JsonSize(), new JsonSize()];
  const atOnce = whole.take(bytes);
  let last: string | null = null;
  for (const byte of bytes) last ??= pieces.take(Uint8Array.of(byte));
  expect(last).toBe(atOnce);
  return atOnce;
}

test("brackets count where they open something, not within text", () => {
  const deep = "[".repeat(MAX_ANSWER_DEPTH);
  expect(said(deep)).toBe(null);
  expect(said(`${deep}[`)).toBe("deep");
  expect(said(`[${"{},".repeat(100)}{}]`)).toBe(null);
  expect(said(`{"a":"${deep}${deep}"}`)).toBe(null);
  expect(said(`{"a":"\\"${deep}${deep}"}`)).toBe(null);
  expect(said(`{"a":"\\\\",${'"b":['.repeat(MAX_ANSWER_DEPTH)}`)).toBe("deep");
  expect(said(` \n\t{"a":${deep}`)).toBe("deep");
});

test("what is no JSON is not counted", () => {
  expect(said(`<html>${"[".repeat(1_000)}`)).toBe(null);
});

test("values are counted by their commas and brackets, not within text", () => {
  const commas = ",".repeat(MAX_ANSWER_VALUES);
  expect(new JsonSize().take(Buffer.from(`[${commas.slice(1)}`))).toBe(null);
  expect(new JsonSize().take(Buffer.from(`[${commas}`))).toBe("full");
  expect(new JsonSize().take(Buffer.from(`["${commas}"]`))).toBe(null);
});

test("lists of keys with which objects begin are counted once each, whatever stands in the values", () => {
  const objects = (count: number, write: (index: number) => string) =>
    `[${Array.from({ length: count }, (_, index) => write(index)).join(",")}]`;
  const own = (index: number) => `{"k${index}":[1,"a"]}`;
  expect(said(objects(MAX_ANSWER_SHAPES, own))).toBe(null);
  // A few may have one hash.
  expect(said(objects(MAX_ANSWER_SHAPES + 100, own))).toBe("mixed");
  // The same keys in other orders, and one object of many keys.
  const digits = (index: number) => [...String(index).padStart(5, "0")].map((digit, place) => `"${place}${digit}":1`);
  expect(said(objects(20_000, (index) => `{${digits(index).reverse().join(",")}}`))).toBe("mixed");
  expect(said(`{${objects(20_000, (index) => `"k${index}":0`).slice(1, -1)}}`)).toBe("mixed");
  const record = (index: number) =>
    `{"id":${index},"data":{"name":"n${index}","a\\"${index % 10}":["x,{${index}"]},"last":"l"}`;
  expect(said(objects(20_000, record))).toBe(null);
  expect(said(objects(20_000, (index) => `"k${index}"`))).toBe(null);
  expect(new JsonSize(MAX_ANSWER_VALUES, null).take(Buffer.from(objects(20_000, own)))).toBe(null);
});
