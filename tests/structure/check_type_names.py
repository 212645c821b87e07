#!/usr/bin/env python3
"""No type name is defined twice in one namespace.

Two different types of one name in one namespace break the one-definition rule wherever both are
linked: one of them wins, without a word of the linker, and the other's code reads its layout.
Classes, structs, unions, enums and aliases at namespace scope count; those of an anonymous namespace
belong to their file.

  check_type_names.py [FOLDER...]      all *.h and *.cpp under them; default: src and workloads
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

COMMENT_OR_LITERAL = re.compile(
    r'//(?:\\\n|[^\n])*'
    r'|/\*.*?\*/'
    r'|\b(?:u8|[uUL])?R"(?P<mark>[^\s()\\"]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    # A digit before it: a separator of digits, not a character.
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|\S")
CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b")

LINKAGE = "extern"
Definition = collections.namedtuple("Definition", "namespace name file line")


def blank(match):
    """Nothing but its line breaks, so that lines keep their numbers."""
    return " " + "\n" * match.group().count("\n")


def without_directives(text):
    """Of alternatives (#if ... #else) the first alone is code."""
    lines = []
    left_out = []  # for each open #if: whether its present branch is left out
    continued = False
    for line in text.split("\n"):
        directive = continued or line.lstrip().startswith("#")
        if directive and not continued:
            found = CONDITION.match(line)
            if found and found[1] in ("if", "ifdef", "ifndef"):
                left_out.append(False)
            elif found and found[1] in ("elif", "else") and left_out:
                left_out[-1] = True
            elif found and found[1] == "endif" and left_out:
                left_out.pop()
        continued = directive and line.endswith("\\")
        lines.append("" if directive or any(left_out) else line)
    return "\n".join(lines)


def tokens_of(text):
    """(token, line number) of what the compiler sees."""
    code = without_directives(COMMENT_OR_LITERAL.sub(blank, text))
    for number, line in enumerate(code.split("\n"), 1):
        for match in TOKEN.finditer(line):
            yield match.group(), number


class Scanner:
    """Walks the tokens of a file and keeps what each open brace belongs to."""

    OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}

    def __init__(self, file, text):
        self.file = file
        self.tokens = list(tokens_of(text))
        self.at = 0
        self.scopes = []  # a namespace's name, "" of an anonymous one, None of anything else
        self.found = []

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at][0] if at < len(self.tokens) else ""

    def skip_balanced(self):
        """From an opening bracket to behind the one that closes it."""
        opening, closing = self.peek(), self.OPENING[self.peek()]
        depth = 0
        while self.at < len(self.tokens):
            token = self.peek()
            if opening == "<" and token == "(":
                self.skip_balanced()
                continue
            depth += (token == opening) - (token == closing)
            self.at += 1
            if depth == 0:
                return

    def skip_attributes(self):
        while self.peek() == "[" and self.peek(1) == "[" or self.peek() in ("alignas", "__attribute__"):
            self.at += self.peek() != "["
            self.skip_balanced()

    def name(self):
        """A name that may be qualified; empty where none stands."""
        parts = []
        while re.match(r"[A-Za-z_]|::", self.peek()):
            if parts and parts[-1] != "::" and self.peek() != "::":
                break
            parts.append(self.peek())
            self.at += 1
        return "".join(parts)

    def define(self, name, line):
        anonymous = "" in self.scopes
        namespace = "::".join(scope or "(anonymous)" for scope in self.scopes if scope is not LINKAGE)
        if anonymous:
            namespace += f" in {self.file}"
        self.found.append(Definition(namespace, name, self.file, line))

    def namespace(self):
        self.at += 1
        self.skip_attributes()
        name = self.name()
        if self.peek() == "{":
            self.scopes.append(name)
            self.at += 1
        # Otherwise an alias, which ends in a semicolon as any declaration does.

    def type(self):
        line = self.tokens[self.at][1]
        self.at += 1
        if self.peek() in ("class", "struct"):  # enum class
            self.at += 1
        self.skip_attributes()
        name = self.name()
        if self.peek() == "<":
            return  # a specialization
        if self.peek() == "final":
            self.at += 1
        if self.peek() not in ("{", ":") or not name:
            return  # declared, or the type of something else
        while self.peek() not in ("{", ";", ""):
            self.at += 1
        if self.peek() == "{":
            self.define(name, line)

    def alias(self):
        line = self.tokens[self.at][1]
        self.at += 1
        name = self.name()
        self.skip_attributes()
        if self.peek() == "=" and name:
            self.define(name, line)

    def scan(self):
        while self.at < len(self.tokens):
            token = self.peek()
            at_namespace_scope = None not in self.scopes
            if token == "{":
                # extern "C" { ... } is no scope of its own; its literal is gone.
                linkage = self.at > 0 and self.tokens[self.at - 1][0] == "extern"
                self.scopes.append(LINKAGE if linkage else None)
                self.at += 1
            elif token == "}":
                if self.scopes:
                    self.scopes.pop()
                self.at += 1
            elif not at_namespace_scope:
                self.at += 1
            elif token == "namespace":
                self.namespace()
            elif token == "template":
                self.at += 1
                if self.peek() == "<":
                    self.skip_balanced()
            elif token == "(":
                self.skip_balanced()
            elif token in ("class", "struct", "union", "enum"):
                self.type()
            elif token == "using":
                self.alias()
            else:
                self.at += 1
        return self.found


def definitions(folders):
    for folder in folders:
        files = [folder] if folder.is_file() else sorted(folder.rglob("*"))
        for path in files:
            if path.suffix in (".h", ".cpp"):
                yield from Scanner(path, path.read_text(encoding="utf-8")).scan()


def repeated(found):
    """name -> its definitions, of all names that have several."""
    by_name = collections.defaultdict(list)
    for definition in found:
        by_name[f"{definition.namespace}::{definition.name}"].append(definition)
    return {name: places for name, places in sorted(by_name.items()) if len(places) > 1}


def main(arguments):
    folders = [pathlib.Path(argument) for argument in arguments] or [ROOT / "src", ROOT / "workloads"]
    found = list(definitions(folders))
    twice = repeated(found)
    for name, places in twice.items():
        print(f"{name} is defined {len(places)} times:")
        for place in places:
            print(f"  {place.file}:{place.line}")
    if not found:
        print(f"no type is defined in {', '.join(map(str, folders))}: is that the right place?")
        return 1
    if twice:
        print("Give each module its own namespace, or one of the types another name.")
        return 1
    print(f"{len(found)} types, each defined once in its namespace")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
