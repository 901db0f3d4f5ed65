/** The shell of a page: one file that loads nothing, whose one style and one script are named by their hashes. */

import { createHash } from "node:crypto";
import { readPackageFile } from "../../files/package-files.ts";
import { Html, html } from "./markup.ts";

export interface Page {
  /** Of the window or tab. */
  readonly title: string;
  readonly body: Html;
  /** Whether the page asks the server that made it for what has changed. Absent: it asks for nothing. */
  readonly isLive?: boolean;
}

/** Made by build.mjs of page.css, pictures.css and client/. */
const STYLE_FILE = "dist/html/page.css";
const SCRIPT_FILE = "dist/html/page.js";

/** Newline-terminated. The same page has the same bytes. */
export function renderPage({ title, body, isLive = false }: Page): string {
  const [style, script] = [readPackageFile(STYLE_FILE), readPackageFile(SCRIPT_FILE)];
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    ...(isLive ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `${html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${Html.trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${Html.trusted(style)}</style>
</head>
<body>
${body}
<script>${Html.trusted(script)}</script>
</body>
</html>`}\n`;
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
