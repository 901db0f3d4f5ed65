import { expect, it } from "vitest";
import { MODULE, run } from "./module.ts";

it("undici is loaded only when a client is made", async () => {
  const script = `
    import { createRequire } from "node:module";
    const loaded = () => Object.keys(createRequire("file:///").cache).some((path) => path.includes("undici"));
    const { createApi } = await import(${JSON.stringify(MODULE)});
    const before = loaded();
    const api = await createApi({ baseUrl: "https://api.example/v4", token: "t" });
    console.log(JSON.stringify([before, loaded()]));
    await api.close();
  `;
  expect(JSON.parse(await run(script))).toEqual([false, true]);
});
