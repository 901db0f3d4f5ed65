import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { expectPlainText, STEERING } from "./hostile.ts";

/** What a browser would act on, wherever it stands: between tags, in an attribute, in the style or the script. */
const ACTIVE = [
  "</script><img src=x onerror=alert(1)>",
  "</style><style>*{display:none}</style>",
  '"><svg onload=alert(2)>',
  "' autofocus onfocus=alert(3) x='",
  "<!-- evil4",
  "--><script>alert(5)</script>",
  "<base href=https://evil.example/6>",
  "<meta http-equiv=refresh content=0;url=https://evil.example/7>",
  "javascript:alert(8)",
  "&lt;b&gt;evil9",
  "]]></title></svg></math>evil10",
].join(" ");

/** The tags of a page whose every text is as it should be. */
function tagsOf(page: string): string[] {
  const ours = page.replace(/<style>[^<]*<\/style>/, "").replace(/<script>.*?<\/script>/s, "");
  return ours.match(/<[^>]*>?/g) ?? [];
}

/** Names of elements and of attributes that pages have. */
const ELEMENTS =
  /^<(?:\/?(?:html|head|title|body|a|header|p|h[1-4]|nav|ul|ol|li|main|section|b|code|pre|div|span|details|summary|dl|dt|dd|del|ins|mark|form|label|input|fieldset|legend|select|option|button|output|table|caption|colgroup|col|thead|tbody|tr|th|td|figure|figcaption|style|script)|meta|!doctype|\/?(?:svg|g|rect|text|tspan|path|line|title|desc|defs|marker|use|pattern|polygon|circle|clipPath))(?=[\s>/])/;

function expectNoMarkup(page: string): void {
  expectPlainText(page);
  for (const tag of tagsOf(page)) {
    expect(tag).toMatch(ELEMENTS);
    expect(tag.replace(/"[^"]*"/g, '""')).not.toMatch(/\s(?:on\w+|style|src|srcdoc|action|formaction|xlink:href)=|'/i);
    if (/\shref=/.test(tag)) expect(tag).toMatch(/\shref="#[\w-]*"/);
  }
}

test("text of a manifest or of the account is no HTML in a page: plan, report, drift and list", async () => {
  const text = JSON.stringify(ACTIVE);
  const long = "x".repeat(9_000);
  const manifest = `tenon: 1
vpcs: [{ label: a, region: us-east, description: ${JSON.stringify(ACTIVE.slice(0, 200))}, note: ${text}, subnets: [{ label: web, ipv4: 10.0.0.0/24 }] }]
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    note: ${JSON.stringify(ACTIVE + STEERING)}
    records:
      - { type: TXT, name: t, target: ${JSON.stringify(ACTIVE)}, note: ${text} }
      - { type: TXT, name: long, target: ${JSON.stringify(`${ACTIVE}${long}`)} }
`;
  const zone = { domain: "example.com", type: "master", soa_email: "hostmaster@example.com" };
  const records = [
    { type: "TXT", name: "old", target: ACTIVE },
    { type: "TXT", name: "t", target: `${ACTIVE} before` },
    { type: "TXT", name: "steering", target: `steering ${STEERING}` },
  ];
  const vpcs = [{ label: "wild", region: "us-east", description: `${ACTIVE}${STEERING}`, subnets: [] }];
  const service = await emulator({ seed: { domains: [{ ...zone, records }], vpcs } as never });
  const cwd = await folder({ "tenon.yaml": manifest });
  const env = envOf(service);
  const pages: Record<string, string> = {};
  for (const command of ["plan", "drift", "list", "apply"]) {
    const flags = command === "apply" ? ["--yes", "--allow", "bulk=*"] : [];
    const { stdout } = await run([command, "--format", "html", ...flags], { cwd, env });
    pages[command] = stdout;
  }
  for (const [command, page] of Object.entries(pages)) {
    expect({ command, is: page.slice(0, 15) }).toEqual({ command, is: "<!doctype html>" });
    expectNoMarkup(page);
    // It is there, as text.
    expect(page).toContain("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;");
  }
  expect(pages["plan"]).toContain(long);
});

test("a page that holds the token is neither printed nor saved, also where marks divide the token", async () => {
  const token = "emulator-token";
  const zone = { domain: "example.com", type: "master", soa_email: "hostmaster@example.com" };
  // So that the part that differs ends within the token.
  const records = [{ type: "TXT", name: "t", target: "the emulator-tokem is" }];
  const service = await emulator({ seed: { domains: [{ ...zone, records }] } as never });
  const target = `the ${token} is`;
  const cwd = await folder({
    "tenon.yaml": `tenon: 1\ndomains:\n  - { ...ZONE, records: [{ type: TXT, name: t, target: ${target} }] }\n`.replace(
      "...ZONE",
      "domain: example.com, type: master, soa_email: hostmaster@example.com",
    ),
  });
  const env = envOf(service);
  for (const command of ["plan", "drift"]) {
    const printed = await run([command, "--format", "html"], { cwd, env });
    expect(printed).toMatchObject({ code: 1, stdout: "" });
    expect(printed.stderr).toContain("the page holds the token");
    const saved = await run([command, "--html-into", "page.html"], { cwd, env });
    expect(saved.code).toBe(1);
    await expect(readFile(join(cwd, "page.html"))).rejects.toThrow("ENOENT");
  }
});
