import { describe, expect, it } from "vitest";
import { checkBaseUrl, createApi } from "../../src/api/index.ts";

describe("the base URL", () => {
  it.each([
    ["https://api.example.com/v4", "https://api.example.com/v4"],
    ["https://api.example.com/v4/", "https://api.example.com/v4"],
    ["  https://api.example.com:8443/v4//  ", "https://api.example.com:8443/v4"],
    ["http://localhost:4010/v4", "http://localhost:4010/v4"],
    ["http://127.0.0.1:4010/v4", "http://127.0.0.1:4010/v4"],
    ["http://127.1/v4", "http://127.0.0.1/v4"],
    ["http://[::1]:4010/v4", "http://[::1]:4010/v4"],
  ])("%s is taken", (text, url) => {
    expect(checkBaseUrl(text)).toEqual({ ok: true, url });
  });

  it.each([
    [undefined, "base-url-missing"],
    ["  ", "base-url-missing"],
    ["api.example.com/v4", "base-url-invalid"],
    ["mailto:someone@example.com", "base-url-invalid"],
    ["https://api.example.com/v4?x=1", "base-url-invalid"],
    ["https://api.example.com/v4#top", "base-url-invalid"],
    ["https://user:secret@api.example.com/v4", "base-url-credentials"],
    ["http://api.example.com/v4", "base-url-insecure"],
    ["http://127.0.0.1.example.com/v4", "base-url-insecure"],
    ["http://localhost.example.com/v4", "base-url-insecure"],
    ["http://10.0.0.1/v4", "base-url-insecure"],
    ["ftp://localhost/v4", "base-url-insecure"],
  ])("%s is refused", (text, code) => {
    const checked = checkBaseUrl(text);
    expect(checked).toMatchObject({ ok: false, diagnostic: { code, severity: "error" } });
    expect(JSON.stringify(checked)).not.toContain("secret");
  });

  it("is checked again by the client, since the token goes there", async () => {
    await expect(createApi({ baseUrl: "http://api.example.com/v4", token: "t" })).rejects.toThrow("not https");
  });
});
