/** Panning and zooming of the pictures, by mouse, touch and keyboard. */

/**
 * For each `[data-picture]` of the page. The policy of the page forbids `style` attributes in HTML; what a script sets on `element.style`,
 * and SVG's own attributes, it allows.
 */
export function startPictures(): void {}
