/** Address and name globs: `*` matches any text, `/` and dots included; `\*` is a star. */

/**
 * Whether `text` fits `glob`, case-sensitively. Linear in practice and at worst |glob|·|text|: it never backtracks
 * further than the last star, so that a hostile glob cannot stall a plan.
 */
export function globMatches(glob: string, text: string): boolean {
  const tokens = tokenise(glob);
  let token = 0;
  let position = 0;
  let starToken = -1;
  let starPosition = 0;
  while (position < text.length) {
    const expected = tokens[token];
    if (expected === STAR) {
      starToken = token;
      starPosition = position;
      token += 1;
    } else if (expected === text[position]) {
      token += 1;
      position += 1;
    } else if (starToken !== -1) {
      token = starToken + 1;
      starPosition += 1;
      position = starPosition;
    } else {
      return false;
    }
  }
  while (tokens[token] === STAR) token += 1;
  return token === tokens.length;
}

/** Text that a glob takes literally: stars are escaped. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*]/g, (character) => `\\${character}`);
}

/** Whether the glob can match `address` or anything beneath it. May be wrong only by saying yes. */
export function mayMatchWithin(glob: string, address: string): boolean {
  const tokens = tokenise(glob);
  const star = tokens.indexOf(STAR);
  const prefix = tokens.slice(0, star === -1 ? tokens.length : star).join("");
  return prefix.startsWith(`${address}/`) || `${address}/`.startsWith(prefix);
}

const STAR = Symbol("star");

function tokenise(glob: string): (string | typeof STAR)[] {
  const tokens: (string | typeof STAR)[] = [];
  for (let index = 0; index < glob.length; index += 1) {
    const character = glob[index] as string;
    const next = glob[index + 1];
    if (character === "\\" && (next === "*" || next === "\\")) {
      tokens.push(next);
      index += 1;
    } else if (character !== "*") {
      tokens.push(character);
    } else if (tokens.at(-1) !== STAR) {
      tokens.push(STAR);
    }
  }
  return tokens;
}
