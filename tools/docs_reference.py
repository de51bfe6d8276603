# SPDX-License-Identifier: Apache-2.0
"""The reference, from the comments of include/troupe/*.h: pages, and the address of each public name."""
import re

COMMENT = re.compile(r"/\*.*?\*/", re.S)
NAME = r"(?:tr|TR)_\w+"
# How a piece of a header defines a name. The order does not matter; a name that is defined twice keeps its first place.
DEFINES = (re.compile(rf"^#[ \t]*define[ \t]+({NAME})\b", re.M),
           re.compile(rf"^(?!#|typedef\b|[ \t}}])[\w *]*?[ *]({NAME})\(", re.M),
           re.compile(rf"^\}} ({NAME});", re.M),
           re.compile(rf"^typedef [^{{;]*?\b({NAME});", re.M),
           re.compile(rf"^typedef [^;{{]*?\(\*({NAME})\)", re.M),
           re.compile(rf"^typedef [\w *]*?[ *]({NAME})\(", re.M),
           re.compile(rf"^(?:typedef )?(?:struct|enum|union) ({NAME}) \{{", re.M),
           re.compile(rf"^TR_(?:MESSAGE|REQUEST|ACTOR|DURABLE_DECLARE|BEHAVIOR_DECLARE)\(({NAME})\b", re.M),
           re.compile(rf"^    ({NAME})(?: = [^,\n]*)?,?(?:[ \t]*/\*.*)?$", re.M))
# The constants of an enum may stand on one line.
ENUM = re.compile(r"^(?:typedef )?enum(?: \w+)?\s*\{([^{}]*)\}", re.M)
CONSTANT = re.compile(rf"(?:^|,)\s*({NAME})")

# Lines of a header that are not for readers of the reference.
HIDDEN = re.compile(r"\s*(?:TR_BEGIN_C|TR_END_C|#include\b|#ifn?def\b|#endif\b|#if\b|#else\b|#define TROUPE_\w+_H\b)")


def text_of(comment):
    """The text of a comment, without its frame."""
    body = re.sub(r"^/\*+[ \t]?|[ \t]*\*/$", "", comment)
    return "\n".join(re.sub(r"^[ \t]*\*[ ]?", "", line) if number else line for number, line in enumerate(body.splitlines())).strip()


def pieces_of(text):
    """[(comment or None, code)]: what stands between empty lines of a header, with its comment."""
    text = text[text.index("*/", text.index("/**")) + 2:]  # behind the opening comment
    comments = [match.span() for match in COMMENT.finditer(text)]
    pieces, start, at = [], 0, 0
    while at < len(text):
        end = re.compile(r"\n[ \t]*\n").search(text, at)
        stop = end.start() if end else len(text)
        inside = next(((a, b) for a, b in comments if a < stop < b), None)
        depth = COMMENT.sub("", text[start:stop]).count("{") - COMMENT.sub("", text[start:stop]).count("}")
        if inside:
            at = inside[1]
            continue
        if depth > 0 and end:
            at = end.end()
            continue
        pieces.append(text[start:stop].strip("\n"))
        at = start = end.end() if end else len(text)
    for piece in filter(None, pieces):
        yield from parts_of(piece)


def parts_of(piece):
    """A piece in parts: each comment at the beginning of a line begins one."""
    starts = [match.start() for match in COMMENT.finditer(piece)
              if match.start() == 0 or piece[match.start() - 1] == "\n"]
    for number, start in enumerate(starts):
        part = piece[start:starts[number + 1] if number + 1 < len(starts) else len(piece)]
        comment = COMMENT.match(part)
        yield text_of(comment.group(0)), clean(part[comment.end():])
    if not starts or starts[0] > 0:
        head = clean(piece[:starts[0] if starts else len(piece)])
        if head:
            yield None, head


def clean(code):
    """Code without what is not for readers of the reference."""
    lines = [line for line in code.splitlines() if not HIDDEN.match(line)]
    return "\n".join(lines).strip("\n")


def is_inside(name):
    return name.endswith("_") or name.startswith("tr__")


def names_of(code):
    bare = COMMENT.sub("", code)
    names = [match.group(1) for pattern in DEFINES for match in pattern.finditer(bare)]
    names += [name for body in ENUM.findall(bare) for name in CONSTANT.findall(body)]
    return list(dict.fromkeys(name for name in names if not is_inside(name)))


class Header:
    """A public header: its opening comment, and its entries (names, comment, code)."""

    def __init__(self, path, text):
        self.path = path
        self.base = path.rsplit("/", 1)[-1]
        self.opening = text_of(COMMENT.search(text, text.index("/**")).group(0))
        self.entries = []
        for comment, code in pieces_of(text):
            if comment and re.match(r"^-+ .* -+$", comment.splitlines()[0]):
                self.entries.append(([], f"## {comment.strip('- ')}", ""))
                comment = None
            if not code and not comment:
                continue
            self.entries.append((names_of(code), comment or "", code))

    def markdown(self):
        """The page as Markdown; entries have a line "@names a b" before them, which Page turns into anchors."""
        lines = [f"# troupe/{self.base}", "", self.opening, ""]
        for names, comment, code in self.entries:
            if comment.startswith("## "):
                lines += [comment, ""]
                continue
            visible = [name for name in names if not is_inside(name)]
            if visible:
                lines += ["@names " + " ".join(visible), ""]
            if code.strip():
                lines += ["```c", code, "```", ""]
            lines += [comment, ""]
        return "\n".join(lines)
