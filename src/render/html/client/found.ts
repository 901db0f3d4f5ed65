/** Marks the words of a search in what it has found, without a change of the page's elements. */

/** As the style names it. */
const HIGHLIGHT = "found";
/** More marks than anybody looks at would slow each letter that is typed. */
const MAX_MARKED_ELEMENTS = 300;

/** @param words lower-case */
export function markFound(elements: readonly HTMLElement[], words: readonly string[]): void {
  // Not all browsers have it; nothing is lost without.
  if (!("highlights" in CSS)) return;
  if (words.length === 0) {
    CSS.highlights.delete(HIGHLIGHT);
    return;
  }
  const ranges = elements.slice(0, MAX_MARKED_ELEMENTS).flatMap((element) => rangesIn(element, words));
  const highlight = new Highlight();
  for (const range of ranges) highlight.add(range);
  CSS.highlights.set(HIGHLIGHT, highlight);
}

function rangesIn(element: HTMLElement, words: readonly string[]): Range[] {
  const ranges: Range[] = [];
  // Of a heading with its lines only the heading is meant.
  const within = element.matches(".unit") ? (element.querySelector("summary") ?? element) : element;
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (const word of words) {
      for (let index = text.indexOf(word); index !== -1; index = text.indexOf(word, index + word.length)) {
        if (index + word.length > (node.nodeValue ?? "").length) break;
        const range = new Range();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
