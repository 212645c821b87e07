"""Reads Markdown reports with GitHub's own parser (cmark-gfm)."""
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

PARSER = shutil.which("cmark-gfm")
needs_parser = unittest.skipUnless(PARSER, "needs cmark-gfm (scripts/setup.sh test installs it)")

NAMESPACE = "{http://commonmark.org/xml/1.0}"
# Shown as code or as a file name, not as a statement.
UNSPOKEN = {"code", "link", "html_inline", "html_block", "code_block"}


class Table:
    def __init__(self, header, rows):
        self.header = header
        self.rows = rows


class Heading:
    def __init__(self, level, text):
        self.level = level
        self.text = text


class Text:
    """A paragraph, or a list item."""

    def __init__(self, text):
        self.text = text


def tag(node):
    return node.tag.removeprefix(NAMESPACE)


def spoken(node, unspoken=UNSPOKEN):
    """The text of a node without code spans and links."""
    if tag(node) in unspoken:
        return " "
    if tag(node) in ("softbreak", "linebreak"):
        return " "
    return (node.text or "" if tag(node) in ("text", "code") else "") + "".join(
        spoken(child, unspoken) for child in node
    )


def parse(markdown, unspoken=UNSPOKEN):
    """The blocks of a report in order: Heading, Text, Table."""
    done = subprocess.run(
        [PARSER, "-e", "table", "-t", "xml"], input=markdown, capture_output=True, text=True,
        encoding="utf-8", check=True,
    )
    blocks = []

    def walk(node):
        kind = tag(node)
        if kind == "heading":
            blocks.append(Heading(int(node.attrib["level"]), spoken(node, unspoken).strip()))
        elif kind == "paragraph":
            blocks.append(Text(spoken(node, unspoken).strip()))
        elif kind == "table":
            lines = [[spoken(cell, unspoken).strip() for cell in row] for row in node]
            blocks.append(Table(lines[0], lines[1:]))
        else:
            for child in node:
                walk(child)

    walk(ElementTree.fromstring(done.stdout))
    return blocks


def to_html(markdown):
    return subprocess.run(
        [PARSER, "-e", "table", "-t", "html"], input=markdown, capture_output=True, text=True,
        encoding="utf-8", check=True,
    ).stdout


def raw_tables(markdown):
    """The source lines of each table, split at unescaped pipes. The parser itself adds missing cells and drops surplus
    ones, so it cannot show them."""
    tables = [[]]
    for line in markdown.splitlines():
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)(?:\\\\)*\|", line.strip())
            tables[-1].append(cells[1:-1])
        elif tables[-1]:
            tables.append([])
    return [table for table in tables if table]


def faults_of_form(markdown, widest=8):
    """Errors in a report's tables and headings."""
    faults = []
    blocks = parse(markdown)
    tables = [block for block in blocks if isinstance(block, Table)]
    raw = raw_tables(markdown)
    if len(raw) != len(tables):
        faults.append(f"{len(raw)} tables were written, {len(tables)} are rendered")
    for written, rendered in zip(raw, tables):
        name = f"table {rendered.header}"
        if len(set(map(len, written))) != 1:
            faults.append(f"{name}: rows of {sorted(set(map(len, written)))} cells")
        if len(written) - 2 != len(rendered.rows):
            faults.append(f"{name}: {len(written) - 2} rows written, {len(rendered.rows)} rendered")
        if len(rendered.header) > widest:
            faults.append(f"{name}: {len(rendered.header)} columns")
        if not rendered.rows:
            faults.append(f"{name}: no rows")
        if len(set(rendered.header)) != len(rendered.header):
            faults.append(f"{name}: a title twice")
    levels = [block.level for block in blocks if isinstance(block, Heading)]
    if not levels or levels[0] != 1 or levels.count(1) != 1:
        faults.append("not exactly one title at the top")
    for before, after in zip(levels, levels[1:]):
        if after > before + 1:
            faults.append(f"a heading of level {after} follows one of level {before}")
    for before, after in zip(blocks, blocks[1:]):
        if isinstance(before, Heading) and isinstance(after, Heading) and after.level <= before.level:
            faults.append(f"nothing under the heading {before.text!r}")
    if "<!--" in to_html(markdown):
        faults.append("raw HTML was left out by the renderer")
    return faults
