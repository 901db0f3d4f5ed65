/** The process that is measured: the emulator, or bare fastify routes that answer bodies of the same size. Told by messages. */

import { once } from "node:events";
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
