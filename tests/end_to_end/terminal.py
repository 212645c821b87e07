"""Runs llmprof on a pseudo-terminal of a given size and records its output."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unicodedata

from program import LLMPROF

ERASE = "\r\x1b[K"
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class TerminalOutput:
    """All bytes from the terminal (raw), the final screen (shown, with its colors, and plain, without), the duration
    and the exit code."""

    def __init__(self, returncode, raw, seconds):
        self.returncode = returncode
        self.seconds = seconds
        self.raw = raw.replace("\r\n", "\n")
        self.shown = "\n".join(line.split(ERASE)[-1] for line in self.raw.split("\n"))
        self.plain = ESCAPES.sub("", self.shown)

    def drawings(self):
        """The progress line, each time it was drawn."""
        parts = (part.split("\n")[0] for part in self.raw.split(ERASE)[1:])
        return [part for part in parts if re.match(r"llmprof: .*, (\d+ min )?\d+ s$", part)]

    def lines(self):
        return self.plain.split("\n")


def without(environment, *names):
    return {name: value for name, value in environment.items() if name not in names}


def run_on_terminal(*arguments, columns=80, env=None, cwd=None, stdout_to_pipe=False, timeout=120):
    """`env` is added to an environment with TERM=xterm and none of NO_COLOR, COLUMNS."""
    environment = {**without(os.environ, "NO_COLOR", "COLUMNS"), "TERM": "xterm", **(env or {})}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [LLMPROF, *map(str, arguments)],
        stdin=theirs, stdout=subprocess.DEVNULL if stdout_to_pipe else theirs, stderr=theirs,
        env=environment, cwd=cwd,
    )
    os.close(theirs)
    parts = []
    begin = time.monotonic()
    deadline = begin + timeout
    try:
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            parts.append(part)
        else:
            process.kill()
            raise AssertionError("llmprof did not end in time")
        returncode = process.wait(timeout=10)
        return TerminalOutput(returncode, b"".join(parts).decode("utf-8"), time.monotonic() - begin)
    finally:
        os.close(ours)
        if process.poll() is None:
            process.kill()
            process.wait()


def columns_of(line):
    """As a terminal counts: wide characters take two columns, combining marks none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in line)
    return len(line) + wide - sum(unicodedata.combining(c) != 0 for c in line)
