"""The collector as a preloaded library."""
import os
import pathlib
import re
import subprocess

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build"
LIBRARY = os.environ.get("LLMPROF_COLLECTOR_LIBRARY", str(BUILD / "lib" / "libllmprof_collector.so"))
NEEDS_FIRST_PLACE = "a sanitizer's runtime must be the first library, not ours"


def needs_a_sanitizer():
    done = subprocess.run(["readelf", "--dynamic", "--wide", LIBRARY], capture_output=True, text=True, check=True)
    return re.search(r"\(NEEDED\).*(asan|tsan)", done.stdout) is not None


def environment_without_llmprof():
    return {name: value for name, value in os.environ.items() if not name.startswith("LLMPROF_")}
