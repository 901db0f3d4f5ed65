/** Loaded with `node -r`, with --expose-gc: whoever started the process asks it by a message what lives on its heap. */

process.on("message", () => {
  globalThis.gc();
  process.send(process.memoryUsage().heapUsed);
});
process.channel.unref();
