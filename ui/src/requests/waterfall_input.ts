// How pointer, wheel and keys change the waterfall. The wheel scrolls the page unless the waterfall has the focus.

export interface WaterfallTarget {
  zoomAt: (factor: number, x: number) => void;
  pan: (dx: number) => void;
  scroll: (dy: number) => void;
  zoomToPixels: (from: number, to: number) => void;
  hover: (x: number, y: number, event: MouseEvent) => void;
  leave: () => void;
  click: (x: number, y: number) => void;
  showAll: () => void;
  /** To the wait before or after the chosen one. */
  stepChunk: (by: number) => void;
  stepRequest: (by: number) => void;
  zoomToChosen: () => void;
  clear: () => void;
  axisHeight: number;
  width: () => number;
}

const CLICK_PIXELS = 4;
const ZOOM_PER_WHEEL = 1.0018;
const ZOOM_PER_KEY = 1.4;
const PAN_PER_KEY = 0.12;

export function listenOnWaterfall(canvas: HTMLCanvasElement, target: WaterfallTarget): void {
  let drag: { x: number; y: number; lastX: number; lastY: number; moved: boolean; zooms: boolean } | null = null;

  const place = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener(
    "wheel",
    (event) => {
      const zooms = event.ctrlKey || event.metaKey || document.activeElement === canvas;
      if (!zooms) return;
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) target.pan(event.deltaX || event.deltaY);
      else target.zoomAt(ZOOM_PER_WHEEL ** event.deltaY, place(event).x);
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { x, y } = place(event);
    canvas.setPointerCapture(event.pointerId);
    drag = { x, y, lastX: x, lastY: y, moved: false, zooms: event.shiftKey || y < target.axisHeight };
  });
  canvas.addEventListener("pointermove", (event) => {
    const { x, y } = place(event);
    if (!drag) {
      target.hover(x, y, event);
      return;
    }
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < CLICK_PIXELS) return;
    drag.moved = true;
    target.leave();
    if (!drag.zooms) {
      target.pan(drag.lastX - x);
      target.scroll(drag.lastY - y);
    }
    drag.lastX = x;
    drag.lastY = y;
  });
  canvas.addEventListener("pointerup", (event) => {
    const { x, y } = place(event);
    if (drag && !drag.moved) target.click(x, y);
    else if (drag?.zooms) target.zoomToPixels(drag.x, x);
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => target.leave());
  canvas.addEventListener("dblclick", () => target.showAll());

  const keys: Record<string, () => void> = {
    w: () => target.zoomAt(1 / ZOOM_PER_KEY, target.width() / 2),
    s: () => target.zoomAt(ZOOM_PER_KEY, target.width() / 2),
    a: () => target.pan(-target.width() * PAN_PER_KEY),
    d: () => target.pan(target.width() * PAN_PER_KEY),
    "0": target.showAll,
    f: target.zoomToChosen,
    ArrowLeft: () => target.stepChunk(-1),
    ArrowRight: () => target.stepChunk(1),
    ArrowUp: () => target.stepRequest(-1),
    ArrowDown: () => target.stepRequest(1),
    Escape: target.clear,
  };
  canvas.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    action();
    event.preventDefault();
  });
}
