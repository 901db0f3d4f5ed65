/**
 * A client of PostgreSQL that ends its connection when the server begins a message that is longer than any that a fleet reads. Whoever can write to
 * the tables can put a gigabyte into one row: pg would hold it several times over, and a string of more than half a gigabyte ends the process.
 */

import type { Duplex } from "node:stream";
import pg from "pg";
import { MAX_RECORD_OCTETS } from "./store.ts";

/** A row has a record at most, and what says which one it is. */
export const MAX_ROW_OCTETS: number = MAX_RECORD_OCTETS + 1024 * 1024;
/** Any other message: an error repeats the value that it is about. */
export const MAX_NOTE_OCTETS: number = 1024 * 1024;

/** A byte for the kind of the message, and four for its length, which counts itself: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const HEADER_OCTETS = 5;
const DATA_ROW = "D".charCodeAt(0);

/** The server began a message that is longer than any that a fleet reads. */
export class TooLongAnswer extends Error {
  override readonly name: string = "TooLongAnswer";
}

/** Reads the headers of the messages that go by, however they are cut into pieces. */
export class MessageLengths {
  readonly #header: Buffer = Buffer.alloc(HEADER_OCTETS);
  #headerOctets = 0;
  /** What is still to come of the message. */
  #leftOctets = 0;

  /** @returns the octets of a message that is too long; null: there is none */
  take(piece: Buffer): number | null {
    let from = 0;
    while (from < piece.length) {
      const skipped = Math.min(this.#leftOctets, piece.length - from);
      this.#leftOctets -= skipped;
      from += skipped;
      const copied = piece.copy(this.#header, this.#headerOctets, from, from + HEADER_OCTETS - this.#headerOctets);
      this.#headerOctets += copied;
      from += copied;
      if (this.#headerOctets < HEADER_OCTETS) break;
      this.#headerOctets = 0;
      const octets = this.#header.readUInt32BE(1);
      if (octets > (this.#header[0] === DATA_ROW ? MAX_ROW_OCTETS : MAX_NOTE_OCTETS)) return octets;
      this.#leftOctets = Math.max(octets + 1 - HEADER_OCTETS, 0);
    }
    return null;
  }
}

/** The part of pg's connection that its type keeps for itself: called once, with the stream on which messages come, that of TLS if there is one. */
interface ListeningConnection {
  attachListeners(stream: Duplex): void;
}

/** The connection of a client that has not begun to connect. */
function bound(connection: ListeningConnection): void {
  const attach = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream) => {
    const lengths = new MessageLengths();
    // Before pg's own: what follows a piece that is too long is not read any more.
    stream.on("data", (piece: Buffer) => {
      if (stream.destroyed) return;
      const octets = lengths.take(piece);
      if (octets !== null) stream.destroy(new TooLongAnswer(`${octets} octets in one message`));
    });
    attach(stream);
  };
}

export class BoundedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    bound(this.connection as unknown as ListeningConnection);
  }
}

/** A pool of such clients. */
export function boundedPool(options: pg.PoolConfig): pg.Pool {
  return new pg.Pool({ ...options, Client: BoundedClient });
}
