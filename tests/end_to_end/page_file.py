"""Reads report.html as docs/report-html.md describes it, without any of llmprof's own code."""
import base64
import hashlib
import html.parser
import json
import re
import struct
import zlib

BLOCK = re.compile(r'<script type="application/octet-stream" id="block-([^"]+)">([A-Za-z0-9+/=]*)</script>')
SCRIPT = re.compile(r"<script>(.*?)</script>\s*</body>", re.DOTALL)


def varints(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
        else:
            values.append(value)
            value, shift = 0, 0
    assert shift == 0, "the last number is cut"
    return values


def running_sums(values):
    total, sums = 0, []
    for value in values:
        total += value
        sums.append(total)
    return sums


def decoded(data, coding):
    if coding == "u8":
        return list(data)
    if coding == "f32":
        return list(struct.unpack(f"<{len(data) // 4}f", data))
    values = varints(data)
    if coding.startswith("s"):
        values = [(value >> 1) ^ -(value & 1) for value in values]
    return running_sums(values) if coding.endswith("delta") else values


class Text(html.parser.HTMLParser):
    """The text of the overview, and every tag and attribute of the page."""

    def __init__(self):
        super().__init__()
        self.tags = []
        self.overview = ""
        self.inside = False

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = self.inside or dict(attrs).get("id") == "overview"

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "main"

    def handle_data(self, data):
        if self.inside:
            self.overview += data + " "


class Page:
    def __init__(self, path):
        self.size = path.stat().st_size
        self.source = path.read_text(encoding="utf-8")
        self.packed = dict(BLOCK.findall(self.source))
        self.view = json.loads(self.block("view"))
        self.profile_text = self.block("profile").decode()
        self.header = json.loads(self.block("timeline")) if "timeline" in self.packed else None

    def block(self, name):
        return zlib.decompress(base64.b64decode(self.packed[name]))

    def parsed(self):
        parser = Text()
        parser.feed(self.source)
        return parser

    def policy(self):
        return next(attrs["content"] for tag, attrs in self.parsed().tags
                    if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy")

    def script_hash(self):
        script = SCRIPT.search(self.source)[1]
        return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

    def column(self, table, name):
        return decoded(self.block(f"t.{table}.{name}"), self.header["tables"][table]["columns"][name])

    def table(self, name):
        """Column name -> values; every column has as many as the table has rows."""
        columns = {column: self.column(name, column) for column in self.header["tables"][name]["columns"]}
        for column, values in columns.items():
            assert len(values) == self.header["tables"][name]["rows"], (name, column)
        return columns

    def rows(self, table):
        """The rows of a table as dictionaries, each with its track."""
        columns = self.table(table)
        rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
        for track in self.header["tracks"]:
            if track["table"] != table:
                continue
            for row in rows[track["first"]:track["first"] + track["count"]]:
                row["track"] = track
        return rows

    def time(self, relative):
        return int(self.header["origin_ns"]) + relative

    def name(self, index):
        return self.header["names"][index]
