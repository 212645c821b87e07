"""All commands on bad inputs: never a signal, a hang or an internal error; an error names the file in a few lines;
success is never empty. A scripted matrix, in less than a minute on two cores."""
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

from bad_inputs import BadInputs
from program import LLMPROF

CODES = {0, 2, 3, 4, 5}
SECONDS = 20
MEMORY = 6 << 30
MOST_LINES = 14
NOBODY = 65534
# Control characters of a terminal, in UTF-8: C0 except line breaks, DEL, C1, directions, zero-width blanks.
OBEYED = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b\x8e\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf")


class Case:
    """One call, with its additional expectations."""

    def __init__(self, label, *arguments, names=None, codes=CODES, out=None, env=None, stdout=None, stderr=None, user=None):
        self.label, self.arguments, self.names, self.codes = label, arguments, names, codes
        self.out, self.env, self.stdout, self.stderr, self.user = out, env, stdout, stderr, user


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def call(case, cwd):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    opened = []
    for name in ("stdout", "stderr"):
        where = getattr(case, name)
        if where is not None and where != "closed":
            opened.append(open(where, "wb"))  # pylint: disable=consider-using-with
            streams[name] = opened[-1]
    words = [LLMPROF, *case.arguments]
    closed = [{"stdout": ">&-", "stderr": "2>&-"}[name] for name in ("stdout", "stderr") if getattr(case, name) == "closed"]
    if closed:
        words = ["sh", "-c", '"$@" ' + " ".join(closed), "sh", *words]
    who = {"user": case.user, "group": case.user, "extra_groups": []} if case.user is not None else {}
    try:
        return subprocess.run(words, **streams, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False, cwd=cwd,
                              env={**os.environ, "BROWSER": "/bin/true", **(case.env or {})}, preexec_fn=limit_memory, **who)
    finally:
        for stream in opened:
            stream.close()


def is_filled(folder):
    """Whether a bundle has content: the profile of an analysis, or a comparison."""
    profile = folder / "profile.json"
    if profile.exists():
        content = json.loads(profile.read_text(encoding="utf-8"))
        return bool(content.get("kernels") or content.get("operators") or content.get("device_time") or content.get("diagnostics"))
    return any(path.stat().st_size > 0 for path in folder.rglob("*") if path.is_file())


def faults(case, done):
    """Sentences about what is wrong with one call."""
    errors = done.stderr or b""
    if done.returncode not in case.codes:
        yield f"exit code {done.returncode}"
    for stream, text in (("stdout", done.stdout or b""), ("stderr", errors)):
        if OBEYED.search(text):
            yield f"{stream} has characters that a terminal obeys: {OBEYED.search(text)[0]!r}"
    if b"internal error" in errors or b"terminate called" in errors or b"Sanitizer" in errors:
        yield "an internal error"
    if done.returncode != 0:
        if not errors.strip() and case.stderr is None and done.returncode not in (3, 5):
            yield "fails without a word"
        if len(errors.splitlines()) > MOST_LINES:
            yield f"{len(errors.splitlines())} lines of errors"
        if case.names and case.names.encode() not in errors and errors.strip():
            yield f"does not name {case.names}"
    elif case.stdout is None and not (done.stdout or b"").strip():
        yield "succeeds without a word"
    elif case.out is not None and not (case.out.is_dir() and is_filled(case.out)):
        yield "succeeds and writes nothing"


class Matrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        cls.bad = BadInputs(cls.folder)
        cls.good = cls.bad.good
        cls.number = 0

    def out(self):
        type(self).number += 1
        return self.folder / "out" / str(self.number)

    def judge(self, cases):
        """Runs all calls, a few at a time, and fails with every fault."""
        cwd = self.folder / "cwd"
        cwd.mkdir(exist_ok=True)
        cwd.chmod(0o777)
        wrong = []

        def one(case):
            try:
                done = call(case, cwd)
            except subprocess.TimeoutExpired:
                return [f"{case.label}: hangs: {case.arguments}"]
            return [f"{case.label}: {fault}: {[str(word)[-60:] for word in case.arguments]}\n    {(done.stderr or b'')[:300]!r}"
                    for fault in faults(case, done)]

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            for found in pool.map(one, cases):
                wrong += found
        self.assertFalse(wrong, f"{len(wrong)} faults in {len(cases)} calls\n" + "\n".join(wrong[:25]))

    def reading(self, label, path, names=None, **more):
        """Every command that reads a file named by the user."""
        good = self.good["profile"]
        commands = {
            "analyze": (path,), "analyze --partial": ("--partial", path), "merge": (path,), "report": (path,),
            "diff": (path, good), "diff, as new": (good, path),
        }
        for command, arguments in commands.items():
            out = self.out()
            yield Case(f"{command} of {label}", *command.split(",")[0].split(), *[a for a in arguments if a != "--partial"],
                       "--out", out, names=names, out=out, **more)
        yield Case(f"query of {label}", "query", path, "SELECT * FROM runs", names=names, **more)
        yield Case(f"export of {label}", "export", path, "--out", f"{self.out()}.sqlite", names=names, **more)
        yield Case(f"open of {label}", "open", path, names=names, **more)
        yield Case(f"artifacts of {label}", "artifacts", path, names=names, **more)
        out = self.out()
        yield Case(f"--model {label}", "analyze", self.good["sqlite"], "--model", path, "--out", out, names=names, out=out, **more)
        yield Case(f"--config-dir {label}", "analyze", self.good["sqlite"], "--config-dir", path, "--out", self.out(),
                   names=names, **more)

    def test_paths_that_are_not_files(self):
        cases = []
        for label, path in self.bad.not_files().items():
            cases += [case for case in self.reading(label, path, names=path.name[:60])]
        self.judge(cases)

    def test_files_that_are_damaged(self):
        cases = []
        for label, path in self.bad.damaged(["sqlite", "kineto", "log", "ncu", "stats", "metrics"]).items():
            out = self.out()
            cases.append(Case(f"analyze of {label}", "analyze", path, "--out", out, out=out, names=path.name))
        for label, path in self.bad.damaged(["partial"]).items():
            out = self.out()
            cases.append(Case(f"merge of {label}", "merge", path, "--out", out, out=out, names=path.name))
        for label, path in self.bad.damaged(["profile", "model"]).items():
            cases += list(self.reading(label, path, names=path.name))
        self.judge(cases)

    def test_profiles_of_wrong_types(self):
        cases = []
        for label, path in self.bad.profiles().items():
            for arguments in (("report", path), ("diff", path, self.good["profile"]), ("diff", self.good["profile"], path)):
                out = self.out()
                cases.append(Case(f"{arguments[0]}: {label}", *arguments, "--out", out, out=out, names=path.name))
            cases.append(Case(f"query: {label}", "query", path, "SELECT * FROM stages, steps", names=path.name))
        self.judge(cases)

    def test_records_of_runs(self):
        cases = []
        for number, (label, folder) in enumerate(self.bad.run_folders().items()):
            out = self.out()
            cases.append(Case(f"analyze: {label}", "analyze", folder, "--out", out, out=out))
            cases.append(Case(f"artifacts: {label}", "artifacts", folder, codes={0}))
            if number % 3 == 0:
                out = self.out()
                cases.append(Case(f"merge: {label}", "merge", folder, "--out", out, out=out))
                out = self.out()
                cases.append(Case(f"diff: {label}", "diff", folder, folder, "--out", out, out=out))
        self.judge(cases)

    def test_configuration(self):
        cases = []
        for label, (folder, name) in self.bad.conf_folders().items():
            # Each file is read by some command, whose error names it.
            out = self.out()
            commands = [("analyze", self.good["sqlite"], "--out", out), ("run", "--dry-run")]
            if name.startswith("gate"):
                commands.append(("diff", self.good["profile"], self.good["profile"], "--gate", "default", "--out", self.out()))
            if name.startswith("links"):
                commands.append(("merge", self.good["partial"], "--out", self.out()))
            for command in commands:
                cases.append(Case(f"{command[0]}: {label}", *command, "--config-dir", folder))
        self.judge(cases)

    def test_names_of_files(self):
        cases = []
        for label, path in self.bad.strange_names().items():
            out = self.out()
            cases.append(Case(f"analyze {label}", "analyze", "--out", out, "--", path, out=out, codes={0}))
            cases.append(Case(f"analyze {label} as JSON", "analyze", "--json", "--out", self.out(), "--", path, codes={0}))
            cases.append(Case(f"diff {label}", "diff", "--out", self.out(), "--", path, path, codes={0, 3}))
            cases.append(Case(f"report {label}", "report", "--", path, codes={3}))
            cases.append(Case(f"artifacts {label}", "artifacts", "--", path, codes={3}))
            cases.append(Case(f"run {label}", "run", "--dry-run", "workload.uses_cuda=false", "--", path, codes={0}))
            named = os.path.join(os.fsencode(self.folder), b"named-" + os.path.basename(path))
            cases.append(Case(f"--out {label}", "analyze", self.good["sqlite"], "--out", named, codes={0}))
            cases.append(Case(f"artifacts of --out {label}", "artifacts", os.path.dirname(path), "--json", codes={0}))
        self.judge(cases)

    def test_outputs_that_cannot_be_written(self):
        profile, sqlite = self.good["profile"], self.good["sqlite"]
        folder = self.folder / "outputs"
        folder.mkdir()
        (folder / "file").write_text("mine")
        (folder / "loop").symlink_to("loop")
        (folder / "dangling").symlink_to("nowhere/at/all")
        os.mkfifo(folder / "pipe")
        (folder / "full").mkdir()
        (folder / "full" / "kept").write_text("mine")
        cases = []
        for name in ("file", "loop", "pipe", "file/below", "n" * 300, "full", "dangling"):
            path = folder / name
            for arguments in (("analyze", sqlite), ("diff", profile, profile), ("report", profile), ("merge", self.good["partial"]),
                              ("analyze", "--partial", folder.parent / "good" / "rank0.json"),
                              ("run", "workload.uses_cuda=false", "--", "true")):
                front, program = (arguments[:2], arguments[2:]) if arguments[0] == "run" else (arguments, ())
                partial = "--partial" in arguments and name == "full"
                codes = {0} if partial else {0, 2, 3, 4}
                cases.append(Case(f"{arguments[0]} --out {name[:20]}", *front, "--out", path, *program, codes=codes))
        for option in ("--junit", "--summary"):
            for name in ("loop", "file/below", "n" * 300, "full"):
                cases.append(Case(f"diff {option} {name[:20]}", "diff", profile, profile, "--out", self.out(), option,
                                  folder / name, codes={4}, names=name[:40]))
        self.judge(cases)
        self.assertEqual((folder / "file").read_text(), "mine")
        self.assertEqual((folder / "full" / "kept").read_text(), "mine")
        self.assertTrue((folder / "pipe").is_fifo())

    def test_streams_that_cannot_be_written(self):
        profile, sqlite = self.good["profile"], self.good["sqlite"]
        calls = [("analyze", sqlite), ("analyze", sqlite, "--json"), ("diff", profile, profile), ("report", profile),
                 ("merge", self.good["partial"]), ("artifacts", profile.parent), ("open", profile.parent), ("doctor",), ("fit", "llm/llama_1b"),
                 ("completion", "bash"), ("completion", "zsh"), ("manual",), ("version",), ("--help",), ("analyze", "--help"),
                 ("run", "--dry-run"), ("arm", "1"), ("disarm", "1", "--json"),
                 ("run", "workload.uses_cuda=false", "--", "false")]
        cases = []
        for arguments in calls:
            out = () if arguments[0] not in ("analyze", "diff", "report", "merge") or "--help" in arguments else ("--out",)
            for stream in ("/dev/full", "closed"):
                for name in ("stdout", "stderr"):
                    where = (*out, self.out()) if out else ()
                    codes = {4} if name == "stdout" and arguments[0] not in ("run", "arm", "disarm", "merge") else CODES
                    if name == "stdout" and arguments == ("run", "--dry-run"):
                        codes = {4}
                    cases.append(Case(f"{arguments[0]}, {name} {stream}", *arguments, *where, codes=codes, **{name: stream}))
        # Commands that print nothing on stdout are unaffected.
        self.judge([case for case in cases if case.label.split(",")[0] != "arm" or case.stdout != "closed"])

    @unittest.skipUnless(os.getuid() == 0, "needs root, to become another user")
    def test_without_permission(self):
        folder = self.folder / "forbidden"
        folder.mkdir()
        self.folder.chmod(0o755)
        file = folder / "secret.json"
        file.write_bytes(self.good["profile"].read_bytes())
        file.chmod(0)
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        (closed / "profile.json").write_bytes(self.good["profile"].read_bytes())
        read_only = folder / "read-only"
        read_only.mkdir(mode=0o555)
        writable = self.folder / "writable"
        writable.mkdir(exist_ok=True)
        writable.chmod(0o777)
        cases = []
        for path in (file, closed):
            for case in self.reading(f"{path.name} without permission", path, names=path.name, user=NOBODY):
                if case.out is not None:
                    where = writable / case.out.name
                    case.arguments = tuple(where if word == case.out else word for word in case.arguments)
                    case.out = None
                case.codes = {2, 3, 4}
                cases.append(case)
        cases = [case for case in cases if not case.label.startswith("--config-dir")]
        cases.append(Case("analyze into a read-only folder", "analyze", self.good["sqlite"], "--out", read_only / "x", user=NOBODY,
                          codes={4}, names="read-only"))
        cases.append(Case("run into a read-only folder", "run", "workload.uses_cuda=false", "--out", read_only / "x", "--",
                          "true", user=NOBODY, codes={4}, names="read-only"))
        cases.append(Case("diff into a read-only file", "diff", self.good["profile"], self.good["profile"], "--out",
                          writable / "diff", "--summary", read_only / "s.md", user=NOBODY, codes={4}, names="s.md"))
        self.judge(cases)

    def test_programs_that_fail(self):
        folder = self.folder / "programs"
        folder.mkdir()
        scripts = {
            "exits": "#!/bin/sh\nexit 7\n", "dies": "#!/bin/sh\nkill -SEGV $$\n", "not-executable": "#!/bin/sh\n",
            "no-interpreter": "#!/nowhere/at/all\n", "garbage": "\x7fELF\x02garbage", "empty": "",
            "shouts": "#!/bin/sh\nhead -c 300000 /dev/urandom >&2\nprintf '\\033[31m\\342\\200\\256 failed' >&2\nexit 1\n",
            "writes-a-log": '#!/bin/sh\nmkdir -p "$LLMPROF_LOG_DIR"\nhead -c 4000 /dev/urandom >"$LLMPROF_LOG_DIR/1.llmtrace"\n',
            "links-a-log": '#!/bin/sh\nmkdir -p "$LLMPROF_LOG_DIR"\nln -s /dev/zero "$LLMPROF_LOG_DIR/1.llmtrace"\n',
            "writes-metrics": '#!/bin/sh\n[ -z "$LLMPROF_METRICS" ] || echo "[[[" >"$LLMPROF_METRICS"\n',
        }
        cases = []
        for name, text in scripts.items():
            path = folder / name
            path.write_bytes(text.encode("latin-1"))
            if name != "not-executable":
                path.chmod(stat.S_IRWXU)
        for program in [*(str(folder / name) for name in scripts), str(folder), str(folder / "missing"), "no-such-program", "",
                        "/dev/null", "/dev/zero"]:
            cases.append(Case(f"run -- {program[-20:]}", "run", "workload.uses_cuda=false", "--out", self.out(), "--", program,
                              codes={2, 3, 4}))
            cases.append(Case(f"run --dry-run -- {program[-20:]}", "run", "--dry-run", "workload.uses_cuda=false", "--", program,
                              codes={0, 2, 4}))
        cases.append(Case("run --repeat of a failure", "run", "--repeat", "2", "workload.uses_cuda=false", "--out", self.out(),
                          "--", folder / "exits", codes={4}))
        cases.append(Case("run --rank-folder without a launcher", "run", "--rank-folder", self.out(), "--", "true", codes={2}))
        self.judge(cases)

    def test_meaningless_arguments(self):
        sqlite, profile = self.good["sqlite"], self.good["profile"]
        huge = "9" * 40
        lines = [
            (), ("",), ("--",), ("-",), ("no-such-command",), ("\x1b[31m",), ("analyze",), ("merge",), ("report",), ("diff", profile),
            ("analyze", sqlite, "--top", huge), ("analyze", sqlite, "--top", "-1"), ("analyze", sqlite, "--top", "1e3"),
            ("analyze", sqlite, "--steps", f"{huge}:{huge}"), ("analyze", sqlite, "--steps", "5:1"), ("analyze", sqlite, "--steps", "\x00"[:0]),
            ("analyze", sqlite, "--device", huge), ("analyze", sqlite, "--device", "4294967295"), ("analyze", sqlite, "--stage", "no\u202estage"),
            ("analyze", sqlite, "--gpu", "\x9b31m"), ("analyze", sqlite, "--model", "llm/no_such"), ("analyze", sqlite, "--tp", "4294967295"),
            ("analyze", sqlite, "--batch", "4294967295", "--prompt-tokens", "4294967295", "--model", "llm/llama_1b"),
            ("analyze", sqlite, "--no-such-option"), ("analyze", sqlite, "--out"), ("analyze", "--out=", sqlite),
            ("diff", profile, profile, "--gate", "x"), ("diff", profile, profile, "--gate", "decode.step.p50<=+nan%"),
            ("diff", profile, profile, "--gate", "decode.step.p50<=+1e999%"), ("diff", profile, profile, "--threshold", "-5%"),
            ("diff", profile, profile, "--threshold", huge + "%"), ("run", "x"), ("run", "x=y"), ("run", "=", "--dry-run"),
            ("run", "~", "--dry-run"), ("run", "workload.ranks=99999999999999999999", "--dry-run"), ("run", "run.repeats=-1", "--dry-run"),
            ("run", "run.timeout_s=1e999", "--dry-run"), ("run", "model=/dev/zero", "--dry-run"), ("run", "model=" + "a/" * 3000, "--dry-run"),
            ("run", "${x}=1", "--dry-run"), ("run", "device=${device}", "--dry-run"), ("run", "run.mode=\u202e", "--dry-run"),
            ("run", "inputs.manifest=/dev/zero", "--dry-run"), ("run", "hydra.run.dir=/dev/null/x", "--dry-run"),
            ("run", "--mode", "x", "--dry-run"), ("run", "--duty", "0/0", "--dry-run"), ("run", "--overhead-budget", "900%", "--dry-run"),
            ("run", "--repeat", "0"), ("run", "--against", "", "--repeat", "1", "--", "true"), ("run", "--wait-for-ranks", "5"),
            ("arm",), ("arm", "0"), ("arm", huge), ("arm", "x"), ("arm", str(os.getpid())), ("arm", "2147483647"),
            ("disarm", str(os.getpid()), "--json"), ("disarm", "-1"), ("completion",), ("completion", "fish"), ("completion", "bash", "zsh"),
            ("fit",), ("fit", "/dev/zero"), ("fit", "x/" * 2000), ("fit", sqlite), ("fit", "llm/llama_1b", "--batch", huge), ("fit", "llm/llama_1b", "--gpu", "\u202e"),
            ("fit", "llm/llama_1b", "--batch", "1048576", "--context", "16777216"), ("fit", "llm/llama_1b", "--kv", ""), ("fit", "llm/llama_1b", "--tp", "0"),
            ("manual", "x"), ("version", "x"), ("doctor", "x"), ("doctor", "--python", "/dev/zero"), ("doctor", "--python", "nowhere"),
            ("doctor", "--out", "/dev/null/x"), ("open", "x", "y"), ("--color", "x"), ("--color", "never", "version", "--color"),
            ("analyze", *[sqlite] * 50), ("merge", *[self.good["partial"]] * 5), ("analyze", self.folder / ("x/" * 2000)),
        ]
        self.judge([Case(f"{line}"[:60], *line) for line in lines])

    def test_browsers(self):
        folder = self.folder / "browsers"
        folder.mkdir()
        scripts = {"good": "exit 0", "fails": "exit 3", "dies": "kill -KILL $$", "shouts": "head -c 100000 /dev/zero"}
        for name, text in scripts.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        bundle = self.good["profile"].parent
        cases = [Case(f"open with {name}", "open", bundle, env={"BROWSER": str(folder / name)}, codes={0} if name in ("good", "shouts") else {4})
                 for name in scripts]
        cases += [Case(f"open with {value!r}", "open", bundle, env={"BROWSER": value, "DISPLAY": "", "WAYLAND_DISPLAY": ""}, codes={0})
                  for value in ("", "/nowhere", ":::", "%s", str(folder))]
        for page in ("report.html", "no-page"):
            cases.append(Case(f"open {page}", "open", bundle / page, env={"BROWSER": str(folder / "good")}, codes={0, 3}))
        self.judge(cases)

    def test_little_memory(self):
        """Too little memory is not reported as an internal error."""
        for megabytes in range(28, 68):
            done = subprocess.run(["sh", "-c", f'ulimit -c 0; ulimit -v {megabytes * 1024}; exec "$@"', "sh", LLMPROF, "analyze",
                                   self.good["sqlite"], "--out", self.out()], capture_output=True, timeout=SECONDS, check=False)
            self.assertIn(done.returncode, (0, 2, 4, 127), (megabytes, done.stderr))
            self.assertNotIn(b"internal error", done.stderr)

    def test_interrupted_runs(self):
        """A signal ends a run with its results so far, not with the signal."""
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            out = self.out()
            process = subprocess.Popen([LLMPROF, "run", "workload.uses_cuda=false", "--out", out, "--", "sleep", "30"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            deadline = time.monotonic() + SECONDS
            while not (out / "stage1" / "control.log").exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(sent)
            _, errors = process.communicate(timeout=SECONDS)
            self.assertIn(process.returncode, (3, 4), errors)


if __name__ == "__main__":
    sys.exit(unittest.main())
