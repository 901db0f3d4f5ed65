/** DNSControl cannot be told another address than the service's: a proxy of this process stands for it, and leads to the emulator. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as ask, createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { runProgram } from "../program.mjs";

/** The only address that DNSControl knows. */
const SERVICE = "api.linode.com";

/**
 * @param request `openssl`: its path, which makes the certificate; `folder`: where key and certificate are written; `origin`: the emulator's
 * @returns the environment that leads a program of Go through the proxy and lets it trust the certificate, and what closes the proxy
 */
export async function openServiceProxy({ openssl, folder, origin }) {
  const [key, certificate] = ["key.pem", "certificate.pem"].map((file) => join(folder, file));
  const subject = ["-subj", `/CN=${SERVICE}`, "-addext", `subjectAltName=DNS:${SERVICE}`];
  const made = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate];
  await runProgram(openssl, ["req", "-x509", ...made, ...subject], { cwd: folder });
  const { port, close } = await proxy(origin, { key: readFileSync(key), cert: readFileSync(certificate) });
  const env = { HTTPS_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: "", no_proxy: "", SSL_CERT_FILE: certificate };
  return { env, close };
}

/** Every tunnel leads to the emulator. */
async function proxy(origin, credentials) {
  const service = createSecureServer(credentials, async (incoming, response) => {
    const { method, url } = incoming;
    // The emulator answers under its own name only.
    const { host: _, ...headers } = incoming.headers;
    const forwarded = ask(`${origin}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      pipeline(answer, response).catch(() => {});
    });
    forwarded.on("error", () => response.destroy());
    await pipeline(incoming, forwarded).catch(() => {});
  });
  const server = createServer().on("connect", (_request, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    service.emit("connection", socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const close = () => {
    server.close();
    service.closeAllConnections();
    server.closeAllConnections();
  };
  return { port: server.address().port, close };
}
