/** Plans and reports in which everything of others is hostile. */

import type { Failure } from "../../../src/model/api.ts";
import type { Plan } from "../../../src/model/plan.ts";
import type { Report } from "../../../src/model/report.ts";
import type { Verification } from "../../../src/model/verification.ts";
import { change, plan, record } from "../plans.ts";

/** What each of them would do outside code: fold, run, ping, link, refer, close, leave a table, a fence, a span, or hide. */
export const HOSTILE: readonly string[] = [
  "</details></summary></code><script>steal()</script><img src=//evil.example onerror=steal()><!--",
  "@everyone @acme/admins #123 GH-7 acme/app#9 0123456789abcdef0123456789abcdef01234567 :tada:",
  "![x](http://evil.example/pixel) [here](javascript:steal()) https://evil.example www.evil.example <mailto:a@evil.example>",
  "```\n````\n~~~\n</details>\n/close\n# Heading\n- [x] done\n| a | b |\n|---|---|\n",
  "`a``b```c````d` **bold** _it_ ~~gone~~ $`x`$ $$y$$ \\` &lt;b&gt; [^1] [[page]] !1 %2 ~label &3",
  "\u001b[31m\u202e\u2066\u200b\u2028\u0000\r\n\u{e0041}\ud800",
];
export function hostilePlan(text: string): Plan {
  const values = { label: text, description: text, tags: [text], [text]: text, owner: text };
  return plan(
    [
      change(`image/${text}`, "image", {
        before: values,
        after: { ...values, label: `${text}x`, description: "", tags: [] },
        labels: ["rename", "take-over"],
        note: text,
      }),
      change(`domain/${text}/x/TXT`, "domain_record", {
        root: `domain/${text}`,
        before: record(text, "TXT", text),
        after: record(text, text, `${text}${"x".repeat(200)}`),
        origin: "already-pending",
      }),
      change("domain/a.example/x/A", "domain_record", { after: record("x", "A", `- ${text}`) }),
      change("domain/b.example/x/A", "domain_record", {
        before: record("x", "A", text),
        blocked: { type: "kept-records", records: [record(text, "CAA", text, 0, { tag: text })] },
      }),
      ...["1", "2", "3", "4"].map((number) => {
        // Behind all others, whatever the text begins with.
        const address = `image/~${number}${text}`;
        return change(address, "image", { root: address, before: values, labels: ["prune"] });
      }),
      ...["1", "2", "3", "4"].map((number) => {
        const address = `domain/alike-${number}.example/x/TXT`;
        return change(address, "domain_record", { after: record(text, "TXT", `- ${text}`), note: text });
      }),
    ],
    {
      base: { name: text, withdrawn: [{ key: text, action: "delete" }] },
      guards: [
        {
          rule: "delete",
          address: text,
          consent: "missing",
          count: null,
          of: null,
          origin: null,
          declaredUnder: [text, "b"],
        },
        { rule: "replace", address: text, consent: "given", count: null, of: null, origin: null },
      ],
      gaps: [{ what: text, wanted: text, before: text, root: text }],
      refusals: [{ code: "x", severity: "error", summary: text, detail: text, fix: text }],
      warnings: [{ code: "x", severity: "warning", summary: text, detail: text, fix: text }],
      strategies: [{ type: "clone", source: text, copies: [text, "b"], requests: 1, requestsWithout: 2 }],
    },
  );
}

export function hostileReport(text: string): { report: Report; verification: Verification } {
  const failure: Failure = {
    type: "refused",
    effect: "none",
    status: 400,
    errors: [],
    message: text,
    maintenance: false,
    attempts: 1,
  };
  const report: Report = {
    steps: [
      { step: text, changes: [text], outcome: "failed", id: null, recovered: false, failure, because: [] },
      { step: "s", changes: ["s"], outcome: "skipped", id: null, recovered: false, failure: null, because: [text] },
    ],
    changes: [
      { key: text, outcome: "failed" },
      { key: "s", outcome: "skipped" },
      { key: `image/${text}`, outcome: "done" },
    ],
    added: 0,
    changed: 1,
    destroyed: 0,
    failed: 1,
    skipped: 1,
    unknown: 0,
    blocked: 0,
    duplicates: 0,
    requestCount: 2,
    interrupted: false,
    notices: [text],
  };
  const verification: Verification = {
    zones: [{ zone: text, servers: [text] }],
    asked: 1,
    there: 0,
    silent: [{ server: text, transport: "udp", detail: text }],
    problems: [
      {
        zone: text,
        server: text,
        name: text,
        type: "TXT",
        transport: "tcp",
        state: "missing",
        expected: [text],
        found: [text],
        detail: text,
      },
    ],
    delegation: [],
    unasked: [{ zone: text, detail: text }],
    notes: [text],
    interrupted: false,
  };
  return { report, verification };
}
