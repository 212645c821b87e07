// The sentences of the reports. C++ writes them into the page as the overview without JavaScript; views show the same
// words, so that nothing is worded twice.

export class Words {
  /** Paragraphs by the headings above them; "" for those below the title. */
  private readonly sections = new Map<string, HTMLElement[]>();

  constructor(overview: Element | null) {
    let heading = "";
    let parent = "";
    for (const element of overview?.children ?? []) {
      if (/^H[1-6]$/.test(element.tagName)) {
        const text = element.textContent ?? "";
        if (element.tagName === "H2") parent = text;
        heading = element.tagName === "H1" ? "" : element.tagName === "H2" ? text : `${parent}/${text}`;
      } else if (element instanceof HTMLParagraphElement || element instanceof HTMLUListElement) {
        this.sections.set(heading, [...(this.sections.get(heading) ?? []), element]);
      }
    }
  }

  /** Copies of the paragraphs and lists below a heading ("Time budget/Budget of decode"). */
  of(heading: string): HTMLElement[] {
    return (this.sections.get(heading) ?? []).map((element) => element.cloneNode(true) as HTMLElement);
  }
}
