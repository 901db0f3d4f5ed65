/** A family of images in a project with environments, as a user meets it. */

import { expect, test } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, folder } from "./run.ts";

const MANIFEST = `tenon: 1
owner: edge
environments: { staging: { variables: { env: staging } }, production: { variables: { env: production } } }
variables: { env: {}, month: { default: "12" } }
images:
  - { label: "golden-\${var.env}-\${var.month}", family: golden, keep: 1, capture: { disk_id: 7 } }
`;

async function account(manifest: string, labels: readonly string[]) {
  const images = labels.map((label, index) => ({
    id: `private/${index + 1}`,
    label,
    description: "[tenon:edge]",
    created: `2026-1${index}-01T00:00:00`,
  }));
  const service = await emulator({ seed: { images, disks: [{ id: 7, label: "disk", size: 1024 }] } });
  const options = { cwd: await folder({ "tenon.yaml": manifest }), env: envOf(service) };
  const writes = () => service.requests.filter(({ method }) => method !== "GET");
  return { options, writes };
}

test("a family never retires what another environment declares", async () => {
  const { options, writes } = await account(MANIFEST, ["golden-production-12", "golden-staging-11"]);
  for (const words of [["plan"], ["apply", "--yes"], ["plan", "--format", "json"]]) {
    const { code, stderr } = await here([...words, "--env", "staging"], options);
    expect({ words, code }).toEqual({ words, code: 4 });
    expect(stderr.replace(/\s+/g, " ")).toContain(
      "error[retired-elsewhere]: image/golden-production-12 would be retired, and the environment `production` declares it",
    );
    expect(stderr).not.toContain("golden-staging-11 would be");
  }
  expect(writes()).toEqual([]);
});

test("a family of each environment retires its own", async () => {
  const { options, writes } = await account(MANIFEST.replace("family: golden", 'family: "golden-${var.env}"'), [
    "golden-staging-11",
  ]);
  const { code } = await here(["apply", "--yes", "--env", "staging"], options);
  expect({ code, deleted: writes().flatMap(({ method, path }) => (method === "DELETE" ? [path] : [])) }).toEqual({
    code: 0,
    deleted: ["/v4/images/private%2F1"],
  });
});
