/** Debian's Chromium, and pages in it that must complain of nothing. */

import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

/** To be closed after the tests. */
export function openBrowser(): Promise<Browser> {
  // Whoever runs tests as root has no other way; the pages are our own.
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
}

export interface Watched {
  readonly page: Page;
  /** What the console and the page complain of, and dialogs. Must stay empty. */
  readonly complaints: string[];
}

/** An empty page, which is closed after the test. */
export async function watched(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, complaints };
}
