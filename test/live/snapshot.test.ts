import { describe, expect, it, onTestFinished } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { allowedSeconds, type ClientApi, createApi, type Desired, loadProject } from "../../src/index.ts";
import { snapshotApi } from "../../src/live/snapshot.ts";
import type { Snapshot } from "../../src/model/live.ts";
import { emulator, folder } from "../cli/run.ts";
import { NOBODY, planText, planTextFrom, readSnapshot, snapshotText } from "../support/snapshot.ts";

const ZONE = "type: master, soa_email: a@example.com";

type Seed = NonNullable<Parameters<typeof emulator>[0]>["seed"];

async function desiredOf(manifest: string): Promise<Desired> {
  const directory = await folder({ "tenon.yaml": `tenon: 1\n${manifest}` });
  const { project, diagnostics } = await loadProject({ directory, allowedSeconds: allowedSeconds("node") });
  if (project === null) throw new Error(JSON.stringify(diagnostics));
  return project.desired;
}

async function open(seed: Seed, pageSize = 500): Promise<{ service: Emulator; api: ClientApi }> {
  const service = await emulator(seed === undefined ? {} : { seed });
  const api = await createApi({ baseUrl: service.baseUrl, token: "emulator-token", retryForSeconds: 0, pageSize });
  onTestFinished(() => api.close());
  return { service, api };
}

/** Two snapshots are taken one after the other, maybe in two seconds of the service's clock. */
const timeless = (snapshot: string) => snapshot.replace(/"served_at":"[^"]*"/, "");

const zoneOf = (id: number, name: string) => ({
  id,
  domain: name,
  soa_email: "a@example.com",
  records: [{ type: "A" as const, name: "www", target: "192.0.2.1" }],
});

describe("a snapshot", () => {
  it("is enough for what nobody declared when it was taken", async () => {
    const vpcs = [
      { id: 1, label: "prod", region: "us-east", subnets: [{ id: 11, label: "web", ipv4: "10.0.1.0/24" }] },
    ];
    const nodes = [{ interfaces: [{ id: 10, subnet_id: 11, config_id: 100 }] }];
    const domains = [
      zoneOf(1, "old.example"),
      { ...zoneOf(2, "slave.example"), type: "slave" as const, master_ips: ["192.0.2.3"], records: [] },
    ];
    const images = [{ id: "private/7", label: "old" }];
    const { api, service } = await open({ vpcs, nodes, domains, images });
    const text = await snapshotText(api);
    const desired = await desiredOf(`owner: edge
vpcs: [{ label: prod, region: us-west, subnets: [] }]
domains:
  - { domain: old.example, ${ZONE}, records: [{ type: A, name: www, target: 192.0.2.2 }] }
  - { domain: slave.example, ${ZONE}, records: [] }
  - { domain: new.example, ${ZONE}, create_from: { clone: old.example } }
images: [{ label: golden }, { label: old, description: new }]
`);
    const live = await planText(api, desired, {});
    service.clearRequests();
    expect(await planTextFrom(text, desired, {})).toBe(live);
    expect(service.requests).toEqual([]);
    expect(live).toContain('"config_id":100');
    expect(live).toContain('"image-source-missing"');
    expect(live).toContain('"private/7"');
  });

  it("plans the same where a live plan asks for a few of many domains, and where it reads two pages", async () => {
    const domains = Array.from({ length: 250 }, (_, id) => ({
      ...zoneOf(id + 1, `z${id + 100}.example`),
      records: [],
    }));
    const { api, service } = await open({ domains }, 100);
    const text = await snapshotText(api);
    // The lists of VPCs and images, three pages of domains, and a list for each domain.
    expect(service.requests).toHaveLength(2 + 3 + 250);
    service.clearRequests();
    for (const manifest of ["", "owner: edge\n"]) {
      const desired = await desiredOf(
        `${manifest}domains: [{ domain: z349.example, ${ZONE}, records: [{ type: A, target: 192.0.2.1 }] }]`,
      );
      const live = await planText(api, desired, {});
      expect(await planTextFrom(text, desired, {})).toBe(live);
      expect(live).toContain('"count":249');
    }
    // First the page and the one that is wanted, then all pages.
    expect(service.requests.filter(({ path }) => path === "/v4/domains")).toHaveLength(2 + 3);
  });

  it("of 12,000 records plans the same, and is read back in the time of a plan", async () => {
    const records = Array.from({ length: 12_000 }, (_, index) => ({
      type: "A" as const,
      name: `h${index}`,
      target: "192.0.2.1",
    }));
    const { api } = await open({ domains: [{ ...zoneOf(1, "z.example"), records }] });
    const entries = records.slice(5).map(({ name }) => `{ type: A, name: ${name}, target: 192.0.2.1 }`);
    const desired = await desiredOf(`domains: [{ domain: z.example, ${ZONE}, records: [${entries.join(", ")}] }]`);
    const text = await snapshotText(api);
    expect(await planTextFrom(text, desired, {})).toBe(await planText(api, desired, {}));
  });

  it("has the same bytes each time, and again after it was read", async () => {
    const { api } = await open({ domains: [zoneOf(2, "b.example"), zoneOf(1, "xn--mller-kva.example")] });
    const text = await snapshotText(api);
    expect(timeless(await snapshotText(api))).toBe(timeless(text));
    const { renderLiveFile } = await import("../../src/live/index.ts");
    expect(await renderLiveFile(await readSnapshot(text))).toBe(text);
    expect(text.split("\n").filter((line) => line.includes('"domain":'))).toHaveLength(2);
  });

  it("keeps whatever characters names and texts have", async () => {
    const description = "ü \u{1f600} \u202e \u2028 \u001b[2J __proto__";
    const vpcs = [{ id: 1, label: "prod", region: "x", description: "plain" }];
    const { api } = await open({ vpcs });
    const odd: typeof api = Object.assign(Object.create(api) as typeof api, {
      list: async (...args: Parameters<typeof api.list>) => {
        const answer = await api.list(...args);
        if (!answer.ok) return answer;
        return { ...answer, items: answer.items.map((item) => ({ ...item, description, label: "__proto__" })) };
      },
    });
    const { lists } = await readSnapshot(await snapshotText(odd));
    expect(lists.get("vpcs")?.[0]).toMatchObject({ description, label: "__proto__" });
  });

  it("leaves out what the service says beyond the specification", async () => {
    const { api } = await open({ domains: [zoneOf(1, "a.example")] });
    const upload = { upload_to: "https://signed.example/?signature=secret", secret: "secret" };
    const chatty: typeof api = Object.assign(Object.create(api) as typeof api, {
      list: async (...args: Parameters<typeof api.list>) => {
        const answer = await api.list(...args);
        return answer.ok ? { ...answer, items: answer.items.map((item) => ({ ...item, ...upload })) } : answer;
      },
    });
    const text = await snapshotText(chatty);
    expect(text).not.toMatch(/secret|signed|emulator-token/);
    expect(timeless(text)).toBe(timeless(await snapshotText(api)));
  });

  it("does without what the token may not read, unless the project needs it; a plan then fails alike", async () => {
    const tokens = [{ token: "emulator-token", scopes: ["domains:read_only", "vpc:read_only"] }];
    const { api } = await open({ tokens, domains: [zoneOf(1, "a.example")] });
    const text = await snapshotText(api);
    expect((await readSnapshot(text)).unread).toMatchObject([{ path: "images", failure: { status: 403 } }]);
    const images = await desiredOf("images: [{ label: golden }]");
    const failure = await planText(api, images, {});
    expect(failure).toContain("images:read_only");
    expect(await planTextFrom(text, images, {})).toBe(failure);
    await expect(snapshotText(api, images)).rejects.toThrow("the list of images: ");
    await expect(snapshotText(api, await desiredOf("owner: edge"))).rejects.toThrow("the list of images: ");
  });

  it("is not taken with a token that may read nothing, or of a service that fails", async () => {
    const { api } = await open({ tokens: [{ token: "emulator-token", scopes: [] }] });
    await expect(snapshotText(api)).rejects.toThrow("the list of VPCs: ");
    const { service, api: broken } = await open(undefined);
    await service.close();
    await expect(snapshotText(broken, NOBODY)).rejects.toThrow();
  });
});

const EMPTY: Snapshot = {
  readAt: "2026-11-22T00:00:00.000Z",
  servedAt: null,
  host: "127.0.0.1:8080",
  dialect: "node",
  account: null,
  lists: new Map(),
  unread: [],
};

describe("the service as a snapshot remembers it", () => {
  it("fails for a list that it does not hold, and for everything but lists, without having had an effect", async () => {
    const api = snapshotApi(EMPTY);
    const failed = { status: null, errors: [], effect: "none", maintenance: false, attempts: 0 };
    expect(await api.list({ path: ["vpcs"] })).toEqual({
      ok: false,
      failure: { ...failed, type: "malformed", message: "the snapshot does not hold the list /vpcs" },
    });
    expect(Object.keys(api).sort()).toEqual(["get", "list", "requestCount"]);
    expect(await api.get({ path: ["vpcs", "1"] })).toEqual({
      ok: false,
      failure: { ...failed, type: "refused", message: "a snapshot answers lists only" },
    });
  });

  it("answers a filter with what fits it, and without one with all", async () => {
    const kept = [
      { id: 1, domain: "a.example", type: "master" },
      { id: 2, domain: "b.example", type: "slave" },
      { id: 3, domain: "c.example", type: "master" },
    ];
    const api = snapshotApi({ ...EMPTY, lists: new Map([["domains", kept]]) });
    const ids = async (filter?: Readonly<Record<string, string>>) => {
      const answer = await api.list({ path: ["domains"], ...(filter === undefined ? {} : { filter }) });
      return answer.ok ? [answer.items.map(({ id }) => id), answer.total] : answer.failure;
    };
    expect(await ids()).toEqual([[1, 2, 3], 3]);
    expect(await ids({ type: "master" })).toEqual([[1, 3], 2]);
    expect(await ids({ type: "master", domain: "c.example" })).toEqual([[3], 1]);
    expect(await ids({ domain: "gone.example" })).toEqual([[], 0]);
  });
});
