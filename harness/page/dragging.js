// Dragging with a mouse, a finger or a pen: a picture of what is dragged follows the pointer.

const LEAST = 6;

/**
 * @typedef {{ source: (element: Element) => HTMLElement | null, over: (element: Element | null) => void,
 *   drop: (element: Element | null) => void }} Drag What can be dragged from an element, what
 *   lies under the pointer meanwhile (null at the end), and where it was dropped.
 */

/** Have what lies in an element be dragged. @param {HTMLElement} root @param {Drag} drag */
export const dragIn = (root, drag) => {
  root.addEventListener("pointerdown", (event) => {
    const source = event.button === 0 && event.isPrimary && event.target instanceof Element ? drag.source(event.target) : null;
    if (source) begin(source, event, drag);
  });
};

/** @param {HTMLElement} source @param {PointerEvent} start @param {Drag} drag */
const begin = (source, start, drag) => {
  /** @type {HTMLElement | null} */
  let picture = null;
  const stop = new AbortController();
  const under = (/** @type {PointerEvent} */ event) => document.elementFromPoint(event.clientX, event.clientY);
  const end = () => {
    stop.abort();
    picture?.remove();
    drag.over(null);
  };
  const on = (/** @type {"pointermove" | "pointerup" | "pointercancel"} */ kind, /** @type {(event: PointerEvent) => void} */ listener) =>
    addEventListener(kind, (event) => event.pointerId === start.pointerId && listener(event), { signal: stop.signal });
  if (source.hasPointerCapture(start.pointerId)) source.releasePointerCapture(start.pointerId);
  on("pointermove", (event) => {
    if (!picture && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < LEAST) return;
    picture ??= pictureOf(source);
    picture.style.translate = `${event.clientX}px ${event.clientY}px`;
    drag.over(under(event));
  });
  on("pointercancel", end);
  on("pointerup", (event) => {
    const target = under(event), dragged = picture !== null;
    end();
    if (!dragged) return; // a click
    const soon = { capture: true, once: true, signal: AbortSignal.timeout(0) };
    source.addEventListener("click", (click) => click.stopPropagation(), soon); // let go where it was
    drag.drop(target);
  });
};

/** @param {HTMLElement} source */
const pictureOf = (source) => {
  const picture = /** @type {HTMLElement} */ (source.cloneNode(true));
  picture.className = `${source.className} dragged`;
  picture.setAttribute("aria-hidden", "true");
  document.body.append(picture);
  return picture;
};
