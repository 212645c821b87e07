"""Inputs that no command can use, made from tests/data: paths that are not files, files that are truncated, garbled or
zeroed, JSON and YAML with wrong types."""
import copy
import gzip
import json
import os
import pathlib
import random

from program import DATA, run

# Values of the wrong type or size for any field.
WRONG_VALUES = [None, True, -1, 2 ** 64, 1e308, "text", "\x1b[31m\u202e", [], {}, [[{}]], {"a": [1]}]


def written(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


class BadInputs:
    """All bad inputs, in one folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.random = random.Random(31)
        self.good = self._good_inputs()

    def _good_inputs(self):
        folder = self.folder / "good"
        folder.mkdir()
        bundle = folder / "bundle"
        done = run("analyze", DATA / "nsys_sqlite" / "eager.sqlite", "--out", bundle)
        assert done.returncode == 0, done.stderr
        partial = folder / "partial"
        trace = json.loads((DATA / "kineto" / "h200_graph_small.json").read_text())
        trace["distributedInfo"] = {"rank": 0, "world_size": 1, "backend": "nccl"}
        (folder / "rank0.json").write_text(json.dumps(trace))
        done = run("analyze", "--partial", folder / "rank0.json", "--out", partial)
        assert done.returncode == 0, done.stderr
        return {
            "sqlite": DATA / "nsys_sqlite" / "eager.sqlite",
            "kineto": DATA / "kineto" / "h200_graph_small.json",
            "log": DATA / "collector_log" / "cuda.llmtrace",
            "ncu": DATA / "ncu" / "decode_raw.csv",
            "stats": DATA / "h200-decoder" / "nsys_cuda_gpu_kern_sum.csv",
            "metrics": DATA / "stage1_metrics" / "own_layout.json",
            "profile": bundle / "profile.json",
            "partial": next(partial.glob("*.llmpart")),
            "model": DATA / "h200-decoder" / "config.json",
        }

    def not_files(self):
        """Objects in place of a file: name -> path."""
        folder = self.folder / "not_files"
        folder.mkdir()
        (folder / "a-folder").mkdir()
        os.mkfifo(folder / "a-pipe")
        (folder / "dangling").symlink_to("nowhere")
        (folder / "loop-a").symlink_to("loop-b")
        (folder / "loop-b").symlink_to("loop-a")
        (folder / "to-zero").symlink_to("/dev/zero")
        written(folder / "empty", b"")
        return {
            "missing": folder / "missing", "empty": folder / "empty", "folder": folder / "a-folder",
            "pipe": folder / "a-pipe", "dangling": folder / "dangling", "loop": folder / "loop-a",
            "link to a device": folder / "to-zero", "zeros": pathlib.Path("/dev/zero"),
            "noise": pathlib.Path("/dev/random"), "null": pathlib.Path("/dev/null"),
            "below a file": folder / "empty" / "below", "long": folder / ("n" * 300),
        }

    def damaged(self, kinds):
        """Files of these kinds, damaged in many ways: label -> path."""
        folder = self.folder / "damaged"
        folder.mkdir(exist_ok=True)
        made = {}
        for kind in kinds:
            source = self.good[kind]
            data = source.read_bytes()
            variants = {
                "1 byte": data[:1], "16 bytes": data[:16], "half": data[:len(data) // 2], "all but one": data[:-1],
                "second half": data[len(data) // 2:],
                "zeroed end": data[:len(data) // 2] + bytes(len(data) - len(data) // 2),
                "zeroed": bytes(len(data)), "noise": self.random.randbytes(4096),
                "cut gzip": gzip.compress(data, mtime=0)[:len(data) // 40 + 30],
                "twice": data + data,
            }
            for number in range(3):
                garbled = bytearray(data)
                for _ in range(20):
                    garbled[self.random.randrange(len(garbled))] = self.random.randrange(256)
                variants[f"garbled {number}"] = bytes(garbled)
            for what, content in variants.items():
                name = f"{kind}-{what.replace(' ', '_')}{source.suffix}"
                made[f"{kind}, {what}"] = written(folder / name, content)
        return made

    def profiles(self):
        """profile.json with one value of the wrong type each: label -> path."""
        folder = self.folder / "profiles"
        folder.mkdir()
        good = json.loads(self.good["profile"].read_text())
        places = [(key,) for key in good]
        for key, value in good.items():
            inner = value[0] if isinstance(value, list) and value else value
            if isinstance(inner, dict):
                step = (key, 0) if isinstance(value, list) else (key,)
                places += [step + (name,) for name in list(inner)[:6]]
        made = {}
        for place in places:
            value = self.random.choice(WRONG_VALUES)
            made[f"profile.json with {'.'.join(map(str, place))} = {value!r:.20}"] = self._changed(
                good, place, value, folder / f"profile{len(made)}.json")
        texts = {
            "deep": "[" * 100_000, "deep object": '{"a":' * 50_000, "a list": "[]", "a number": "1e999", "NaN": "NaN",
            "an object": "{}", "no numbers": json.dumps(good).replace("1", "x"),
            "a later schema": json.dumps({**good, "schema_version": 99}),
            "huge numbers": json.dumps(good).replace('"calls": ', '"calls": 9999999999999999999'),
            "latin": json.dumps({**good, "findings": [{"title": "\xff"}]}, ensure_ascii=False).encode("latin-1", "replace"),
        }
        for what, text in texts.items():
            made[f"profile.json: {what}"] = written(folder / f"{what.replace(' ', '_')}.json", text)
        return made

    @staticmethod
    def _changed(good, place, value, path):
        changed = copy.deepcopy(good)
        at = changed
        for step in place[:-1]:
            at = at[step]
        at[place[-1]] = value
        return written(path, json.dumps(changed))

    def run_folders(self):
        """Run folders in which one record is broken: label -> folder."""
        made = {}
        records = ["captures.json", "ranks.json", "inputs.yaml", "config.yaml", "env.json", "stage1/metrics.json"]
        contents = ["", "[", "null", "[]", "{}", "1e999", '"text"', "a: [b", "- - -\n x", "\x00\xff\xfe",
                    '{"ranks": [{"rank": -1, "state": 5}], "world_size": "many", "finished": 3}',
                    '{"failed": {"backend": []}, "notes": [{"severity": 1, "count": -5}]}',
                    "model: {config: {hidden_size: -1, num_hidden_layers: 99999999999999999999}}\nworkload: {command: {a: b}}",
                    "x: &a [*a]", "[" * 20_000]
        for record in records:
            for number, content in enumerate(contents):
                folder = self.folder / "runs" / f"{record.replace('/', '-')}-{number}"
                (folder / "collector").mkdir(parents=True)
                (folder / "stage1").mkdir()
                (folder / "collector" / "1.llmtrace").symlink_to(self.good["log"])
                written(folder / "inputs.yaml", "workload: {name: x}\n")
                written(folder / record, content.encode("latin-1"))
                made[f"run with {record} = {content!r:.24}"] = folder
        return made

    def conf_folders(self):
        """Folders for --config-dir: label -> folder."""
        made = {}
        names = ["kernels.yaml", "stages.yaml", "gpus.yaml", "links.yaml", "engines/vllm.yaml", "runner/stage2.yaml", "gate/default.yaml",
                 "model/llm/cpu_tiny.yaml", "workload/cpu_llm.yaml"]
        contents = ["[", "x: y\n", "[]\n", "- 1\n", "\x00\xff", "classes: 5\nrules: {}\n", "defaults: [a, {b: c}]\n",
                    "x: &a [*a]\n", "rules:\n  - {class: [], pattern: '('}\n"]
        for name in names:
            for number, content in enumerate(contents):
                folder = self.folder / "conf" / f"{name.replace('/', '-')}-{number}"
                path = folder / name
                path.parent.mkdir(parents=True)
                written(path, content.encode("latin-1"))
                made[f"{name} = {content!r:.24}"] = (folder, name)
            folder = self.folder / "conf" / f"{name.replace('/', '-')}-pipe"
            (folder / name).parent.mkdir(parents=True)
            os.mkfifo(folder / name)
            made[f"{name} = a pipe"] = (folder, name)
        return made

    def strange_names(self):
        """Good captures with names that need care: label -> path."""
        folder = self.folder / "names"
        folder.mkdir()
        names = [b"\xff\xfe.sqlite", b"new\nline.sqlite", b"\x1b[31mred.sqlite", "\u202egpj.sqlite".encode(),
                 "\x9b31m.sqlite".encode(), b"--out.sqlite", b" blank .sqlite", b"quote'\".sqlite", b"%s%n.sqlite",
                 "\u200bzero.sqlite".encode()]
        made = {}
        for name in names:
            path = os.path.join(os.fsencode(folder), name)
            with open(path, "wb") as file:
                file.write(self.good["sqlite"].read_bytes())
            made[repr(name)] = path
        return made
