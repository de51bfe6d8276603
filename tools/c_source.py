# SPDX-License-Identifier: Apache-2.0
"""Reads C files as text: what a file declares and defines at file scope, and which names it uses.

For tools/check-layers and tools/link-components, which run without a compiler. It knows C as docs/STYLE.md
wants it written (macros in capitals, functions in small letters) and reads both sides of every #if, except
those that only C++ sees.
"""
import os
import re

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
COMMENT = r"/\*.*?\*/|//[^\n]*"
LITERAL = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
MACRO = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?(.*)", re.S)
CXX_ONLY = re.compile(r"^[ \t]*#[ \t]*if(?:def[ \t]+__cplusplus|[ \t]+defined\(__cplusplus\))[^\n]*\n.*?"
                      r"(?=^[ \t]*#[ \t]*(?:else|elif|endif)\b)", re.M | re.S)
WORD = re.compile(r"[A-Za-z_]\w*")
BODY = re.compile(r"\b(struct|union|enum)\b(?:\s*__attribute__\s*\(\(.*?\)\))?\s*(\w*)\s*\{", re.S)
# What stands before "(" without being the name of a function.
NO_NAME = set("__attribute__ __asm__ typeof __typeof__ _Alignas _Atomic _Static_assert static_assert sizeof "
              "_Pragma defined".split())
NO_TYPE = set("const volatile static extern inline register struct union enum unsigned signed typedef _Atomic "
              "__extension__ restrict TR_MUST_CHECK".split())


def blank(match):
    """A match as spaces, its line ends kept, so that lines keep their numbers."""
    return re.sub(r"[^\n]", " ", match.group(0))


def uncommented(text):
    """The text without comments. A literal may have what looks like one."""
    return re.sub(COMMENT + "|" + LITERAL, lambda match: match.group(0) if match.group(0)[0] in "\"'"
                  else blank(match), text, flags=re.S)


def code_of(text):
    """The text without comments, strings and characters."""
    return re.sub(COMMENT + "|" + LITERAL, blank, text, flags=re.S)


def closing(text, start):
    """Where the bracket at `start` is closed; the end of the text if it is not."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "({[":
            depth += 1
        elif text[at] in ")}]":
            depth -= 1
            if depth == 0:
                return at
    return len(text)


def opening(text, end):
    """Where the bracket that is closed at `end` was opened; -1 if it was not."""
    depth = 0
    for at in range(end, -1, -1):
        if text[at] in ")}]":
            depth += 1
        elif text[at] in "({[":
            depth -= 1
            if depth == 0:
                return at
    return -1


def without_brackets(text, brackets="({["):
    """The text without what is in brackets of these kinds, nor the brackets."""
    parts, at = [], 0
    while at < len(text):
        if text[at] in brackets:
            at = closing(text, at)
            parts.append(" ")
        else:
            parts.append(text[at])
        at += 1
    return "".join(parts)


class Item:
    """Something at file scope: `kind` is function (with its body), prototype, object, extern or type."""

    def __init__(self, kind, name, line, text, body="", is_static=False, type_name=""):
        self.kind = kind
        self.name = name
        self.line = line
        self.text = text
        self.body = body
        self.is_static = is_static
        self.type_name = type_name
        self.lines = text.strip().count("\n") + 1


def type_of(text):
    """The name of the type that a declaration begins with: of "const struct cell *" it is cell."""
    for word in WORD.findall(text):
        if word not in NO_TYPE and not word.isupper():
            return word
    return ""


def declarators(text):
    """The names that a declaration declares: ("x", where) of "int x[3], *y = 2, (*f)(int)"."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "({[":
            depth += 1
        elif char in ")}]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    for part in parts:
        part = part.split("=")[0]
        pointer = re.search(r"\(\s*\*+\s*(?:const\s+)?(\w+)", part)
        if pointer:
            yield pointer.group(1)
            continue
        words = WORD.findall(without_brackets(re.sub(r":\s*\w+\s*$", "", part)))
        if words and not words[-1].isupper() and words[-1] not in NO_TYPE:
            yield words[-1]


def function_name(head):
    """(name, where its parameters begin) of a declaration that is one of a function, else None."""
    for match in re.finditer(r"\b([A-Za-z_]\w*)\s*\(", head):
        name = match.group(1)
        depth = head.count("(", 0, match.start()) - head.count(")", 0, match.start())
        if depth or name in NO_NAME or name.isupper():
            continue
        if re.match(r"\s*[*^]", head[match.end():]):
            return None  # "void (*f)(int)"
        return name, match.end() - 1
    return None


class Source:
    """One file. `path` is for messages and comparisons only."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        bare = uncommented(text)
        self.includes = [(text.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2))
                         for match in INCLUDE.finditer(bare)]
        code = CXX_ONLY.sub(blank, code_of(text))
        guard = re.search(r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[ \t]*\n[ \t]*#[ \t]*define[ \t]+\1[ \t]*$", code, re.M)
        self.guard = guard.group(1) if guard and path.endswith(".h") else ""
        self.macros = {}  # name: body
        for match in DIRECTIVE.finditer(code):
            macro = MACRO.match(match.group(0))
            if macro and macro.group(1) != self.guard:
                self.macros[macro.group(1)] = self.macros.get(macro.group(1), "") + " " + macro.group(3)
        self.plain = DIRECTIVE.sub(blank, code)
        # What may use a name: all but #include lines, and but the names that #define gives.
        self.usable = re.sub(r"^([ \t]*#[ \t]*define[ \t]+)\w+", blank, INCLUDE.sub(blank, code), flags=re.M)
        self.items = []
        self.stems = []   # what macros at file scope make names from
        self.tags = {}    # tag of a struct or union that is defined here: {member: name of its type}
        self.enums = set()
        self.constants = set()
        self.typedefs = set()
        self.scan()
        self.words = set(WORD.findall(self.usable))

    def line_of(self, at):
        return self.plain.count("\n", 0, at) + 1

    def scan(self):
        text, at, start = self.plain, 0, 0
        while at < len(text):
            char = text[at]
            if char == "(" or char == "[":
                at = closing(text, at)
            elif char == "{":
                head = text[start:at]
                if self.is_definition(head):
                    end = closing(text, at)
                    self.add_function(start, at, end)
                    at, start = end, end + 1
                else:
                    at = closing(text, at)
            elif char == ";":
                self.add_declaration(start, at)
                start = at + 1
            elif char == "}":
                start = at + 1
            at += 1
        for match in re.finditer(r"^([A-Z][A-Z0-9_]*)\(\s*(\w+)", text, re.M):
            if match.group(1) not in ("TR_PRINTF", "TR_ASSERT"):
                self.stems.append(match.group(2))
                if match.group(1) == "TR_BEHAVIOR":
                    self.items.append(Item("object", "tr_behavior_" + match.group(2), self.line_of(match.start()), ""))
        self.add_tags(text)

    @staticmethod
    def is_definition(head):
        return "=" not in without_brackets(head) and function_name(head) is not None

    def place(self, start, end):
        """Where the text of an item begins: after blank lines and macros that stand alone in theirs."""
        skipped = re.match(r"(?:\s|[A-Z][A-Z0-9_]*\([^()]*\)[ \t]*\n)*", self.plain[start:end])
        return start + skipped.end()

    def add_function(self, start, brace, end):
        start = self.place(start, brace)
        head = self.plain[start:brace]
        name, _ = function_name(head)
        is_static = bool(re.search(r"\bstatic\b|\b[A-Z]+_INLINE\b", head))
        self.items.append(Item("function", name, self.line_of(start), self.plain[start:end + 1],
                               self.plain[brace:end + 1], is_static, type_of(head)))

    def add_declaration(self, start, end):
        start = self.place(start, end)
        text = self.plain[start:end]
        if not text.strip():
            return
        line, first = self.line_of(start), WORD.search(text)
        bare = without_brackets(text, "{")
        if not first or first.group(0) in ("static_assert", "_Static_assert"):
            return
        if first.group(0) == "typedef":
            named = function_name(bare)
            self.typedefs.update([named[0]] if named else declarators(bare))
            return
        if re.match(r"(?:struct|union|enum)\s+\w+\s*$", bare.strip()) or re.match(r"enum\s*$", bare.strip()):
            return  # a type, or only the name of one
        named = function_name(bare) if "=" not in without_brackets(bare) else None
        is_static = bool(re.search(r"\bstatic\b", bare))
        if named and first.group(0) == named[0]:
            return  # a call, which only a test has here
        if named:
            self.items.append(Item("prototype", named[0], line, text, "", is_static, type_of(bare)))
            return
        kind = "extern" if re.search(r"\bextern\b", bare) else "object"
        if first.group(0).isupper() and "(" in text and re.match(r"\w+\s*\(", text[first.start():]):
            return  # a macro that declares something: see stems
        for name in declarators(re.sub(r"__attribute__\s*\(\(.*?\)\)", "", bare)):
            self.items.append(Item(kind, name, line, text, "", is_static, type_of(bare)))

    def add_tags(self, text):
        for match in BODY.finditer(text):
            brace = match.end() - 1
            body = text[brace + 1:closing(text, brace)]
            if match.group(1) == "enum":
                self.enums.add(match.group(2))
                for part in without_brackets(body).split(","):
                    word = WORD.search(part)
                    if word:
                        self.constants.add(word.group(0))
            elif match.group(2):
                self.tags[match.group(2)] = self.members_of(body)
        self.enums.discard("")

    def members_of(self, body):
        """{name: type}, with those of structs without a name that are in it."""
        members, start, at = {}, 0, 0
        while at < len(body):
            if body[at] in "([":
                at = closing(body, at)
            elif body[at] == "{":
                end = closing(body, at)
                members.update(self.members_of(body[at + 1:end]))
                at = end
            elif body[at] == ";":
                part = without_brackets(body[start:at], "{")
                for name in declarators(part):
                    members[name] = type_of(part)
                start = at + 1
            at += 1
        return members

    # ---- what others may use of it, and what it uses ----

    def declares(self):
        """The names of functions, objects, macros, types and constants that it declares or defines."""
        names = set(self.macros) | self.constants | self.typedefs
        return names | {item.name for item in self.items if item.kind != "type"}

    def prototypes(self):
        return [item for item in self.items if item.kind in ("prototype", "extern") and not item.is_static]

    def functions(self):
        return [item for item in self.items if item.kind == "function"]

    def definitions(self):
        """Functions and objects that other files can link to."""
        return [item for item in self.items if item.kind in ("function", "object") and not item.is_static]

    def inner_prototypes(self):
        """(line, name) of what a function declares in its body as `extern`, and names tr__."""
        for item in self.functions():
            for match in re.finditer(r"\bextern\b[^;{}]*?\b(tr__\w+)", item.text):
                yield item.line + item.text.count("\n", 0, match.start(1)), match.group(1)

    def chains(self):
        """(name, member) of each "name->member", "name.member", "name(...)->member", "name[...].member"."""
        found = set()
        for match in re.finditer(r"(?:->|(?<![\d.])\.(?![\d.]))\s*([A-Za-z_]\w*)", self.usable):
            at = match.start() - 1
            while at >= 0 and self.usable[at] in " \n\t)]":
                at = opening(self.usable, at) - 1 if self.usable[at] in ")]" else at - 1
            word = re.search(r"([A-Za-z_]\w*)$", self.usable[max(0, at - 80):at + 1])
            if word:
                found.add((word.group(1), match.group(1)))
            else:  # "(*name)->member": what is last in the brackets
                inner = WORD.findall(self.usable[max(0, at + 1):match.start()])
                if inner:
                    found.add((inner[-1], match.group(1)))
        return found


def used_words(text):
    """The words of a text that can name a function or an object: no members, no tags."""
    text = re.sub(r"(?:->|(?<![\d.])\.(?![\d.]))\s*[A-Za-z_]\w*", " ", text)
    return set(WORD.findall(re.sub(r"\b(?:struct|union|enum)\s+\w+", " ", text)))


def used_tags(text):
    return set(re.findall(r"\b(?:struct|union|enum)\s+(\w+)", text))


class Tree:
    """The files of src and include."""

    def __init__(self, root):
        self.root = root
        self.sources = {}
        self.places = places_of(root)

    def read(self, path):
        """The Source of a path; None if there is no such file."""
        if path not in self.sources:
            try:
                with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as stream:
                    self.sources[path] = Source(path, stream.read())
            except FileNotFoundError:
                self.sources[path] = None
        return self.sources[path]

    def files(self, directory, suffixes=(".c", ".h")):
        for path, names, files in os.walk(os.path.join(self.root, directory)):
            names.sort()
            for name in sorted(files):
                if name.endswith(suffixes):
                    yield os.path.relpath(os.path.join(path, name), self.root)

    @staticmethod
    def header_of(kind, name):
        """The path of an included file."""
        return "src/" + name if kind == '"' else "include/" + name

    def closure(self, path):
        """The headers of the tree that a file includes, directly or not, as Sources."""
        seen, left = {}, [path]
        while left:
            source = self.read(left.pop())
            for _, kind, name in source.includes if source else ():
                header = self.header_of(kind, name)
                if header not in seen:
                    seen[header] = self.read(header)
                    left.append(header)
        return {name: source for name, source in seen.items() if source}

    def place(self, path):
        """The entry of src/LAYERS that a path below src belongs to: its room, or else its module, or None."""
        parts = path.split("/")
        if parts[0] == "src":
            parts = parts[1:]
        room = "/".join(parts[:2])
        if len(parts) == 3 and room in self.places:
            return room
        return parts[0] if len(parts) in (2, 3) and parts[0] in self.places else None


    def line_of_place(self, name):
        """The line of src/LAYERS that has a module, or its first room."""
        with open(os.path.join(self.root, "src/LAYERS"), encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.split("#")[0].strip().split("/")[0] == name:
                    return number
        return 1

    def definers(self, directory):
        """Of each name that .c files below a directory define for others: their paths."""
        found = {}
        for path in self.files(directory, (".c",)):
            for item in self.read(path).definitions():
                found.setdefault(item.name, []).append(path)
        return found

    def uses(self, source, header):
        """
        Whether a file uses something that a header declares or defines itself: a macro, a type, a constant,
        a function, an object, or a member that it reaches through a name which is declared elsewhere.
        A tag is used as `struct tag`, or by a typedef of the same name; `struct tag;` in the header declares nothing.
        What a macro of another header stands for counts too, if that header does not include this one.
        """
        words = used_words(source.usable)
        if words & header.declares() or used_tags(source.usable) & (set(header.tags) | header.enums):
            return True
        pasted = {prefix for body in header.macros.values() for prefix in re.findall(r"\b([A-Z]\w+_)##", body)}
        if any(word.startswith(prefix) for prefix in pasted for word in words):
            return True
        seen = self.closure(source.path)
        for path, other in seen.items():
            if other is header or header.path in self.closure(path):
                continue
            for name in words & set(other.macros):
                if used_words(other.macros[name]) & header.declares():
                    return True
        if any(words & set(header.tags) & other.typedefs for other in seen.values()):
            return True
        for stem in header.stems:
            if any(re.fullmatch(rf"(?:\w+_)?{stem}(?:_\w+)?", word) for word in source.words):
                return True
        if not header.tags:
            return False
        types = types_of_names([source, *seen.values()])
        return any(member in header.tags.get(tag, ()) for name, member in source.chains()
                   for tag in types.get(name, ()))


def types_of_names(sources):
    """Of each member, object and function of some files: the types that it may have, or give."""
    types = {}
    for source in sources:
        for members in source.tags.values():
            for name, tag in members.items():
                types.setdefault(name, set()).add(tag)
        for item in source.items:
            types.setdefault(item.name, set()).add(item.type_name)
    return types


def places_of(root):
    """The modules and rooms of src/LAYERS, lowest first."""
    places = []
    with open(os.path.join(root, "src/LAYERS"), encoding="utf-8") as lines:
        for line in lines:
            word = line.split("#")[0].strip()
            if word and word not in places:
                places.append(word)
    return places
