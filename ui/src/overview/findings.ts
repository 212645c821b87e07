// What to fix first: each finding with its potential saving, its evidence, and links to details.
import type { App } from "../app";
import type { Finding } from "../data/profile";
import { figure } from "../dom/copy";
import { h } from "../dom/dom";
import { bar, note, prose, section } from "../dom/parts";
import { counted, ms, percent } from "../format/figures";
import { asSentence } from "../format/sentences";
import { findingLinks } from "./finding_links";

const SHOWN_FINDINGS = 5;

function perUnit(finding: Finding): string {
  if (!finding.unit) return "";
  return finding.traced_part ? `in the ${finding.unit}` : `per ${finding.unit}`;
}

/** Of GPU memory: it has bytes, no time. */
const isOfMemory = (finding: Finding): boolean => finding.kind.startsWith("memory_");

function findingItem(app: App, finding: Finding): HTMLElement {
  const saving =
    finding.recoverable_ms === null
      ? isOfMemory(finding)
        ? h("span", { class: "muted" }, "memory")
        : "not known"
      : [
          "up to ",
          figure(ms(finding.recoverable_ms), finding.recoverable_ms, `ms ${perUnit(finding)}, upper bound`),
          h("span", { class: "unit" }, ` ms ${perUnit(finding)}`),
        ];
  const whole = finding.figures.length > 0 ? "the requests' time" : finding.stage && `${finding.stage}'s wall time`;
  const share = whole && [
    bar(finding.share_of_wall),
    " ",
    figure(percent(finding.share_of_wall), finding.share_of_wall, `of ${whole}`),
    ` of ${whole}`,
  ];
  const links = findingLinks(app, finding);
  return h(
    "li",
    {},
    h(
      "div",
      { class: "finding" },
      h("h3", {}, finding.title, finding.stage && [" ", h("span", { class: "chip" }, finding.stage)]),
      h("p", {}, prose(asSentence(finding.advice))),
      links.length > 0 &&
        h(
          "p",
          { class: "finding-links" },
          links.map(({ href, words }) => h("a", { href }, words)),
        ),
      h(
        "details",
        {},
        h(
          "summary",
          { "aria-label": `Evidence: ${finding.title}${finding.stage ? ` in ${finding.stage}` : ""}` },
          "Evidence",
        ),
        h("p", {}, prose(finding.evidence)),
      ),
    ),
    h("div", { class: "saving" }, h("div", { class: "value" }, saving), h("div", { class: "muted" }, share)),
  );
}

export function findings(app: App): HTMLElement {
  const all = app.profile.findings;
  if (all.length === 0) return section("What to fix first", app.words.of("Findings"));
  const rest = all.slice(SHOWN_FINDINGS);
  const list = (rows: Finding[]) => rows.map((finding) => findingItem(app, finding));
  return section(
    "What to fix first",
    h("ol", { class: "findings" }, list(all.slice(0, SHOWN_FINDINGS))),
    rest.length > 0 &&
      h(
        "details",
        { class: "more-findings" },
        h("summary", {}, `${counted(rest.length, "more finding")}`),
        h("ol", { class: "findings", start: SHOWN_FINDINGS + 1 }, list(rest)),
      ),
    note(
      "Sorted by the potential saving over the whole capture, largest first. Savings overlap, so they do not add up.",
    ),
  );
}
