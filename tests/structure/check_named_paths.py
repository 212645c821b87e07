#!/usr/bin/env python3
"""Every file, folder and type that ARCHITECTURE.md names in backquotes exists, and every source file that the pages
in docs/ name. Links between pages lead to a file and a heading.

  check_named_paths.py [PAGE]          default: ARCHITECTURE.md
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Files of the worked examples, and files that a run or an analysis writes.
NOT_IN_THE_TREE = {
    "analysis/stage_streams/stage_streams.{h,cpp}", "profile/stage_streams.h", "readers/rocprof/rocprof.cpp",
    "report/sections/stage_streams_section.cpp", "tests/data/rocprof", "FOLDER/engines/acme.yaml",
    "build/bin/llmprof", "captures.json", "inputs.yaml", "metrics.json", "ranks.json", "report.html",
}
PATH = re.compile(r"[\w.{},*/+-]+/[\w.{},*+-]*|[\w*]+\.(?:cpp|h|py|ts|yaml|md|json|cmake|txt)")
SOURCE = re.compile(r"\bsrc/(?!llm_perf_opt/)[\w./-]*\w")  # llm_perf_opt: the seed's own
NAME = re.compile(r"(?:\w+::)*(?:k[A-Z]\w+|[A-Z][a-z]\w*[A-Z]\w*|\w+_\w+)")


def tracked():
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split("\n")


def exists(name, files):
    """A file or folder of the tree, from any folder down; the ending may be left out."""
    wanted = "/" + name.strip("/")
    return any(("/" + file + "/").find(wanted + "/") >= 0 or ("/" + file).find(wanted + ".") >= 0 for file in files)


def check(page):
    files = tracked()
    sources = "\n".join((ROOT / file).read_text(encoding="utf-8", errors="replace") for file in files
                        if file.endswith((".h", ".cpp", ".py", ".ts", ".txt")) and (ROOT / file).is_file())
    faults = []
    count = 0
    for name in sorted(set(re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8")))):
        if name in NOT_IN_THE_TREE:
            continue
        if PATH.fullmatch(name):
            count += 1
            if not exists(name, files):
                faults.append(f"{page.name}: {name}: no such file or folder")
        elif NAME.fullmatch(name):
            count += 1
            if name.split("::")[-1] not in sources:
                faults.append(f"{page.name}: {name}: nothing in the sources has this name")
    for other in sorted((ROOT / "docs").rglob("*.md")):
        for name in sorted(set(SOURCE.findall(other.read_text(encoding="utf-8")))):
            count += 1
            if not exists(name, files):
                faults.append(f"{other.relative_to(ROOT)}: {name}: no such file or folder")
    return faults, count


def without_code_blocks(path):
    return re.sub(r"(?ms)^```.*?^```", "", path.read_text(encoding="utf-8"))


def anchors(path):
    """Of its headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.*)$", without_code_blocks(path))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def check_links():
    faults = []
    count = 0
    pages = [ROOT / file for file in tracked() if file.endswith(".md") and not file.startswith("tests/cases/")]
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", without_code_blocks(page)):
            if link.startswith(("http:", "https:")):
                continue
            count += 1
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
                faults.append(f"{page.relative_to(ROOT)}: {link}: no such page or heading")
    return faults, count


def main():
    page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "ARCHITECTURE.md"
    faults, count = check(page)
    of_links, links = check_links()
    faults += of_links
    for fault in faults:
        print(fault)
    print(f"{count} names and {links} links checked, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
