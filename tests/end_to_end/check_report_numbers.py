#!/usr/bin/env python3
"""Checks that every number in a Markdown report is in profile.json.

A number is found if it equals some number in profile.json, rounded to the digits shown:
milliseconds among fields in ms, a percentage among shares (fractions there), 2.5 TFLOP or GB among
FLOPs and bytes, a plain number among all. Names and sentences that profile.json contains verbatim
(kernel names, versions, evidence) are found as a whole. Code, links and the numbering of headings do
not count.

    check_report_numbers.py PROFILE.json REPORT.md...
"""
import bisect
import json
import pathlib
import re
import sys

from markdown_reports import Heading, Table, Text, parse

NUMBER = re.compile(
    r"(?<![\w.,])(?P<number>-?\d[\d,]*(?:\.\d+)?)"
    r"(?:\s*(?P<unit>%|ms\b|[kMGTP]?(?:FLOP/s|FLOP|B/s|B|Hz)(?!\w)))?(?![\w]|\.\d)"
)
SHARE_WORDS = ("share", "mfu", "mbu", "confidence")
SHARES_BY_NAME = [("attained",), ("coverage",), ("coverage_of_rows",)]
QUANTITY_WORDS = ("flops", "bytes", "bandwidth", "clock_hz")
PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


class Numbers:
    """Sorted numbers, for lookup by closeness."""

    def __init__(self, values):
        self.values = sorted(set(values))

    def has(self, wanted, tolerance):
        place = bisect.bisect_left(self.values, wanted - tolerance)
        return place < len(self.values) and self.values[place] <= wanted + tolerance


class Profile:
    def __init__(self, profile):
        every, ms, shares, quantities, strings = [], [], [], [], set()

        def walk(value, path):
            if isinstance(value, dict):
                for key, inner in value.items():
                    strings.add(key)
                    walk(inner, path + (key,))
            elif isinstance(value, list):
                for inner in value:
                    walk(inner, path)
            elif isinstance(value, str):
                strings.add(value)
                if "/" in value:
                    strings.add(value.rsplit("/", 1)[1])
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                every.append(value)
                text = "/".join(path)
                if re.search(r"(^|[_/])ms($|[_/])", text) or "classes" in path:
                    ms.append(value)
                    if path[-1] == "longer_ms":  # "1.9 ms shorter" is -1.9 in profile.json
                        ms.append(abs(value))
                if "requests" in path and any(re.fullmatch(r"(.*_)?ns", name) for name in path):
                    ms.append(value / 1e6)
                if any(word in text for word in SHARE_WORDS) or path[-1:] in SHARES_BY_NAME:
                    shares.append(value * 100)
                if any(word in text for word in QUANTITY_WORDS):
                    quantities.append(value)

        walk(profile, ())
        self.every, self.ms = Numbers(every), Numbers(ms)
        self.shares, self.quantities = Numbers(shares), Numbers(quantities)
        with_digits = (text.lower() for text in strings if re.search(r"\d", text))
        self.strings = sorted({text for text in with_digits if len(text) >= 3}, key=len, reverse=True)

    def without_known_strings(self, text):
        lower = text.lower()
        for known in self.strings:
            if known in lower:
                text = re.sub(rf"(?<!\w){re.escape(known)}(?!\w)", " ", text, flags=re.IGNORECASE)
                lower = text.lower()
        return text


def mentions(profile, blocks):
    """(number as text, unit, where) of every number in a report."""

    def of_text(text, where, unit=""):
        rest = profile.without_known_strings(text)
        for match in NUMBER.finditer(rest):
            yield match["number"], match["unit"] or unit, where

    section = ""
    for block in blocks:
        if isinstance(block, Heading):
            section = block.text
            yield from of_text(re.sub(r"^\d+\. ", "", block.text), section)
        elif isinstance(block, Text):
            yield from of_text(block.text, section)
        elif isinstance(block, Table):
            for title in block.header:
                yield from of_text(title, section)
            for row in block.rows:
                for title, cell in zip(block.header, row):
                    if title == "no.":
                        continue
                    in_ms = re.search(r"\(ms|_ms$|^ms per|ms\)$", title) or "(ms)" in section
                    where = f"{section}: {row[0]}, {title}"
                    if cell == "100.0 %" and row[0].startswith("sum"):
                        continue
                    yield from of_text(cell, where, "ms" if in_ms else "")


def found(profile, number, unit):
    digits = len(number.split(".")[1]) if "." in number else 0
    value = float(number.replace(",", ""))
    half = 0.5 * 10.0 ** -digits
    slack = abs(value) * 1e-12 + 1e-12
    if unit == "%":
        return profile.shares.has(value, half + slack)
    if unit == "ms":
        return profile.ms.has(value, half + slack)
    if unit:
        scale = PREFIXES.get(unit[0], 1) if unit[0] in PREFIXES and unit not in ("B", "B/s") else 1
        return profile.quantities.has(value * scale, half * scale + slack)
    return profile.every.has(value, (half if digits else 0) + slack)


def unfound(profile_json, markdown):
    """Lines about numbers in a report that are not in profile.json."""
    profile = Profile(profile_json)
    return [
        f"{number} {unit}".strip() + f" ({where})"
        for number, unit, where in mentions(profile, parse(markdown))
        if not found(profile, number, unit)
    ]


def main():
    texts = [pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[1:]]
    faults = 0
    for name, markdown in zip(sys.argv[2:], texts[1:]):
        missing = unfound(json.loads(texts[0]), markdown)
        faults += len(missing)
        print(f"{name}: {len(missing)} numbers are not in profile.json")
        print("".join(f"  {line}\n" for line in missing), end="")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
