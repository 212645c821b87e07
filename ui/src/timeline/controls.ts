// Wheel, drag, touch and keys.
import { AXIS_HEIGHT, MINIMAP_HEIGHT, TOP } from "./layout";

export interface Target {
  /** Zooms around a point on the canvas; a factor below 1 shows less. */
  zoomAt: (factor: number, x: number) => void;
  panPixels: (dx: number) => void;
  scroll: (dy: number) => void;
  hover: (x: number, y: number, clientX: number, clientY: number) => void;
  leave: () => void;
  click: (x: number, y: number) => void;
  /** Called while a span is being selected; `done` at the end. */
  select: (fromX: number, toX: number, done: boolean) => void;
  jump: (x: number) => void;
  key: (key: string, shift: boolean) => boolean;
  width: () => number;
  gutter: () => number;
}

const CLICK_PIXELS = 4;
const ZOOM_PER_WHEEL = 1.0018;
/** Held keys zoom by this factor per second, and pan by this share of the screen. */
const KEY_ZOOM_PER_S = 6;
const KEY_PAN_PER_S = 0.9;
const LINE_PIXELS = 16;

interface Drag {
  id: number;
  startX: number;
  startY: number;
  lastX: number;
  lastY: number;
  moved: boolean;
  mode: "pan" | "select" | "minimap";
}

export function control(canvas: HTMLElement, target: Target): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  const held = new Set<string>();
  let drag: Drag | null = null;
  let lastTime = 0;
  let frame = 0;

  function place(event: MouseEvent): { x: number; y: number } {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  function onWheel(event: WheelEvent): void {
    event.preventDefault();
    const { x } = place(event);
    const unit = event.deltaMode === 1 ? LINE_PIXELS : 1;
    if (x < target.gutter()) target.scroll(event.deltaY * unit);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey)
      target.panPixels((event.deltaX || event.deltaY) * unit);
    else target.zoomAt(ZOOM_PER_WHEEL ** (event.deltaY * unit), x);
  }

  function onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { x, y } = place(event);
    pointers.set(event.pointerId, { x, y });
    canvas.setPointerCapture(event.pointerId);
    const mode =
      event.shiftKey || (y >= MINIMAP_HEIGHT && y < MINIMAP_HEIGHT + AXIS_HEIGHT)
        ? "select"
        : y < TOP
          ? "minimap"
          : "pan";
    drag = { id: event.pointerId, startX: x, startY: y, lastX: x, lastY: y, moved: false, mode };
    if (mode === "minimap") target.jump(x);
  }

  function pinch(event: PointerEvent, x: number, y: number): void {
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    const own = pointers.get(event.pointerId);
    if (!other || !own) return;
    const before = Math.max(20, Math.abs(own.x - other.x));
    const after = Math.max(20, Math.abs(x - other.x));
    target.zoomAt(before / after, (x + other.x) / 2);
    pointers.set(event.pointerId, { x, y });
  }

  function onMove(event: PointerEvent): void {
    const { x, y } = place(event);
    if (pointers.size > 1) {
      pinch(event, x, y);
      return;
    }
    if (!drag || drag.id !== event.pointerId) {
      target.hover(x, y, event.clientX, event.clientY);
      return;
    }
    if (!drag.moved && Math.hypot(x - drag.startX, y - drag.startY) < CLICK_PIXELS) return;
    drag.moved = true;
    target.leave();
    if (drag.mode === "select") target.select(drag.startX, x, false);
    else if (drag.mode === "minimap") target.jump(x);
    else {
      target.panPixels(drag.lastX - x);
      target.scroll(drag.lastY - y);
    }
    drag.lastX = x;
    drag.lastY = y;
  }

  function onUp(event: PointerEvent): void {
    pointers.delete(event.pointerId);
    if (!drag || drag.id !== event.pointerId) return;
    const { x, y } = place(event);
    if (drag.moved && drag.mode === "select") target.select(drag.startX, x, true);
    else if (!drag.moved && drag.mode !== "minimap") target.click(x, y);
    drag = null;
  }

  function step(time: number): void {
    frame = 0;
    const seconds = Math.min(0.05, (time - lastTime) / 1000);
    lastTime = time;
    const middle = (target.width() + target.gutter()) / 2;
    if (held.has("w")) target.zoomAt(KEY_ZOOM_PER_S ** -seconds, middle);
    if (held.has("s")) target.zoomAt(KEY_ZOOM_PER_S ** seconds, middle);
    if (held.has("a")) target.panPixels(-target.width() * KEY_PAN_PER_S * seconds);
    if (held.has("d")) target.panPixels(target.width() * KEY_PAN_PER_S * seconds);
    if (held.size > 0) frame = requestAnimationFrame(step);
  }

  /** Whether the keys go into an input field. */
  function isTyping(event: Event): boolean {
    return event.target instanceof HTMLElement && event.target.closest("input, select, textarea") !== null;
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!canvas.isConnected || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if ("wasd".includes(key) && key.length === 1) {
      event.preventDefault();
      if (held.has(key)) return;
      held.add(key);
      // A short press must have a visible effect, too.
      const middle = (target.width() + target.gutter()) / 2;
      if (key === "w") target.zoomAt(1 / 1.25, middle);
      if (key === "s") target.zoomAt(1.25, middle);
      if (key === "a") target.panPixels(-target.width() / 16);
      if (key === "d") target.panPixels(target.width() / 16);
      lastTime = performance.now();
      if (frame === 0) frame = requestAnimationFrame(step);
    } else if (target.key(event.key, event.shiftKey)) event.preventDefault();
  }

  function onKeyUp(event: KeyboardEvent): void {
    held.delete(event.key.toLowerCase());
  }

  const release = () => held.clear();
  canvas.addEventListener("wheel", onWheel, { passive: false });
  canvas.addEventListener("pointerdown", onDown);
  canvas.addEventListener("pointermove", onMove);
  canvas.addEventListener("pointerup", onUp);
  canvas.addEventListener("pointercancel", onUp);
  canvas.addEventListener("pointerleave", target.leave);
  document.addEventListener("keydown", onKeyDown);
  document.addEventListener("keyup", onKeyUp);
  window.addEventListener("blur", release);
  return () => {
    document.removeEventListener("keydown", onKeyDown);
    document.removeEventListener("keyup", onKeyUp);
    window.removeEventListener("blur", release);
    cancelAnimationFrame(frame);
  };
}
