/** The process that is asked: the emulator, or bare fastify routes that answer bodies of the same size. Told by messages. */

import { once } from "node:events";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { fastify } from "fastify";

const DIST = process.env.TENON_DIST ?? new URL("../dist/", import.meta.url).href;

const actions = {
  /** `answers`: what each bare route is to answer, by method. */
  floor: startFloor,
  /** The seed is made here: a large one takes long to send. */
  emulator: async ({ zones, records, large }) => {
    const { startEmulator } = await import(new URL("emulator/index.js", DIST));
    const start = performance.now();
    const { port } = await startEmulator({ seed: { domains: seedDomains(zones, records, large) } });
    return { port, seconds: (performance.now() - start) / 1000 };
  },
  seeded: async (options) => {
    const { startEmulator } = await import(new URL("emulator/index.js", DIST));
    const { port } = await startEmulator(options);
    return { port };
  },
  sink: startSink,
  usage: () => {
    const { user, system } = process.cpuUsage();
    return { microseconds: user + system };
  },
  memory: () => {
    for (let round = 0; round < 3; round += 1) globalThis.gc();
    const { rss, heapUsed } = process.memoryUsage();
    return { rss, heapUsed, maxRss: process.resourceUsage().maxRSS * 1024 };
  },
};

process.on("message", async ({ action, input }) => process.send(await actions[action](input ?? {})));
await once(process, "disconnect");
process.exit();

async function startFloor({ answers }) {
  const app = fastify();
  for (const [method, byName] of Object.entries(answers)) {
    for (const [name, body] of Object.entries(byName)) {
      app.route({ method, url: `/${name}/:id`, handler: async () => body });
    }
  }
  await app.listen({ host: "127.0.0.1", port: 0 });
  return { port: app.server.address().port };
}

/**
 * The emulator, but what is uploaded is counted and dropped: to unpack gigabytes takes longer than to send them. The emulator gets a small
 * image in its place, so that it becomes available.
 */
async function startSink() {
  const { startEmulator } = await import(new URL("emulator/index.js", DIST));
  const { origin } = new URL((await startEmulator()).baseUrl);
  const server = createServer(async (incoming, response) => {
    const isData = !incoming.url.startsWith("/v4/");
    // Of the connection, not of the request: Node has answered the question of curl whether it may send.
    const { host, connection, expect, "content-length": announced, ...headers } = incoming.headers;
    const body = isData ? gzipSync("") : Buffer.concat(await incoming.toArray());
    if (isData) {
      let bytes = 0;
      incoming.on("data", (chunk) => {
        bytes += chunk.length;
      });
      await once(incoming, "end");
      if (bytes !== Number(announced)) throw new Error(`${bytes} bytes of ${announced} came`);
    }
    const { method } = incoming;
    const answer = await fetch(`${origin}${incoming.url}`, { method, headers, ...(method === "GET" ? {} : { body }) });
    const text = (await answer.text()).replaceAll(origin, `http://${host}`);
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" }).end(text);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { port: server.address().port };
}

/** `large`: the records of one more zone. */
function seedDomains(zones, records, large) {
  const sizes = [...Array.from({ length: zones }, () => records), ...(large === undefined ? [] : [large])];
  return sizes.map((size, zone) => ({
    domain: `zone-${zone}.example`,
    tags: zone % 10 === 0 ? ["tenth"] : [],
    records: Array.from({ length: size }, (_, index) => ({
      type: "A",
      name: `host-${index}`,
      target: `192.0.2.${index % 256}`,
    })),
  }));
}
