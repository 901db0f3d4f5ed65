/**
 * Files that are sent: an image to the signed URL that the service gave (API.md, Images, rule 2), if that may be reached and it is the file
 * of the plan; an attachment as a form.
 */

import { createHash } from "node:crypto";
import { lookup } from "node:dns";
import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import type { FileContent, FormFile, UploadRequest } from "../model/api.ts";
import { isSecure } from "./connection.ts";
import { CHANGED_SINCE_PLAN, classifyUploadResponse, forbiddenAddress } from "./outcome.ts";
import type { PreparedRequest } from "./send.ts";
import { CHANGED_FILE, CHANGED_FORM_FILE, FORBIDDEN_ADDRESS, type HttpCall } from "./transport.ts";

/** API.md, Limits: at most 5 GB compressed. */
const MAX_UPLOAD_BYTES: number = 5 * 1024 ** 3;

/**
 * Prepares the request of an upload: without the token, and shown without its path, which is part of the secret.
 * @param reach tells whether an address may be contacted: a remote service must not direct the upload to this machine or to its private
 * networks
 * @returns what is wrong with the file or the URL, as a sentence without a full stop
 */
export async function prepareUpload(request: UploadRequest, reach: Reach): Promise<PreparedRequest | string> {
  const url = URL.canParse(request.url) ? new URL(request.url) : null;
  if (url === null || !isSecure(url)) return "the service gave an address for the upload that is not https";
  const network = reach(url.hostname);
  const size = await sizeOf(request.file);
  if (network !== null) return forbiddenAddress(network);
  if (typeof size === "string") return size;
  if (request.content !== undefined && request.content.bytes !== size) return CHANGED_SINCE_PLAN;
  return {
    call: {
      method: "PUT",
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      headers: { "content-type": "application/octet-stream", "content-length": String(size) },
      content: {
        type: "file",
        file: request.file,
        ...(request.content && { content: request.content }),
        ...(request.progress && { progress: (sent: number) => request.progress?.(sent, size) }),
      },
    },
    shownPath: "(upload)",
    endpoint: null,
    classify: classifyUploadResponse,
  };
}

async function sizeOf(file: string): Promise<number | string> {
  try {
    const found = await stat(file);
    if (!found.isFile()) return `${file} is not a file`;
    if (found.size > MAX_UPLOAD_BYTES) return `${file} is larger than the service takes (5 GB)`;
    return found.size;
  } catch (error) {
    return `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`;
  }
}

// The bytes.

/** Bytes that are read, hashed and sent at once. */
const CHUNK_BYTES = 1024 * 1024;

/** The file's bytes. */
export function fileChunks(source: Extract<HttpCall["content"], { type: "file" }>): AsyncGenerator<Buffer> {
  return chunksOf(source, { changedCode: CHANGED_FILE, flags: 0 });
}

interface Source {
  readonly file: string;
  readonly content?: FileContent;
  progress?(sentBytes: number): void;
}

/**
 * The last bytes are held back until the whole content is checked: without them the service keeps nothing. Two buffers are used in turns, so
 * whoever takes a chunk must be done with it before taking the next but one. undici is: each chunk but the last fills its buffer, and undici
 * waits until the socket has handed on a chunk of this size.
 * @param changedCode of the error if the file holds something else
 * @param flags for opening it, beside those for reading
 */
async function* chunksOf(
  { file, content, progress }: Source,
  { changedCode, flags }: { readonly changedCode: string; readonly flags: number },
): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  const changed = () => Object.assign(new Error("changed"), { code: changedCode });
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  try {
    if (!(await handle.stat()).isFile()) throw changed();
    const buffers = [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)] as const;
    let [bytes, sent] = [0, 0];
    let held: Buffer | null = null;
    for (let turn = 0; ; turn += 1) {
      const chunk = await fill(handle, buffers[turn % 2 === 0 ? 0 : 1]);
      if (chunk.length === 0) break;
      bytes += chunk.length;
      // If the file has grown, the held bytes may be the last that the service waits for: they must not be sent.
      if (content !== undefined && bytes > content.bytes) throw changed();
      if (content !== undefined) hash.update(chunk);
      if (held !== null) {
        yield held;
        sent += held.length;
        progress?.(sent);
      }
      held = chunk;
    }
    if (content !== undefined && hash.digest("hex") !== content.sha256) throw changed();
    if (held !== null) yield held;
    progress?.(bytes);
  } finally {
    await handle.close();
  }
}

/** Some file systems give less at once than was asked for. */
async function fill(handle: FileHandle, buffer: Buffer): Promise<Buffer> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

// A form with one file (RFC 7578).

type FormContent = Extract<HttpCall["content"], { type: "form" }>;

/** What is sent for a form, and its headers. Names are written as browsers write them: in UTF-8. */
export function formOf({ field, file, name, content }: FormFile): {
  readonly content: FormContent;
  readonly headers: Readonly<Record<string, string>>;
} {
  // No file holds its own digest.
  const boundary = `tenon-${content.sha256}`;
  const disposition = `Content-Disposition: form-data; name="${field}"; filename="${name}"`;
  const head = `--${boundary}\r\n${disposition}\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const bytes = Buffer.byteLength(head) + content.bytes + Buffer.byteLength(tail);
  return {
    content: { type: "form", file, content, head, tail },
    headers: { "content-type": `multipart/form-data; boundary=${boundary}`, "content-length": String(bytes) },
  };
}

/** What has changed is never a whole form, as in an upload. A link or a named pipe in the file's place is neither followed nor waited for. */
export async function* formChunks({ file, content, head, tail }: FormContent): AsyncGenerator<Buffer> {
  yield Buffer.from(head);
  yield* chunksOf({ file, content }, { changedCode: CHANGED_FORM_FILE, flags: constants.O_NOFOLLOW });
  yield Buffer.from(tail);
}

// Which networks an upload may reach: the Internet, and those that the service itself is in.

const THIS_MACHINE = "this machine";
/** A service whose name leads to more is known by these. */
const MAX_SERVICE_ADDRESSES = 100;

/** RFC 1918: each is a network of its own. */
const PRIVATE_RANGES = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"].map((text) => ({
  text,
  range: ipaddr.parseCIDR(text) as [ipaddr.IPv4, number],
}));

/** Azure's platform, which each virtual machine reaches and nobody else (learn.microsoft.com, "What is IP address 168.63.129.16"). */
const PLATFORM_ADDRESS = "168.63.129.16";

/** @returns null if the address may be contacted, else a noun phrase that says where it is */
export type Reach = (hostname: string) => string | null;

/**
 * The networks that the service is in: that of its base URL, if this names one, and those in which it has proved to be. What its name resolves
 * to proves nothing, as the service itself may write that into the DNS.
 */
export class ServiceNetworks {
  readonly #hosts: Set<string>;

  /** @param service the base URL */
  constructor(service: URL) {
    this.#hosts = new Set([service.hostname]);
  }

  /** @param address at the other end of a connection to the service, over TLS only once the certificate is that of its name */
  connected(address: string): void {
    if (this.#hosts.size < MAX_SERVICE_ADDRESSES) this.#hosts.add(address);
  }

  readonly reach: Reach = (host) => {
    const network = networkOfHost(host);
    return network === null || [...this.#hosts].some((own) => networksOf(own).includes(network)) ? null : network;
  };
}

/** A DNS lookup that fails if an address is in a network that `reach` refuses. */
export function guardedLookup(reach: Reach): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      for (const { address } of addresses) {
        const network = reach(address);
        if (network !== null) return callback(Object.assign(new Error(network), { code: FORBIDDEN_ADDRESS }), []);
      }
      const [first] = addresses;
      if (options.all === true || first === undefined) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** An own address is of this machine, and of the network around it. */
function networksOf(host: string): string[] {
  const name = bare(host);
  return [networkOfHost(name), ipaddr.isValid(name) ? rangeOf(name) : null].filter((network) => network !== null);
}

/** null: of the Internet, or a name that says nothing. @param host of a URL, or an address */
function networkOfHost(host: string): string | null {
  const name = bare(host);
  if (ipaddr.isValid(name)) return ownAddresses().has(ipaddr.parse(name).toString()) ? THIS_MACHINE : rangeOf(name);
  return name === "localhost" || name.endsWith(".localhost") || name === hostname().toLowerCase() ? THIS_MACHINE : null;
}

/** Without the brackets of an address, a zone identifier, and the dot that makes a name absolute. */
function bare(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/%.*$/, "")
    .replace(/\.$/, "")
    .toLowerCase();
}

function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return new Set(all.map(({ address }) => ipaddr.parse(bare(address)).toString()));
}

function rangeOf(address: string): string | null {
  const plain = withoutIpv6Around(ipaddr.parse(address));
  const range = plain.range();
  if (plain.toString() === PLATFORM_ADDRESS) return "the platform of a cloud";
  if (range === "unicast") return null;
  if (range === "loopback" || range === "unspecified") return THIS_MACHINE;
  const own = plain instanceof ipaddr.IPv4 ? PRIVATE_RANGES.find((each) => plain.match(each.range)) : undefined;
  return `the network ${own?.text ?? range}`;
}

/**
 * IPv4 as IPv6 carries it: mapped, compatible (RFC 4291, 2.5.5), translated (RFC 6052, RFC 6145), or 6to4 (RFC 3056). An address of
 * 64:ff9b:1::/48 stays as it is: it is of a network's own translator, at a place that only this network knows (RFC 8215).
 */
function withoutIpv6Around(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address instanceof ipaddr.IPv4) return address;
  const { parts } = address;
  const range = address.range();
  if (range === "6to4") return ipv4Of(parts[1], parts[2]);
  const isCompatible = range === "unicast" && parts.slice(0, 6).every((part) => part === 0);
  const isWellKnown = range === "rfc6052" && parts.slice(2, 6).every((part) => part === 0);
  const carries = isCompatible || isWellKnown || range === "ipv4Mapped" || range === "rfc6145";
  return carries ? ipv4Of(parts[6], parts[7]) : address;
}

function ipv4Of(high = 0, low = 0): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
