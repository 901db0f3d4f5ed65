/** Panning and zooming of the pictures, by mouse, touch and keyboard, and what is before and behind a box. */

const SMALLEST = 0.1;
const LARGEST = 4;
/** Of one press, or one notch of a wheel. */
const ZOOM_STEP = 1.25;
const ARROW_PIXELS = 80;
/** A mouse that has moved less has clicked. */
const CLICK_PIXELS = 4;

/**
 * For each `[data-picture]` of the page. The policy of the page forbids `style` attributes in HTML; what a script sets on `element.style`,
 * and SVG's own attributes, it allows.
 */
export function startPictures(): void {
  for (const picture of document.querySelectorAll<HTMLElement>("[data-picture]")) {
    const frame = picture.querySelector<HTMLElement>(".picture-frame");
    const drawing = picture.querySelector<SVGSVGElement>("svg.layered");
    if (frame === null || drawing === null) continue;
    const view = new View(picture, frame, drawing);
    view.addTools();
    view.listen();
    new Relations(frame, drawing).listen();
  }
}

/** The frame scrolls, so that touch, keys and bars pan as everywhere; to zoom is to give the drawing another size. */
class View {
  readonly #picture: HTMLElement;
  readonly #frame: HTMLElement;
  readonly #drawing: SVGSVGElement;
  readonly #shown: HTMLSpanElement = document.createElement("span");
  #scale = 1;

  constructor(picture: HTMLElement, frame: HTMLElement, drawing: SVGSVGElement) {
    this.#picture = picture;
    this.#frame = frame;
    this.#drawing = drawing;
  }

  addTools(): void {
    const tools = document.createElement("div");
    tools.className = "picture-tools";
    tools.setAttribute("role", "group");
    tools.setAttribute("aria-label", "Zoom");
    const add = (text: string, label: string, act: () => void): void => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.setAttribute("aria-label", label);
      button.title = label;
      button.addEventListener("click", act);
      tools.append(button);
    };
    add("−", "Zoom out (−)", () => this.#zoomBy(1 / ZOOM_STEP));
    add("+", "Zoom in (+)", () => this.#zoomBy(ZOOM_STEP));
    add("100 %", "100 %: original size (0)", () => this.#reset());
    add("Whole", "Whole picture", () => this.#fit());
    this.#shown.className = "picture-scale";
    this.#shown.setAttribute("role", "status");
    tools.append(this.#shown);
    this.#picture.prepend(tools);
    this.#picture.classList.add("can-move");
    this.#say();
  }

  listen(): void {
    this.#frame.addEventListener("keydown", (event) => this.#onKey(event));
    // A plain wheel scrolls: a picture must not hold the page back. A pinch on a touchpad is a wheel with ctrl.
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.#zoomBy(ZOOM_STEP ** (-Math.sign(event.deltaY) * Math.min(1, Math.abs(event.deltaY) / 100)), event);
    };
    this.#frame.addEventListener("wheel", onWheel, { passive: false });
    this.#listenToMouse();
    this.#listenToPinch();
    let before = this.#scale;
    window.addEventListener("beforeprint", () => {
      before = this.#scale;
      this.#resize(1);
    });
    window.addEventListener("afterprint", () => this.#resize(before));
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Readonly<Record<string, () => void>> = {
      "+": () => this.#zoomBy(ZOOM_STEP),
      "=": () => this.#zoomBy(ZOOM_STEP),
      "-": () => this.#zoomBy(1 / ZOOM_STEP),
      "0": () => this.#reset(),
      ArrowLeft: () => this.#pan(-ARROW_PIXELS, 0),
      ArrowRight: () => this.#pan(ARROW_PIXELS, 0),
      ArrowUp: () => this.#pan(0, -ARROW_PIXELS),
      ArrowDown: () => this.#pan(0, ARROW_PIXELS),
    };
    const act = acts[event.key];
    if (act === undefined || event.defaultPrevented) return;
    event.preventDefault();
    act();
  }

  #pan(left: number, top: number): void {
    this.#frame.scrollBy({ left, top, behavior: motion() });
  }

  /** Of a mouse alone: fingers scroll by themselves. Where text is, it is selected. */
  #listenToMouse(): void {
    const frame = this.#frame;
    let start: { readonly x: number; readonly y: number; readonly left: number; readonly top: number } | null = null;
    frame.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      if (event.target instanceof SVGTextElement) return;
      start = { x: event.clientX, y: event.clientY, left: frame.scrollLeft, top: frame.scrollTop };
    });
    frame.addEventListener("pointermove", (event) => {
      if (start === null) return;
      const [x, y] = [event.clientX - start.x, event.clientY - start.y];
      if (!frame.hasPointerCapture(event.pointerId)) {
        if (Math.hypot(x, y) < CLICK_PIXELS) return;
        frame.setPointerCapture(event.pointerId);
        this.#picture.classList.add("is-moving");
      }
      frame.scrollLeft = start.left - x;
      frame.scrollTop = start.top - y;
    });
    const end = (): void => {
      start = null;
      this.#picture.classList.remove("is-moving");
    };
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"] as const) frame.addEventListener(type, end);
  }

  #listenToPinch(): void {
    let distance = 0;
    const measure = ({
      touches: [one, other],
    }: TouchEvent): { distance: number; clientX: number; clientY: number } | null => {
      if (one === undefined || other === undefined) return null;
      return {
        distance: Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY),
        clientX: (one.clientX + other.clientX) / 2,
        clientY: (one.clientY + other.clientY) / 2,
      };
    };
    this.#frame.addEventListener("touchstart", (event) => {
      distance = measure(event)?.distance ?? 0;
    });
    const onMove = (event: TouchEvent): void => {
      const now = measure(event);
      if (now === null || distance === 0 || !event.cancelable) return;
      event.preventDefault();
      this.#zoomBy(now.distance / distance, now);
      distance = now.distance;
    };
    this.#frame.addEventListener("touchmove", onMove, { passive: false });
  }

  /** What is there stays there. Without a place: what is in the middle. */
  #zoomBy(factor: number, at?: { readonly clientX: number; readonly clientY: number }): void {
    const frame = this.#frame;
    const { left, top, width, height } = frame.getBoundingClientRect();
    const [x, y] = at === undefined ? [width / 2, height / 2] : [at.clientX - left, at.clientY - top];
    const before = this.#scale;
    const [pictureX, pictureY] = [(frame.scrollLeft + x) / before, (frame.scrollTop + y) / before];
    this.#resize(before * factor);
    frame.scrollLeft = pictureX * this.#scale - x;
    frame.scrollTop = pictureY * this.#scale - y;
  }

  #reset(): void {
    this.#resize(1);
    this.#frame.scrollTo({ left: 0, top: 0, behavior: motion() });
  }

  #fit(): void {
    const { width, height } = this.#drawing.viewBox.baseVal;
    const room = Number.parseFloat(getComputedStyle(this.#frame).maxHeight) || window.innerHeight;
    this.#resize(Math.min(1, this.#frame.clientWidth / width, room / height));
    this.#frame.scrollTo({ left: 0, top: 0 });
  }

  #resize(scale: number): void {
    this.#scale = Math.min(LARGEST, Math.max(SMALLEST, scale));
    const { width, height } = this.#drawing.viewBox.baseVal;
    this.#drawing.setAttribute("width", String(width * this.#scale));
    this.#drawing.setAttribute("height", String(height * this.#scale));
    this.#say();
  }

  #say(): void {
    this.#shown.textContent = `${Math.round(this.#scale * 100)} %`;
  }
}

function motion(): ScrollBehavior {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}

/** A box that has the focus is shown with all that comes before and behind it. One box of a picture is on the way of the tabulator. */
class Relations {
  readonly #frame: HTMLElement;
  readonly #drawing: SVGSVGElement;
  readonly #boxes: readonly SVGGElement[];
  readonly #arrows: readonly SVGPathElement[];
  readonly #before: Map<string, SVGPathElement[]> = new Map();
  readonly #behind: Map<string, SVGPathElement[]> = new Map();

  constructor(frame: HTMLElement, drawing: SVGSVGElement) {
    this.#frame = frame;
    this.#drawing = drawing;
    this.#boxes = [...drawing.querySelectorAll<SVGGElement>(".box")];
    this.#arrows = [...drawing.querySelectorAll<SVGPathElement>(".arrow")];
    for (const arrow of this.#arrows) {
      add(this.#behind, arrow.dataset["from"], arrow);
      add(this.#before, arrow.dataset["to"], arrow);
    }
  }

  listen(): void {
    // Until now the drawing was one image; what can have the focus must not be within one.
    this.#drawing.setAttribute("role", "group");
    for (const [index, box] of this.#boxes.entries()) {
      const number = box.dataset["box"] ?? "";
      const [before, behind] = [this.#before.get(number) ?? [], this.#behind.get(number) ?? []];
      box.setAttribute("tabindex", index === 0 ? "0" : "-1");
      box.setAttribute("role", "img");
      const name = box.querySelector("title")?.textContent ?? "";
      box.setAttribute("aria-label", `${name}; arrows to it: ${before.length}, from it: ${behind.length}`);
      box.addEventListener("focus", () => this.#show(box));
      box.addEventListener("blur", () => this.#clear());
      // A mouse gives the focus to HTML alone in some browsers.
      box.addEventListener("click", () => box.focus({ preventScroll: true }));
      box.addEventListener("keydown", (event) => this.#onKey(event, box));
    }
  }

  #onKey(event: KeyboardEvent, box: SVGGElement): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      event.preventDefault();
      this.#frame.focus({ preventScroll: true });
      return;
    }
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const next = this.#next(event.key, box);
    if (next === null) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", inline: "nearest", behavior: motion() });
  }

  /** To the left and right along the arrows, if there are any; up and down within the column. */
  #next(key: string, box: SVGGElement): SVGGElement | null {
    const here = box.getBoundingClientRect();
    const isAcross = key === "ArrowLeft" || key === "ArrowRight";
    const sign = key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1;
    const arrows = key === "ArrowLeft" ? this.#before : this.#behind;
    const end = key === "ArrowLeft" ? "from" : "to";
    const linked = (arrows.get(box.dataset["box"] ?? "") ?? []).map((arrow) => arrow.dataset[end]);
    const near = this.#boxes.filter((one) => isAcross && linked.includes(one.dataset["box"]));
    let [best, least]: [SVGGElement | null, number] = [null, Number.POSITIVE_INFINITY];
    for (const one of near.length > 0 ? near : this.#boxes) {
      const there = one.getBoundingClientRect();
      const [x, y] = [there.left - here.left, there.top - here.top];
      const isThere = isAcross ? x * sign > 1 : Math.abs(x) < 1 && y * sign > 1;
      const distance = isAcross ? Math.abs(x) * 4 + Math.abs(y) : Math.abs(y);
      if (isThere && distance < least) [best, least] = [one, distance];
    }
    return best;
  }

  #show(chosen: SVGGElement): void {
    this.#clear();
    const number = chosen.dataset["box"] ?? "";
    const near = new Set<Element>([chosen]);
    const found = new Set([number]);
    for (const [arrows, end] of [
      [this.#before, "from"],
      [this.#behind, "to"],
    ] as const) {
      const open = [number];
      const seen = new Set(open);
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        for (const arrow of arrows.get(next) ?? []) {
          // A gap is between two boxes; what is before or behind them has no part in it.
          if (arrow.classList.contains("gap") && next !== number) continue;
          near.add(arrow);
          const other = arrow.dataset[end] ?? "";
          found.add(other);
          if (seen.has(other) || arrow.classList.contains("gap")) continue;
          seen.add(other);
          open.push(other);
        }
      }
    }
    for (const box of this.#boxes) {
      if (found.has(box.dataset["box"] ?? "")) near.add(box);
      box.setAttribute("tabindex", box === chosen ? "0" : "-1");
    }
    for (const port of this.#drawing.querySelectorAll<SVGTextElement>(".port")) {
      if (found.has(port.dataset["port"] ?? "")) near.add(port);
    }
    for (const element of near) element.classList.add("near");
    chosen.classList.add("chosen");
    this.#drawing.classList.add("has-focus");
  }

  #clear(): void {
    this.#drawing.classList.remove("has-focus");
    for (const element of this.#drawing.querySelectorAll(".near, .chosen")) element.classList.remove("near", "chosen");
  }
}

function add(map: Map<string, SVGPathElement[]>, key: string | undefined, arrow: SVGPathElement): void {
  if (key === undefined) return;
  const list = map.get(key) ?? [];
  list.push(arrow);
  map.set(key, list);
}
