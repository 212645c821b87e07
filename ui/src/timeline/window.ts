// The visible part of the capture, in ns since its origin.

/** The shortest visible span: some kernels take only 1,000 ns. */
const NARROWEST_NS = 50;
/** Room before the first and after the last operation, as a share of the whole. */
const MARGIN = 0.02;

export class TimeWindow {
  start: number;
  end: number;

  constructor(private readonly spanNs: number) {
    this.start = 0;
    this.end = 1;
    this.showAll();
  }

  get width(): number {
    return this.end - this.start;
  }

  private get widest(): number {
    return Math.max(this.spanNs * (1 + 2 * MARGIN), NARROWEST_NS);
  }

  showAll(): void {
    const margin = (this.widest - this.spanNs) / 2;
    this.start = -margin;
    this.end = this.spanNs + margin;
  }

  set(start: number, end: number): void {
    const width = Math.min(Math.max(end - start, NARROWEST_NS), this.widest);
    const middle = (start + end) / 2;
    const margin = (this.widest - this.spanNs) / 2;
    // Half a screen may extend beyond an edge, so that the first and the last operation can be centered.
    const slack = Math.min(width / 2, Math.max(margin, width / 2));
    const lowest = width >= this.widest ? -margin : Math.min(-margin, -slack);
    const highest = width >= this.widest ? this.spanNs + margin : Math.max(this.spanNs + margin, this.spanNs + slack);
    this.start = Math.min(Math.max(middle - width / 2, lowest), highest - width);
    this.end = this.start + width;
  }

  zoom(factor: number, around: number): void {
    const width = Math.min(Math.max(this.width * factor, NARROWEST_NS), this.widest);
    const scale = width / this.width;
    this.set(around - (around - this.start) * scale, around + (this.end - around) * scale);
  }

  pan(ns: number): void {
    this.set(this.start + ns, this.end + ns);
  }
}
