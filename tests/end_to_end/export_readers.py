"""Reads exports with the formats' own readers: apache-arrow and DuckDB, go tool pprof and protoc, OpenTelemetry's
message types behind HTTP. Shares no code with the writers."""
import collections
import gzip
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request

from perfetto_trace import FOLDER, PROTOC, one, parse, text
from program import ROOT

FORMATS = ROOT / "tests" / "formats"
NODE = shutil.which("node") or shutil.which("nodejs")
GO = shutil.which("go")


def check_readers():
    """The readers of npm; scripts/setup.sh test installs them."""
    if NODE is None or not (FORMATS / "node_modules").is_dir():
        raise AssertionError("Node.js or tests/formats/node_modules is missing; scripts/setup.sh test installs them")


class ArrowTables:
    """The tables of an Arrow export as apache-arrow reads them, and DuckDB's answers to `statements`: pairs of the tables
    that one needs and its SQL."""

    def __init__(self, folder, tables, statements=()):
        asked = {"tables": list(tables), "statements": [{"tables": list(own), "sql": sql} for own, sql in statements]}
        done = subprocess.run([NODE, FORMATS / "read_tables.mjs", folder], input=json.dumps(asked), capture_output=True,
                              text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        answer = json.loads(done.stdout)
        self.tables, self.answers = answer["tables"], answer["answers"]


class PprofProfile:
    """A profile as protoc decodes it: samples with their frames (leaf first), values by type, and labels."""

    Sample = collections.namedtuple("Sample", "frames values labels")

    def __init__(self, file):
        done = subprocess.run([PROTOC, f"-I{FOLDER}", "--decode=checked.Profile", "pprof_profile.proto"],
                              input=gzip.decompress(file.read_bytes()), capture_output=True, check=True, cwd=FOLDER)
        message = parse(iter(done.stdout.decode().splitlines()))
        words = [text(word) for word in message["string_table"]]
        self.types = [(words[one(each, "type")], words[one(each, "unit")]) for each in message["sample_type"]]
        self.comments = [words[index] for index in message["comment"]]
        self.default_type = words[one(message, "default_sample_type")]
        self.time, self.duration = one(message, "time_nanos", 0), one(message, "duration_nanos", 0)
        functions = {one(each, "id"): words[one(each, "name")] for each in message["function"]}
        frames = {one(each, "id"): functions[one(one(each, "line"), "function_id")] for each in message["location"]}
        self.samples = []
        for each in message["sample"]:
            labels = {words[one(label, "key")]: words[one(label, "str")] for label in each["label"]}
            values = dict(zip((name for name, _ in self.types), each["value"], strict=True))
            self.samples.append(self.Sample([frames[place] for place in each["location_id"]], values, labels))

    def sum_by(self, kind, key):
        sums = collections.Counter()
        for sample in self.samples:
            sums[key(sample)] += sample.values[kind]
        return sums


def pprof_top(file, kind, unit):
    """frame -> flat value, as `go tool pprof -top` prints them, times in `unit`. Kernels may share a short name."""
    done = subprocess.run([GO, "tool", "pprof", "-top", "-nodefraction=0", "-nodecount=100000", f"-unit={unit}",
                           f"-sample_index={kind}", file], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    rows, number = collections.Counter(), re.compile(r"[0-9.e+]+")
    lines = iter(done.stdout.splitlines())
    for line in lines:
        if line.split()[:2] == ["flat", "flat%"]:
            break
    for line in lines:
        flat, _, _, _, _, name = line.split(None, 5)
        rows[name] += float(number.match(flat)[0])
    return rows


class SpanReceiver:
    """Receives spans over HTTP, and decodes them with OpenTelemetry's message types."""

    def __enter__(self):
        self.process = subprocess.Popen([NODE, FORMATS / "span_receiver.mjs"], stdout=subprocess.PIPE, text=True)
        self.address = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()

    def post(self, line):
        request = urllib.request.Request(f"{self.address}/v1/traces", line.encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error

    def spans(self):
        """scope -> [(attributes of the resource, span)]."""
        with urllib.request.urlopen(f"{self.address}/spans", timeout=60) as response:
            requests = json.load(response)
        found = collections.defaultdict(list)
        for request in requests:
            for resource in request["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    found[scope["scope"]["name"]] += [
                        (attributes_of(resource["resource"]), span) for span in scope["spans"]]
        return found


def attributes_of(owner):
    """key -> value; whole numbers are texts in JSON."""
    values = {}
    for each in owner["attributes"]:
        (kind, value), = each["value"].items()
        values[each["key"]] = int(value) if kind == "intValue" else value
    return values
