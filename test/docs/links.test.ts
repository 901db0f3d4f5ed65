/** Every link of a page of the project leads to a file that is there, and to a heading that it has. */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const PAGES = [
  ...readdirSync(ROOT).filter((file) => file.endsWith(".md")),
  ...["docs", "examples"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md") && !file.includes("node_modules"))
      .map((file) => join(folder, file)),
  ),
];

const read = (page: string): string => readFileSync(join(ROOT, page), "utf8");

/** Without what stands in blocks of code. */
const proseOf = (page: string): string => read(page).replace(/^```.*?^```/gms, "");

/** Anchors as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function brokenLinks(page: string): string[] {
  const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(ROOT, target))) return true;
    if (anchor === undefined || !target.endsWith(".md")) return false;
    return statSync(join(ROOT, target)).isDirectory() || !anchorsOf(target).includes(anchor);
  });
}

test("every link leads somewhere", () => {
  expect(PAGES.length).toBeGreaterThan(30);
  expect(PAGES.map((page) => [page, brokenLinks(page)]).filter(([, broken]) => broken?.length !== 0)).toEqual([]);
});

test("docs/README.md lists every page of the folders beside it", () => {
  const index = read("docs/README.md");
  const pages = PAGES.filter((page) => page.startsWith("docs/") && !page.startsWith("docs/adr/")).map((page) =>
    relative("docs", page),
  );
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((page) => page !== "README.md" && !index.includes(`](${page})`))).toEqual([]);
});
