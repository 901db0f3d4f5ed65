/** Gzip that is the same, byte for byte, with every version of zlib: for files whose hash or size is shown. */

import { crc32 } from "node:zlib";

/** A text, stored without compression (RFC 1952; RFC 1951, 3.2.4). */
export function storedGzip(text: string): Buffer {
  const data = Buffer.from(text);
  const [block, end] = [Buffer.alloc(5), Buffer.alloc(8)];
  block.writeUInt8(1, 0);
  block.writeUInt16LE(data.length, 1);
  block.writeUInt16LE(~data.length & 0xffff, 3);
  end.writeUInt32LE(crc32(data), 0);
  end.writeUInt32LE(data.length, 4);
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]), block, data, end]);
}
