#!/usr/bin/env python3
"""Checks that every folder under src/ includes only what the house allows (ARCHITECTURE.md)."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"

# Who may include whom; everybody may include base, but for those that run in other people's programs.
ALLOWED = {
    "base": set(),
    "wire": set(),
    "collector": {"wire"},
    "trace": set(),
    "readers": {"trace", "wire"},
    "capture": set(),
    "config": set(),
    "llm": {"config"},
    "analysis": {"trace", "config", "llm"},
    "report": {"trace", "llm", "analysis"},
    "session": {"trace", "readers", "capture", "config", "llm", "analysis", "report"},
    "cli": {"capture", "session", "report"},
}

WITHOUT_BASE = {"wire", "collector"}

# A third-party library lives in one module.
LIBRARIES = {
    "sqlite3.h": "readers",
    "simdjson.h": "readers",
    "libdeflate.h": "base",
    "zlib.h": "base",
    "nlohmann/": "config",
    "yaml-cpp/": "config",
    "re2/": "analysis",
    "CLI/": "cli",
}

# Who else may: profile.json and env.json are written with the library that reads configuration.
ALSO = {("nlohmann/", "report"), ("nlohmann/", "session")}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def everybodys(module):
    return set() if module in WITHOUT_BASE else {"base"}


def faults(path):
    module = path.relative_to(SOURCE).parts[0]
    is_test = "test" in path.stem.split("_")
    if module not in ALLOWED:
        yield f"{path.relative_to(ROOT)}: the folder src/{module} is not in the list of modules"
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, name = match.groups()
        place = f"{path.relative_to(ROOT)}:{number}"
        if quote == '"':
            target = name.split("/")[0]
            if target == "testing" and is_test:
                continue
            if "/" not in name:
                yield f'{place}: "{name}" must name its folder'
            elif target not in ALLOWED:
                yield f'{place}: "{name}" is of no module'
            elif target not in ALLOWED[module] | {module} | everybodys(module):
                yield f'{place}: {module} must not include "{name}"'
        else:
            for prefix, owner in LIBRARIES.items():
                if not name.startswith(prefix) or is_test:
                    continue
                if module != owner and (prefix, module) not in ALSO:
                    yield f"{place}: <{name}> belongs to {owner} alone"


def main():
    files = sorted(SOURCE.rglob("*.h")) + sorted(SOURCE.rglob("*.cpp"))
    found = [fault for path in files for fault in faults(path)]
    print("\n".join(found))
    print(f"{len(files)} files checked, {len(found)} faults")
    sys.exit(1 if found or not files else 0)


if __name__ == "__main__":
    main()
