/** Messages on a TCP stream (RFC 1035, 4.2.2): two octets of length before each, cut into segments anywhere. */

const LENGTH_OCTETS = 2;

/** Takes a stream's chunks and gives the messages that are complete. Holds one message at most, and copies each octet once. */
export class FrameReader {
  readonly #length = Buffer.alloc(LENGTH_OCTETS);
  #lengthFilled = 0;
  /** null: the length is not yet known. */
  #message: Buffer | null = null;
  #messageFilled = 0;

  /** Lazily, so that nothing is made of messages that nobody wants any more. */
  *push(chunk: Buffer): Generator<Buffer> {
    let offset = 0;
    while (offset < chunk.length) {
      offset += this.#fill(chunk.subarray(offset));
      if (this.#message === null || this.#messageFilled < this.#message.length) continue;
      const message = this.#message;
      this.#message = null;
      this.#lengthFilled = 0;
      yield message;
    }
  }

  /** @returns how many octets were taken */
  #fill(octets: Buffer): number {
    if (this.#message !== null) {
      const taken = octets.copy(this.#message, this.#messageFilled);
      this.#messageFilled += taken;
      return taken;
    }
    const taken = octets.copy(this.#length, this.#lengthFilled);
    this.#lengthFilled += taken;
    if (this.#lengthFilled === LENGTH_OCTETS) {
      this.#message = Buffer.alloc(this.#length.readUInt16BE(0));
      this.#messageFilled = 0;
    }
    return taken;
  }
}
