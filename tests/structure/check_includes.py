#!/usr/bin/env python3
"""Checks that every folder under src/ includes only what the house allows (ARCHITECTURE.md), and
that the rooms of a module, its sub-folders, do not include each other in a circle."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Who may include whom; everybody may include base, but for those that run in other people's programs.
ALLOWED = {
    "base": set(),
    "http": set(),
    "mcp": {"http"},
    "wire": set(),
    "collector": {"wire"},
    "trace": set(),
    "readers": {"trace", "wire"},
    "capture": {"http"},
    "config": set(),
    "load": {"http"},
    "llm": {"config"},
    "profile": set(),
    "fit": {"config", "llm", "profile"},
    "analysis": {"trace", "config", "llm", "profile"},
    "job": {"trace", "config", "profile", "analysis"},
    "exports": {"trace", "profile", "analysis", "job"},
    "query": {"trace", "profile", "analysis"},
    "compare": {"profile"},
    "report": {"profile", "compare"},
    "page": {"profile", "compare", "report"},
    "session": {"trace", "readers", "capture", "http", "load", "config", "llm", "profile", "analysis", "job", "exports",
                "query", "compare", "report", "page"},
    "agents": {"mcp", "config", "profile", "query", "compare", "report", "session"},
    "cli": {"agents", "mcp", "capture", "load", "config", "fit", "profile", "query", "compare", "session", "report"},
}

WITHOUT_BASE = {"wire", "collector"}

# A third-party library lives in one module.
LIBRARIES = {
    "sqlite3.h": "readers",
    "simdjson.h": "readers",
    "libdeflate.h": "base",
    "zlib.h": "base",
    "nlohmann/": "config",
    "yaml.h": "config",
    "re2/": "analysis",
    "boost/": "http",
    "openssl/": "http",
    "ares.h": "http",
}

# Who else may: profile.json is read, and env.json, status.json, what the page reads and exports are written, with the
# library that reads configuration, capture takes secrets out of the SQLite files that nsys exports, and query runs SQL.
ALSO = {("nlohmann/", "profile"), ("nlohmann/", "session"), ("nlohmann/", "page"), ("nlohmann/", "exports"),
        ("nlohmann/", "capture"), ("nlohmann/", "load"), ("nlohmann/", "mcp"), ("sqlite3.h", "capture"), ("sqlite3.h", "query")}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def everybodys(module):
    return set() if module in WITHOUT_BASE else {"base"}


def is_test(path):
    return "test" in path.stem.split("_")


def includes(path):
    """(line number, quote, name) of each include."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, *match.groups()


def faults(path, source):
    place = path.relative_to(source.parent)
    module = path.relative_to(source).parts[0]
    if module not in ALLOWED:
        yield f"{place}: the folder src/{module} is not in the list of modules"
        return
    for number, quote, name in includes(path):
        if quote == '"':
            target = name.split("/")[0]
            if target == "testing" and is_test(path):
                continue
            if "/" not in name:
                yield f'{place}:{number}: "{name}" must name its folder'
            elif target not in ALLOWED:
                yield f'{place}:{number}: "{name}" is of no module'
            elif target not in ALLOWED[module] | {module} | everybodys(module):
                yield f'{place}:{number}: {module} must not include "{name}"'
        else:
            for prefix, owner in LIBRARIES.items():
                if not name.startswith(prefix) or is_test(path):
                    continue
                if module != owner and (prefix, module) not in ALSO:
                    yield f"{place}:{number}: <{name}> belongs to {owner} alone"


def room_of(name):
    """"readers/ncu" of "readers/ncu/rows.h", "readers/" of "readers/detect.cpp"."""
    module, *rest = name.split("/")
    return f"{module}/{rest[0]}" if len(rest) > 1 else f"{module}/"


def room_includes(files, source):
    """Of each room: the rooms of its module that it includes, and where. Nothing includes tests, so
    that what these include closes no circle."""
    rooms = {}
    for path in files:
        if is_test(path):
            continue
        name = path.relative_to(source).as_posix()
        room = room_of(name)
        for number, quote, target in includes(path):
            same_module = quote == '"' and target.split("/")[0] == name.split("/")[0]
            if same_module and room_of(target) != room:
                where = f'src/{name}:{number}: includes "{target}"'
                rooms.setdefault(room, {}).setdefault(room_of(target), []).append(where)
    return rooms


def reachable(rooms, start):
    found, todo = set(), [start]
    while todo:
        for target in rooms.get(todo.pop(), {}):
            if target not in found:
                found.add(target)
                todo.append(target)
    return found


def cycles(rooms):
    """The largest sets of rooms that all reach each other."""
    reach = {room: reachable(rooms, room) for room in rooms}
    circles = {frozenset(other for other in reach[room] if room in reach.get(other, ()))
               for room in rooms if room in reach[room]}
    return sorted(sorted(circle) for circle in circles)


def cycle_faults(rooms):
    for circle in cycles(rooms):
        yield "these rooms include each other in a circle: " + ", ".join(circle)
        for room in circle:
            for target in sorted(set(rooms[room]) & set(circle)):
                yield from (f"  {where}" for where in rooms[room][target])


def check(source):
    files = sorted(source.rglob("*.h")) + sorted(source.rglob("*.cpp"))
    found = [fault for path in files for fault in faults(path, source)]
    found += cycle_faults(room_includes(files, source))
    return files, found


def main():
    files, found = check(ROOT / "src")
    print("\n".join(found))
    print(f"{len(files)} files checked, {len(found)} lines of faults")
    sys.exit(1 if found or not files else 0)


if __name__ == "__main__":
    main()
