import { describe, expect, it } from "vitest";
import { run, start } from "./run.ts";

async function statuses(args: readonly string[], count: number): Promise<number[]> {
  const child = start(["emulate", ...args]);
  const first = await new Promise<string>((resolve) => child.stdout.once("data", (text) => resolve(String(text))));
  const url = `${first.replace("listening on ", "").trim()}/vpcs`;
  const seen: number[] = [];
  for (let request = 0; request < count; request += 1) {
    const answer = await fetch(url, { headers: { authorization: "Bearer emulator-token" } });
    seen.push(answer.status);
  }
  child.kill("SIGTERM");
  expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
  return seen;
}

describe("tenon emulate --fault", () => {
  it("lets go wrong what it is told to, any number of things", async () => {
    const args = ["--fault", "status=503,method=GET,nth=2", "--fault", "html=502,every=4"];
    expect(await statuses(args, 5)).toEqual([200, 503, 200, 502, 200]);
  });

  it("repeats the same chances with the same seed", async () => {
    const args = ["--fault", "status=500,rate=0.5", "--fault-seed"];
    const first = await statuses([...args, "7"], 40);
    expect(await statuses([...args, "7"], 40)).toEqual(first);
    expect(await statuses([...args, "8"], 40)).not.toEqual(first);
  });

  it.each([
    ["status=503,mehtod=GET", 'unknown key "mehtod"', "status=503,method=POST,nth=2"],
    ["status=900", "status must be a whole number from 400 to 599", "as in status=503"],
    ["nth=2", "it names no effect", "as in status=503,nth=2"],
  ])("says what is wrong with %s, with an example", async (spec, problem, example) => {
    const { code, stdout, stderr } = await run(["emulate", "--fault", spec]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^error: the emulator cannot start: fault /);
    const words = stderr.replace(/\s+/g, " ");
    expect(words).toContain(problem);
    expect(words).toContain(example);
    expect(stderr).not.toContain("    at ");
  });

  it.each(["x", "-1", "1.5", "4294967296"])("refuses %s as a seed", async (seed) => {
    const { code, stdout, stderr } = await run(["emulate", "--fault-seed", seed]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("--fault-seed");
  });
});
