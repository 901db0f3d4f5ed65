import { describe, expect, test } from "vitest";
import { redact } from "../../src/apply/journal.ts";
import { readAdopted, readField, readId, readProducts, resolvePath, resolveText } from "../../src/apply/step.ts";
import type { Json } from "../../src/model/resource.ts";
import type { Unit } from "../../src/model/unit.ts";
import { units } from "../../src/units/index.ts";

describe("a dotted path", () => {
  const body = { image: { id: "private/7" }, subnets: [{ id: 1 }, { id: 2 }], nothing: null };

  test.each<[string, Json | undefined]>([
    ["image.id", "private/7"],
    ["subnets.1.id", 2],
    ["nothing", null],
    ["nothing.id", undefined],
    ["subnets.2.id", undefined],
    ["image.id.length", undefined],
    ["constructor", undefined],
    ["__proto__", undefined],
    ["subnets.length", 2],
  ])("%s", (path, value) => {
    expect(readField(body, path)).toBe(value);
  });
});

describe("references", () => {
  const products = new Map([
    ["image/golden", new Map<string, Json>(Object.entries({ id: "private/7", n: 12, up: "..", no: "", o: {} }))],
  ]);
  const part = (field: string): { ref: string; field: string } => ({ ref: "image/golden", field });

  test("become whole segments, slashes included", () => {
    expect(resolvePath(["images", part("id"), part("n")], products)).toEqual({
      ok: true,
      value: ["images", "private/7", "12"],
    });
  });

  test.each(["missing", "up", "no", "o"])("are refused when the answer's %s is no segment", (field) => {
    expect(resolvePath([part(field)], products)).toEqual({ ok: false, missing: part(field) });
  });

  test("of a text are refused when it is none", () => {
    expect(resolveText(part("id"), products)).toEqual({ ok: true, value: "private/7" });
    expect(resolveText(part("n"), products)).toMatchObject({ ok: false });
    expect(resolveText({ ref: "other", field: "id" }, products)).toMatchObject({ ok: false });
  });
});

const unitOf = (name: Unit["name"]): Unit => units.find((unit) => unit.name === name) as Unit;

describe("products", () => {
  const [images, zones] = [unitOf("image"), unitOf("zone")];
  const produced = { ref: "image/golden", fields: { id: "image.id", upload_to: "upload_to" } };

  test("are all there, or none", () => {
    expect(readProducts(produced, { image: { id: "private/7" }, upload_to: "https://u" }, images)?.get("id")).toBe(
      "private/7",
    );
    expect(readProducts(produced, { image: { id: "private/7" } }, images)).toBeNull();
    expect(readProducts(produced, { image: { id: "private/7" }, upload_to: null }, images)).toBeNull();
  });

  test("of an adopted item are what it has, and its id in any case", () => {
    expect([...readAdopted(produced, { id: "private/7", label: "golden" }, "private/7")]).toEqual([
      ["id", "private/7"],
    ]);
  });

  test("tell the id of what was made", () => {
    expect(readId(produced, { image: { id: "private/7" } }, images)).toBe("private/7");
    expect(readId(null, { id: 7 }, zones)).toBe(7);
    expect(readId(null, [], zones)).toBeNull();
    expect(readId({ ref: "x", fields: {} }, { id: true }, zones)).toBeNull();
    expect(readId(null, { id: "7" }, zones)).toBeNull();
    expect(readId(null, { id: 7 }, images)).toBeNull();
  });
});

describe("redaction", () => {
  test("takes out secret fields and known secrets, however deep, and nothing else", () => {
    const value = {
      upload_to: "https://a",
      deep: [{ text: "see https://b?sig=1 and https://b?sig=1" }],
      n: 1,
      none: null,
    };
    expect(redact(value, new Set(["https://b?sig=1"]))).toEqual({
      upload_to: "[redacted]",
      deep: [{ text: "see [redacted] and [redacted]" }],
      n: 1,
      none: null,
    });
  });
});
