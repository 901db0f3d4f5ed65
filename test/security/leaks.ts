/** Looks for secrets in what was printed or written, in every spelling that a program might give them. */

/** Less of a secret than this is no use to anybody, and may be chance. */
const MIN_PART_CHARACTERS = 12;

/** @returns the spellings that were found; empty if the text keeps the secrets */
export function leaks(text: string, secrets: readonly string[]): string[] {
  return secrets.flatMap((secret) => spellings(secret).filter((spelling) => text.includes(spelling)));
}

function spellings(secret: string): string[] {
  const whole = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...base64Forms(secret)];
  const half = Math.ceil(secret.length / 2);
  const halves = half >= MIN_PART_CHARACTERS ? [secret.slice(0, half), secret.slice(-half)] : [];
  return [...new Set([...whole, ...halves])];
}

/** As it may stand within a longer text that was encoded: the middle, which does not depend on what is around it. */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].map((shift) => {
    const text = Buffer.from(" ".repeat(shift) + secret).toString("base64");
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
}
