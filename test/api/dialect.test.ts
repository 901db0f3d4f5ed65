import { describe, expect, it } from "vitest";
import { allowedSeconds, isDialect } from "../../src/api/index.ts";
import { error, json, open, serve } from "./scripted.ts";

const OTHER = { dialect: "linode" };

describe("the dialect", () => {
  it("allows 30 and 120 seconds outside of API.md's own vocabulary", () => {
    expect(allowedSeconds("node")).toEqual([...allowedSeconds("node")].sort((a, b) => a - b));
    expect(allowedSeconds("node")[0]).toBe(300);
    expect(allowedSeconds("linode").slice(0, 3)).toEqual([30, 120, 300]);
    expect(isDialect("linode") && !isDialect("a/b") && !isDialect("")).toBe(true);
  });

  it("turns the nodes of subnets into API.md's words, in lists and single answers", async () => {
    const subnet = { id: 2, label: "web", linodes: [{ id: 9, interfaces: [] }] };
    const vpc = { id: 1, label: "linodes", description: "linode_id", subnets: [subnet] };
    const server = await serve((request, response) => {
      if (request.url.startsWith("/v4/vpcs/1/subnets"))
        return json(response, 200, { data: [subnet], page: 1, pages: 1, results: 1 });
      if (request.url === "/v4/vpcs/1") return json(response, 200, vpc);
      json(response, 200, { data: [vpc], page: 1, pages: 1, results: 1 });
    });
    const { api } = await open(server.baseUrl, OTHER);
    const neutralSubnet = { id: 2, label: "web", nodes: [{ id: 9, interfaces: [] }] };
    const neutral = { id: 1, label: "linodes", description: "linode_id", subnets: [neutralSubnet] };
    expect(await api.list({ path: ["vpcs"] })).toEqual({ ok: true, items: [neutral], total: 1 });
    expect(await api.send({ method: "GET", path: ["vpcs", "1"] })).toEqual({ ok: true, body: neutral });
    expect(await api.list({ path: ["vpcs", "1", "subnets"] })).toMatchObject({ items: [neutralSubnet] });
  });

  it("asks for VPC addresses at the service's own path, with its filter keys", async () => {
    const server = await serve((_request, response) =>
      json(response, 200, { data: [{ linode_id: 7, vpc_id: 1 }], page: 1, pages: 1, results: 1 }),
    );
    const { api } = await open(server.baseUrl, OTHER);
    const filter = { "+and": [{ "+or": [{ node_id: 7 }] }, { label: "node_id" }] };
    const answer = await api.list({ path: ["networking", "vpcs", "ips"], filter });
    expect(answer).toMatchObject({ ok: true, items: [{ node_id: 7, vpc_id: 1 }] });
    expect(server.requests[0]?.url).toBe("/v4/vpcs/ips?page=1&page_size=500");
    const sent = '{"+and":[{"+or":[{"linode_id":7}]},{"label":"node_id"}]}';
    expect(server.requests[0]?.headers["x-filter"]).toBe(sent);
  });

  it("in API.md's own vocabulary tries API.md's path first, and remembers the other", async () => {
    const server = await serve((request, response) => {
      if (request.url.startsWith("/v4/networking")) return error(response, 404, "Not found");
      json(response, 200, { data: [{ node_id: 7 }], page: 1, pages: 1, results: 1 });
    });
    const { api } = await open(server.baseUrl);
    const path = ["networking", "vpcs", "ips"];
    expect(await api.list({ path })).toMatchObject({ ok: true, items: [{ node_id: 7 }] });
    expect(await api.list({ path })).toMatchObject({ ok: true, items: [{ node_id: 7 }] });
    expect(server.requests.map((request) => request.url.split("?")[0])).toEqual([
      "/v4/networking/vpcs/ips",
      "/v4/vpcs/ips",
      "/v4/vpcs/ips",
    ]);
  });

  it("translates image ids and makers, but no user who is called like the word", async () => {
    const images = [
      { id: "linode/debian12", label: "linode/x", created_by: "linode" },
      { id: "private/1", label: "mine", created_by: "linode" },
    ];
    const server = await serve((request, response) => {
      if (request.method === "POST")
        return json(response, 200, { upload_to: "https://x/linode/1", image: images[0] ?? null });
      if (request.url === "/v4/images/linode%2Fdebian12") return json(response, 200, images[0] ?? null);
      json(response, 200, { data: images, page: 1, pages: 1, results: 2 });
    });
    const { api } = await open(server.baseUrl, OTHER);
    const neutral = { id: "node/debian12", label: "linode/x", created_by: "node" };
    expect(await api.list({ path: ["images"] })).toMatchObject({ items: [neutral, images[1]] });
    expect(await api.send({ method: "GET", path: ["images", "node/debian12"] })).toEqual({ ok: true, body: neutral });
    const upload = await api.send({ method: "POST", path: ["images", "upload"], body: { label: "x" } });
    expect(upload).toEqual({ ok: true, body: { upload_to: "https://x/linode/1", image: neutral } });
  });

  it("translates tickets in both directions, and the field an error names", async () => {
    const server = await serve((request, response) => {
      if (request.number === 2) return error(response, 400, "linode_id is not yours", "linode_id");
      json(response, 200, {
        id: 1,
        gravatar_id: "g",
        from_linode: true,
        entity: { id: 7, type: "linode", label: "linode" },
      });
    });
    const { api } = await open(server.baseUrl, OTHER);
    const body = { summary: "node_id", description: "node", node_id: 7 };
    const answer = await api.send({ method: "POST", path: ["support", "tickets"], body });
    expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({
      summary: "node_id",
      description: "node",
      linode_id: 7,
    });
    const entity = { id: 7, type: "node", label: "linode" };
    expect(answer).toEqual({ ok: true, body: { id: 1, avatar_id: "g", from_linode: true, entity } });
    const refused = await api.send({ method: "POST", path: ["support", "tickets"], body });
    expect(refused).toMatchObject({ failure: { errors: [{ field: "node_id", reason: "linode_id is not yours" }] } });
  });

  it("leaves records alone, whatever they say", async () => {
    const record = { id: 1, type: "TXT", target: "linode_id", name: "linodes", linode_id: 5 };
    const server = await serve((_request, response) => json(response, 200, record));
    const { api } = await open(server.baseUrl, OTHER);
    const body = { type: "TXT", target: "node_id=1", name: "node", node_id: 1 };
    const answer = await api.send({ method: "POST", path: ["domains", "1", "records"], body });
    expect(answer).toEqual({ ok: true, body: record });
    expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual(body);
  });
});
