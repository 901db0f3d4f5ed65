/** What a chaos suite prints when it is through: how much was tried, how much of it was survived. */

export interface Counts {
  readonly suite: string;
  readonly tried: number;
  readonly survived: number;
  /** What else is worth knowing, as in `{ mutations: 41 }`. */
  readonly more?: Readonly<Record<string, number>>;
}

/** One line on stdout, past whatever the test runner captures, so that a CI log shows it. */
export function report({ suite, tried, survived, more = {} }: Counts): void {
  const rest = Object.entries(more).map(([name, value]) => `, ${name} ${value}`);
  process.stdout.write(`chaos ${suite}: tried ${tried}, survived ${survived}${rest.join("")}\n`);
}
