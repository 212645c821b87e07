"""Decodes a Perfetto trace with protoc and the fields of perfetto_trace.proto: tracks, slices, counters, flows. Shares
no code with the encoder."""
import codecs
import collections
import pathlib
import re
import shutil
import subprocess
import zlib

FOLDER = pathlib.Path(__file__).resolve().parent
PROTOC = shutil.which("protoc")
FIELD = re.compile(r"\s*(\w+)(?:: (.*)| \{)$")

CLOCK_OF_SEQUENCE, BOOTTIME, REALTIME = 64, 6, 1
STATE_CLEARED, NEEDS_STATE = 1, 2


def value_of(text):
    if text.startswith('"'):
        return codecs.escape_decode(text[1:-1])[0]
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text  # an enumerator


def parse(lines):
    """field -> values, for one message in protobuf's text format."""
    message = collections.defaultdict(list)
    for line in lines:
        if line.strip() == "}":
            return message
        name, value = FIELD.match(line).groups()
        message[name].append(parse(lines) if value is None else value_of(value))
    return message


def decode(data):
    """The packets of a trace, as protoc reads them."""
    done = subprocess.run(
        [PROTOC, f"-I{FOLDER}", "--decode=checked.Trace", "perfetto_trace.proto"],
        input=data, capture_output=True, check=True, timeout=300, cwd=FOLDER)
    if done.stderr:
        raise AssertionError(done.stderr)
    return parse(iter(done.stdout.decode().splitlines()))["packet"]


def one(message, field, default=None):
    values = message.get(field, [])
    if len(values) > 1:
        raise AssertionError(f"{field} occurs {len(values)} times")
    return values[0] if values else default


def text(raw):
    return raw.decode("utf-8")


class Track:
    def __init__(self, descriptor):
        self.name = text(one(descriptor, "name", b""))
        self.parent = one(descriptor, "parent_uuid")
        self.process = one(descriptor, "process")
        self.thread = one(descriptor, "thread")
        self.counter = one(descriptor, "counter")


Slice = collections.namedtuple("Slice", "track start end name category arguments flows ends")
Counter = collections.namedtuple("Counter", "track time value")
GpuKernel = collections.namedtuple("GpuKernel", "gpu start end name grid arguments")


class Sequence:
    """One packet sequence: its clock, its texts, its open slices."""

    TABLES = {"event_names": "names", "event_categories": "categories",
              "debug_annotation_names": "annotations", "debug_annotation_string_values": "texts"}

    def __init__(self):
        self.tables = {table: {} for table in self.TABLES}
        self.time = None
        self.track = None
        self.open = []

    def begin(self, packet):
        assert one(packet, "sequence_flags") == STATE_CLEARED
        defaults = one(packet, "trace_packet_defaults")
        assert one(defaults, "timestamp_clock_id") == CLOCK_OF_SEQUENCE
        if events := one(defaults, "track_event_defaults"):
            self.track = one(events, "track_uuid")
        clocks = {one(clock, "clock_id"): clock for clock in one(packet, "clock_snapshot")["clocks"]}
        own = clocks[CLOCK_OF_SEQUENCE]
        assert one(own, "is_incremental") is True
        # Times of the file are the capture's own.
        assert one(own, "timestamp") == one(clocks[BOOTTIME], "timestamp")
        self.time = one(own, "timestamp")

    def learn(self, interned):
        for table, known in self.tables.items():
            for entry in interned.get(table, []):
                number = one(entry, "iid")
                assert number not in known, f"{table} {number} is written twice"
                known[number] = text(one(entry, "name"))


class Trace:
    def __init__(self, path):
        self.tracks = {}
        self.slices = []
        self.counters = []
        self.gpu_kernels = []
        self.gpu_counters = []  # (gpu, time, name, value)
        self.gpu_counter_names = {}
        sequences = {}
        data = pathlib.Path(path).read_bytes()
        self.bytes = len(data)
        for block in decode(data):
            for packet in decode(zlib.decompress(one(block, "compressed_packets"))):
                self.packet(packet, sequences.setdefault(one(packet, "trusted_packet_sequence_id"), Sequence()))
        unfinished = [sequence for sequence in sequences.values() if sequence.open]
        assert not unfinished, f"{len(unfinished)} tracks with open slices"

    def packet(self, packet, sequence):
        if "track_descriptor" in packet:
            descriptor = one(packet, "track_descriptor")
            uuid = one(descriptor, "uuid")
            assert uuid not in self.tracks
            if uuid != 0:
                self.tracks[uuid] = Track(descriptor)
            return
        if "clock_snapshot" in packet:
            sequence.begin(packet)
            return
        assert one(packet, "sequence_flags") == NEEDS_STATE
        sequence.time += one(packet, "timestamp")
        if "interned_data" in packet:
            sequence.learn(one(packet, "interned_data"))
        if event := one(packet, "track_event"):
            self.event(event, sequence)
        if event := one(packet, "gpu_counter_event"):
            self.gpu_counter(event, sequence.time)
        if event := one(packet, "gpu_render_stage_event"):
            self.gpu_kernel(event, sequence.time)

    def event(self, event, sequence):
        kind = one(event, "type")
        track = self.tracks[sequence.track]
        if kind == "TYPE_COUNTER":
            value = one(event, "counter_value", one(event, "double_counter_value"))
            self.counters.append(Counter(track, sequence.time, value))
        elif kind == "TYPE_SLICE_BEGIN":
            tables = sequence.tables
            arguments = {}
            for annotation in event.get("debug_annotations", []):
                name = tables["debug_annotation_names"][one(annotation, "name_iid")]
                if "string_value_iid" in annotation:
                    value = tables["debug_annotation_string_values"][one(annotation, "string_value_iid")]
                else:
                    value = one(annotation, "uint_value", one(annotation, "double_value"))
                arguments[name] = value
            category = one(event, "category_iids")
            sequence.open.append(Slice(
                track, sequence.time, None, tables["event_names"][one(event, "name_iid")],
                category and tables["event_categories"][category], arguments,
                event.get("flow_ids", []), event.get("terminating_flow_ids", [])))
        else:
            assert kind == "TYPE_SLICE_END", kind
            self.slices.append(sequence.open.pop()._replace(end=sequence.time))

    def gpu_counter(self, event, time):
        gpu = one(event, "gpu_id")
        if descriptor := one(event, "counter_descriptor"):
            for spec in descriptor["specs"]:
                assert spec["groups"] == [6], "Perfetto's page shows counters of the group COMPUTE"
                self.gpu_counter_names[one(spec, "counter_id")] = text(one(spec, "name"))
        for counter in event.get("counters", []):
            name = self.gpu_counter_names[one(counter, "counter_id")]
            self.gpu_counters.append((gpu, time, name, one(counter, "double_value")))

    def gpu_kernel(self, event, time):
        launch = one(event, "launch")
        grid = one(launch, "grid_size")
        arguments = {text(one(argument, "name")):
                     one(argument, "uint_value", one(argument, "double_value", one(argument, "string_value")))
                     for argument in launch["args"]}
        self.gpu_kernels.append(GpuKernel(
            one(event, "gpu_id"), time, time + one(event, "duration"), text(one(event, "name")),
            tuple(one(grid, axis) for axis in "xyz"), arguments))

    def on(self, name):
        """The slices on tracks of that name."""
        return [each for each in self.slices if each.track.name == name]
