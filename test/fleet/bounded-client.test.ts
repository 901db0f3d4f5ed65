import { expect, test } from "vitest";
import { MAX_NOTE_OCTETS, MAX_ROW_OCTETS, MessageLengths } from "../../src/fleet/bounded-client.ts";

function message(kind: string, octets: number, body: number = octets - 4): Buffer {
  const header = Buffer.alloc(5);
  header.write(kind);
  header.writeUInt32BE(octets, 1);
  return Buffer.concat([header, Buffer.alloc(body, 255)]);
}

test("the length of each message is read before the message, however the stream is cut", () => {
  const sound = [message("Z", 5), message("D", 4), message("D", 300), message("S", 40), message("C", 11)];
  const long = message("D", MAX_ROW_OCTETS + 1, 0);
  const stream = Buffer.concat([...sound, long]);
  for (const pieceOctets of [1, 2, 3, 4, 5, 6, 7, 64, 299, stream.length]) {
    const lengths = new MessageLengths();
    const found: number[] = [];
    for (let from = 0; from < stream.length; from += pieceOctets) {
      const octets = lengths.take(stream.subarray(from, from + pieceOctets));
      if (octets !== null) found.push(octets);
    }
    expect([pieceOctets, found]).toEqual([pieceOctets, [MAX_ROW_OCTETS + 1]]);
  }
});

test("a row may have a whole record, and no other message is as long", () => {
  const lengthOf = (kind: string, octets: number) => new MessageLengths().take(message(kind, octets, 0));
  expect(lengthOf("D", MAX_ROW_OCTETS)).toBeNull();
  expect(lengthOf("E", MAX_NOTE_OCTETS)).toBeNull();
  for (const kind of ["E", "N", "A", "T", "d"])
    expect([kind, lengthOf(kind, MAX_NOTE_OCTETS + 1)]).toEqual([kind, MAX_NOTE_OCTETS + 1]);
  // Longer than any number with a sign has, and shorter than a length is itself.
  expect(lengthOf("E", 0xff_ff_ff_ff)).toBe(0xff_ff_ff_ff);
  expect(lengthOf("E", 0)).toBeNull();
});
