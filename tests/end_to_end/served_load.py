"""cpu_llm_server under `llmprof load`, recorded, and analyzed without its journal; the journal says what really was in
each step."""
import bisect
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess

LLMPROF = pathlib.Path(os.environ.get("LLMPROF", pathlib.Path(__file__).resolve().parents[2] / "build/bin/llmprof"))
SERVER = LLMPROF.parent / "cpu_llm_server"
COLLECTOR = LLMPROF.parent.parent / "lib" / "libllmprof_collector.so"
LOAD = ("--rate", "12", "--duration", "5s", "--prompt-tokens", "16:256", "--new-tokens", "8:48", "--warm-up", "2")


class Journal:
    """What the server wrote. Times are CLOCK_MONOTONIC ns."""

    def __init__(self, path):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        self.requests = [line for line in lines if "arrival_ns" in line]
        self.steps = [line for line in lines if "step" in line]
        self.faults = [line for line in lines if "fault" in line]
        self.starts = [step["start_ns"] for step in self.steps]
        self.token_steps = {request["request"]: [] for request in self.requests}  # by token
        self.part_steps = {request["request"]: [] for request in self.requests}
        for index, step in enumerate(self.steps):
            for part in step["parts"]:
                self.part_steps[part["request"]].append(index)
                if part["token"]:
                    self.token_steps[part["request"]].append(index)

    def step_at(self, time_ns):
        """The step that runs at a time; None between steps."""
        index = bisect.bisect_right(self.starts, time_ns) - 1
        return index if index >= 0 and time_ns <= self.steps[index]["end_ns"] else None

    def length(self, index):
        return self.steps[index]["end_ns"] - self.steps[index]["start_ns"]

    def decodes(self, index):
        return sum(not part["prompt"] for part in self.steps[index]["parts"])

    def decode_time(self, index):
        """What decode takes in a step. A slowed step with prompts is slowed as much for both."""
        prompts = any(part["prompt"] for part in self.steps[index]["parts"])
        if not prompts:
            return self.length(index)
        slowed = self.steps[index]["slowed_ns"]
        return self.usual_decode(self.decodes(index)) * self.length(index) / (self.length(index) - slowed)

    def usual_decode(self, rows):
        """The median step without prompts and faults, of so many sequences or the nearest number."""
        by_rows = {}
        for index, step in enumerate(self.steps):
            if step["slowed_ns"] == 0 and not any(part["prompt"] for part in step["parts"]):
                by_rows.setdefault(len(step["parts"]), []).append(self.length(index))
        return statistics.median(by_rows[min(by_rows, key=lambda known: abs(known - rows))])


def number_of(request, journal):
    """The journal's number of a client's request: of its size, and the nearest arrival."""
    alike = [known for known in journal.requests if known["prompt_tokens"] == request["prompt_tokens"]
             and known["max_tokens"] == request["max_tokens"]]
    return min(alike, key=lambda known: abs(known["arrival_ns"] - request["sent_ns"]))["request"]


class ServedLoad:
    """One load. `arguments` are those of the server, `load` those of `llmprof load`."""

    def __init__(self, folder, seed, arguments=(), load=LOAD, record=True):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        logs = self.folder / "log"
        logs.mkdir(exist_ok=True)
        environment = dict(os.environ)
        if record:
            environment.update(LLMPROF_COLLECTOR=str(COLLECTOR), LLMPROF_LOG_DIR=str(logs))
        with subprocess.Popen(
                [SERVER, "--port", "0", "--journal", self.folder / "journal.jsonl", *map(str, arguments)],
                stdout=subprocess.PIPE, text=True, env=environment) as server:
            assert server.stdout is not None
            url = re.search(r"http://\S+", server.stdout.readline())
            assert url is not None
            done = subprocess.run([LLMPROF, "load", url.group(0), *load, "--seed", str(seed), "--out",
                                   self.folder / "load"], capture_output=True, text=True, timeout=300, check=False)
            server.send_signal(signal.SIGINT)
            # 4: it was not held. Requests of a busy machine are sent late, which their times show.
            if server.wait(timeout=60) != 0 or done.returncode not in (0, 4):
                raise AssertionError(f"load: exit {done.returncode}: {done.stderr}")
        self.requests_file = self.folder / "load" / "requests.json"
        self.requests = json.loads(self.requests_file.read_text(encoding="utf-8"))["requests"]
        self.journal = Journal(self.folder / "journal.jsonl")
        self.numbers = [number_of(request, self.journal) for request in self.requests]

    def analyze(self, requests_file=None, name="analysis"):
        """profile.json's requests."""
        out = self.folder / name
        done = subprocess.run([LLMPROF, "analyze", self.folder / "log", requests_file or self.requests_file, "--out",
                               out], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise AssertionError(f"analyze: exit {done.returncode}: {done.stderr}")
        return json.loads((out / "profile.json").read_text(encoding="utf-8"))["requests"]


def completed(found):
    return [(index, item) for index, item in enumerate(found["items"])
            if item["status"] == "completed" and not item["warm_up"]]


def right_tokens(served, found):
    """The share of the tokens of completed requests that are joined to the journal's step."""
    right = total = 0
    journal = served.journal
    steps = [journal.step_at(round((batch["start_ms"] + batch["end_ms"]) / 2 * 1e6)) for batch in found["batches"]]
    for index, item in completed(found):
        truth = journal.token_steps[served.numbers[index]]
        last = -1  # token of the chunk
        for chunk, batch in zip(served.requests[index]["chunks"], item["token_batches"], strict=True):
            last += chunk[1]
            total += chunk[1]
            if batch >= 0 and steps[batch] == truth[last]:
                right += chunk[1]
    return right / total


def wrong_sums(found):
    """Requests and gaps whose parts do not sum to their time, in integer ns."""
    joined = found["join"]["state"] == "joined"
    wrong = [item["id"] for _, item in completed(found)
             if joined and (sum(item["parts_ns"].values()) != item["e2e_ns"]
                            or sum(item["ttft_parts_ns"].values()) != item["ttft_ns"])]
    return wrong + [gap for gap in found["slowest_gaps"] if gap["parts_ns"]
                    and sum(gap["parts_ns"].values()) != gap["ns"]]


def gap_over(served, found, index, time_ns):
    """The gap between tokens of a request that holds a time, if it is among the slowest."""
    for gap in found["slowest_gaps"]:
        start = gap["start_ms"] * 1e6
        if gap["request"] == index and gap["chunk"] > 0 and start <= time_ns <= start + gap["ns"]:
            return gap
    return None


def largest_part(gap):
    return max(gap["parts_ns"], key=gap["parts_ns"].get)


def waiting_over(served, start_ns, end_ns):
    """Requests (their index) with a token before and one after a time, in decode meanwhile."""
    journal = served.journal
    for index, number in enumerate(served.numbers):
        ends = [journal.steps[step]["end_ns"] for step in journal.token_steps[number]]
        if ends and ends[0] <= start_ns and ends[-1] >= end_ns:
            yield index


def pause_errors(served, found):
    """Of each gap over the pause that is named as the host's: its time over the pause, minus 1; None: not named."""
    (fault,) = served.journal.faults
    middle = (fault["start_ns"] + fault["end_ns"]) / 2
    for index in waiting_over(served, fault["start_ns"], fault["end_ns"]):
        gap = gap_over(served, found, index, middle)
        named = gap is not None and largest_part(gap) == "host"
        yield gap["parts_ns"]["host"] / (fault["end_ns"] - fault["start_ns"]) - 1 if named else None


def eviction_errors(served, found):
    """The same of the evicted request: from its last step to that in which it is computed again."""
    (fault,) = served.journal.faults
    number = fault["request"]
    steps = served.journal.part_steps[number]
    before = max(step for step in steps if served.journal.steps[step]["end_ns"] <= fault["start_ns"])
    after = min(step for step in steps if served.journal.steps[step]["start_ns"] >= fault["start_ns"])
    out = served.journal.steps[after]["start_ns"] - served.journal.steps[before]["end_ns"]
    item = found["items"][served.numbers.index(number)]
    yield item["parts_ns"].get("out_of_batch", 0) / out - 1 if item["preemptions"] == 1 else None


def slow_layer_errors(served, found):
    """Of each request in the slowed steps: by how much its decode is longer than usual, over what the fault added."""
    journal = served.journal
    for index, item in completed(found):
        steps = journal.token_steps[served.numbers[index]][1:]
        slowed = [step for step in steps if journal.steps[step]["slowed_ns"] > 0]
        if not slowed or len(slowed) < len(steps):
            continue
        added = sum(journal.decode_time(step) - journal.usual_decode(journal.decodes(step)) for step in steps)
        usual = sum(journal.usual_decode(journal.decodes(step)) for step in steps)
        decode = item["parts_ns"].get("own_decode", 0) + item["parts_ns"].get("others_decode", 0)
        yield (decode - usual) / added - 1


def long_prompt_errors(served, found):
    """Of the longest prompt: by how much it delayed the decode of others, over the journal's."""
    journal = served.journal
    longest = max(range(len(served.requests)), key=lambda index: served.requests[index]["prompt_tokens"])
    number = served.numbers[longest]
    waited = 0.0
    for step in journal.part_steps[number]:
        parts = journal.steps[step]["parts"]
        own = [part for part in parts if part["request"] == number and part["prompt"]]
        if not own:
            continue
        prompts = sum(part["added"] for part in parts if part["prompt"])
        decodes = journal.decodes(step)
        usual = journal.usual_decode(decodes) if decodes else 0
        waited += decodes * (journal.length(step) - usual) * own[0]["added"] / prompts
    (first, *_) = found["delayers"]
    named = first["by"] == found["items"][longest]["id"]
    yield first["ns"] / waited - 1 if named else None


def errors_in(served, errors_of):
    """All errors of a fault; without a join, it is not named."""
    found = served.analyze()
    return list(errors_of(served, found)) if found["join"]["state"] == "joined" else [None]


FAULTS = {
    "pause": (("--fault", "pause=at:2s,for:200ms"), LOAD, pause_errors),
    "evict": (("--fault", "evict=at:2s,for:200ms"), LOAD, eviction_errors),
    "slow_layer": (("--fault", "slow_layer=at:1s,for:2s,layer:1,by:6x"), LOAD, slow_layer_errors),
}


def long_prompt_load(path, seed):
    """A file to replay: short prompts, and a long one at 2 s."""
    rows = [{"timestamp": 50 * index, "input_length": 16 + (index * 7 + seed) % 32, "output_length": 24 + index % 16}
            for index in range(80)]
    rows.append({"timestamp": 2010, "input_length": 1500, "output_length": 8})
    rows.sort(key=lambda row: row["timestamp"])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return ("--replay", path)


def with_a_piece_counted(requests_file, to):
    """The file of a client that counts a piece before the first token, such as a role, as one."""
    content = json.loads(requests_file.read_text(encoding="utf-8"))
    for request in content["requests"]:
        if request["chunks"]:
            request["chunks"].insert(0, [(request["sent_ns"] + request["chunks"][0][0]) // 2, 1])
    to.write_text(json.dumps(content), encoding="utf-8")
    return to


def with_shuffled_chunks(requests_file, to, random):
    """The file with each request's later chunks at random times between its first and its last."""
    content = json.loads(requests_file.read_text(encoding="utf-8"))
    for request in content["requests"]:
        chunks = request["chunks"]
        if len(chunks) > 3:
            times = sorted(random.randint(chunks[0][0], chunks[-1][0]) for _ in chunks[1:-1])
            request["chunks"] = [chunks[0], *([time, chunk[1]] for time, chunk in zip(times, chunks[1:-1])),
                                 chunks[-1]]
    to.write_text(json.dumps(content), encoding="utf-8")
    return to
