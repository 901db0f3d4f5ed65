/** What a fleet's run shows while it lasts. */

import { expect, test } from "vitest";
import { FleetMeter } from "../../src/cli/fleet-progress.ts";
import { runCommand } from "../../src/cli/program.ts";
import { fleetOf } from "../support/fleet.ts";
import { stage } from "./stage.ts";

const OUTCOME = { type: "ran", code: 0, headline: "", text: "", markup: "plain", document: null } as const;

test("a fleet's progress counts accounts, the requests of the last seconds, and says how long it still takes", () => {
  let now = 5_000;
  const meter = new FleetMeter(60, () => now);
  let [begun, ended] = [0, 0];
  const begin = () => meter.report({ type: "begun", account: `a${++begun}` });
  const end = () => meter.report({ type: "done", account: `a${++ended}`, outcome: OUTCOME, left: 0 });
  for (let count = 0; count < 4; count += 1) begin();
  expect(meter.text()).toBe("0 of 60 accounts done, 4 running, 56 waiting");
  meter.report({ type: "left", account: "a1" });
  expect(meter.text()).toBe("0 of 60 accounts done, 3 running, 57 waiting");
  meter.report({ type: "begun", account: "a1" });
  // Two requests a second for twelve seconds, of which the last ten count; six accounts in that time.
  for (let count = 0; count < 24; count += 1) {
    now += 500;
    meter.request();
    if (count % 4 === 3) {
      end();
      begin();
    }
  }
  expect(meter.text()).toBe("6 of 60 accounts done, 4 running, 50 waiting, 1.9 requests/s, 108 s left");
  // Where nothing is sent for a while, a rate of before would be no rate.
  now += 60_000;
  expect(meter.text()).toBe("6 of 60 accounts done, 4 running, 50 waiting, 11 min left");
  for (let count = 0; count < 50; count += 1) {
    end();
    begin();
  }
  for (let count = 0; count < 4; count += 1) end();
  expect(meter.text()).toBe("60 of 60 accounts done, 0 running, 0 waiting");
});

test("a terminal shows the progress on a line that it takes away, and an account's own output has none", async () => {
  const { cwd, env } = await fleetOf(3, { latencyMilliseconds: 500 });
  const { terminal, printed, said } = stage(env);
  const shown = { ...terminal, messages: { ...terminal.messages, isTerminal: true, width: 120 } };
  const code = await runCommand(shown, ["fleet", "plan", `${cwd}/fleet.yaml`, "--workers", "1"]);
  expect(code).toBe(0);
  expect(said()).toContain("\r\u001b[K1 of 3 accounts done, 1 running, 1 waiting");
  expect(said()).toMatch(/\d\.\d requests\/s/);
  expect(said().endsWith("\r\u001b[K")).toBe(true);
  expect(printed()).not.toContain("\u001b");
  expect(printed()).not.toContain("accounts done");
});
