# SPDX-License-Identifier: Apache-2.0
"""Markdown as this project writes it, to HTML: headings, paragraphs, lists, tables, quotes, blocks of code, links, images,
`code`, **strong** and *emphasis*. What a page links to and where is left to the caller: see Renderer."""
import html
import re

KEYWORDS = ("auto break case char const continue default do double else enum extern float for goto if inline int long "
            "register return short signed sizeof static struct switch typedef union unsigned void volatile while bool true "
            "false NULL size_t int64_t uint64_t uint32_t int32_t uint8_t uint16_t namespace class template using "
            "auto nullptr").split()
TOKEN = re.compile(r'(/\*.*?\*/|//[^\n]*)|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|(^[ \t]*#[ \t]*\w+)|([A-Za-z_]\w*)',
                   re.S | re.M)
INLINE = re.compile(r"(`+)(.+?)\1|(!?)\[((?:[^\[\]]|\[[^\]]*\]|!\[[^\]]*\]\([^)]*\))*)\]\(([^)\s]+)\)|"
                    r"\*\*(.+?)\*\*|(?<![\w*])\*([^\s*][^*]*?)\*(?![\w*])|\\([\\`*_{}\[\]()#+.!|<>-])", re.S)
ITEM = re.compile(r"^(\s*)([-*]|\d+[.)])\s+(.*)$")


def slug(text):
    """The anchor of a heading, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").replace("*", "").lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


class Renderer:
    """Renders one page. link(target) gives the address of a link or an image, name(word) that of a public name or None.
    After render: title, headings [(level, id, text)], sections [(id, title, plain text)] and ids."""

    def __init__(self, link, name):
        self.link = link
        self.name = name
        self.title = ""
        self.headings = []
        self.sections = []
        self.ids = set()

    def render(self, text):
        return self.blocks(re.sub(r"<!--.*?-->", "", text, flags=re.S).splitlines())

    # ---- Within a paragraph. ----

    def inline(self, text):
        out, at = [], 0
        for match in INLINE.finditer(text):
            out.append(html.escape(text[at:match.start()], quote=False))
            at = match.end()
            ticks, code, is_image, label, target, strong, emphasis, escaped = match.groups()
            if ticks:
                out.append(self.code(code))
            elif target is not None:
                address = html.escape(self.link(target))
                if is_image:
                    out.append(f'<img src="{address}" alt="{html.escape(label)}">')
                else:
                    out.append(f'<a href="{address}">{self.inline(label)}</a>')
            elif strong is not None:
                out.append(f"<strong>{self.inline(strong)}</strong>")
            elif emphasis is not None:
                out.append(f"<em>{self.inline(emphasis)}</em>")
            else:
                out.append(html.escape(escaped, quote=False))
        out.append(html.escape(text[at:], quote=False))
        return "".join(out)

    def code(self, code):
        code = code.strip()
        first = re.match(r"(?:TR|tr)_\w+", code)
        address = self.name(first.group(0)) if first else None
        inside = html.escape(code, quote=False)
        return f'<code><a href="{html.escape(address)}">{inside}</a></code>' if address else f"<code>{inside}</code>"

    def colour(self, code):
        """C with colours, and public names that lead to the reference."""
        out, at = [], 0
        for match in TOKEN.finditer(code):
            out.append(html.escape(code[at:match.start()], quote=False))
            at = match.end()
            word = html.escape(match.group(0), quote=False)
            if match.group(1):
                out.append(f'<span class="c">{word}</span>')
            elif match.group(2):
                out.append(f'<span class="s">{word}</span>')
            elif match.group(3):
                out.append(f'<span class="k">{word}</span>')
            elif match.group(4) in KEYWORDS:
                out.append(f'<span class="k">{word}</span>')
            else:
                address = self.name(match.group(4)) if match.group(4)[:3] in ("tr_", "TR_") else None
                out.append(f'<a class="n" href="{html.escape(address)}">{word}</a>' if address else word)
        out.append(html.escape(code[at:], quote=False))
        return "".join(out)

    def pre(self, lines, language):
        code = "\n".join(lines)
        body = self.colour(code) if language in ("c", "cpp", "c++") else html.escape(code, quote=False)
        return f"<pre><code>{body}\n</code></pre>\n"

    # ---- Blocks. ----

    def heading(self, level, text):
        anchor, base, number = slug(text), slug(text), 0
        while anchor in self.ids:
            number += 1
            anchor = f"{base}-{number}"
        self.ids.add(anchor)
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").replace("*", "")
        if level == 1 and not self.title:
            self.title = plain
        self.headings.append((level, anchor, plain))
        self.sections.append([anchor, plain, []])
        return f'<h{level} id="{anchor}">{self.inline(text)}<a class="here" href="#{anchor}">#</a></h{level}>\n'

    def note(self, text):
        if self.sections:
            self.sections[-1][2].append(text)

    def blocks(self, lines):
        out, at = [], 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
                continue
            block, at = self.block(lines, at)
            out.append(block)
        return "".join(out)

    def block(self, lines, at):
        line = lines[at]
        fence = re.match(r"^(\s*)(```+|~~~+)\s*(\S*)", line)
        if fence:
            return self.fenced(lines, at, fence)
        heading = re.match(r"^(#{1,6})\s+(.*?)\s*#*$", line)
        if heading:
            return self.heading(len(heading.group(1)), heading.group(2)), at + 1
        if line.startswith("    "):
            return self.indented(lines, at)
        if line.lstrip().startswith("|") and at + 1 < len(lines) and re.match(r"^\s*\|[\s:|-]+\|\s*$", lines[at + 1]):
            return self.table(lines, at)
        if ITEM.match(line):
            return self.items(lines, at)
        if line.startswith(">"):
            end = at
            while end < len(lines) and lines[end].startswith(">"):
                end += 1
            return f"<blockquote>{self.blocks([re.sub('^> ?', '', x) for x in lines[at:end]])}</blockquote>\n", end
        if re.match(r"^(-{3,}|\*{3,})\s*$", line):
            return "<hr>\n", at + 1
        return self.paragraph(lines, at)

    def fenced(self, lines, at, fence):
        end = at + 1
        while end < len(lines) and not lines[end].strip().startswith(fence.group(2)):
            end += 1
        indent = len(fence.group(1))
        body = [x[indent:] if x[:indent].isspace() or not indent else x for x in lines[at + 1:end]]
        self.note(" ".join(re.findall(r"(?:tr|TR)_\w+", " ".join(body))))
        return self.pre(body, fence.group(3)), end + 1

    def indented(self, lines, at):
        end = at
        while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
            end += 1
        while not lines[end - 1].strip():
            end -= 1
        body = [x[4:] for x in lines[at:end]]
        self.note(" ".join(body))
        return self.pre(body, ""), end

    def paragraph(self, lines, at):
        end = at + 1
        while end < len(lines) and lines[end].strip() and not re.match(r"^(#{1,6}\s|\s*```|>|\s*\|.*\|\s*$)", lines[end]) \
                and not (ITEM.match(lines[end]) and not lines[end].startswith(" ")):
            end += 1
        text = "\n".join(x.strip() for x in lines[at:end])
        self.note(text)
        return f"<p>{self.inline(text)}</p>\n", end

    def table(self, lines, at):
        def cells(line):
            line = line.strip().strip("|") if line.strip().endswith("|") else line.strip().lstrip("|")
            parts, inside, part = [], False, ""
            for i, mark in enumerate(line):
                if mark == "`":
                    inside = not inside
                if mark == "|" and not inside and line[i - 1:i] != "\\":
                    parts.append(part)
                    part = ""
                else:
                    part += mark
            return [p.strip().replace("\\|", "|") for p in parts + [part]]

        head = cells(lines[at])
        rows, end = [], at + 2
        while end < len(lines) and lines[end].lstrip().startswith("|"):
            rows.append(cells(lines[end]))
            end += 1
        out = ["<table>\n"]
        if any(head):
            out.append("<thead><tr>" + "".join(f"<th>{self.inline(c)}</th>" for c in head) + "</tr></thead>\n")
        for row in rows:
            self.note(" ".join(row))
            out.append("<tr>" + "".join(f"<td>{self.inline(c)}</td>" for c in row) + "</tr>\n")
        out.append("</table>\n")
        return "".join(out), end

    def items(self, lines, at):
        first = ITEM.match(lines[at])
        indent, is_ordered = len(first.group(1)), first.group(2)[0].isdigit()
        out, end = [], at
        while end < len(lines):
            item = ITEM.match(lines[end])
            if not item or len(item.group(1)) != indent or item.group(2)[0].isdigit() != is_ordered:
                break
            inner = [item.group(3)]
            depth = len(lines[end]) - len(item.group(3))
            end += 1
            while end < len(lines):
                line = lines[end]
                follows = ITEM.match(line)
                if follows and len(follows.group(1)) <= indent:
                    break
                if not line.strip():
                    after = next((x for x in lines[end:] if x.strip()), "")
                    if not after.startswith(" " * (indent + 2)):
                        break
                elif not line.startswith(" " * (indent + 1)) and not lines[end - 1].strip():
                    break
                elif re.match(r"^(#{1,6}\s|```)", line):
                    break
                inner.append(line[depth:] if line[:depth].isspace() else line.strip())
                end += 1
            box = re.match(r"\[([ xX])\] ", inner[0])
            if box:
                inner[0] = inner[0][4:]
            body = self.blocks(inner)
            if body.count("<p>") == 1 and body.startswith("<p>"):
                body = body.replace("<p>", "", 1).replace("</p>", "", 1)
            mark = '<input type="checkbox" disabled> ' if box else ""
            out.append(f"<li>{mark}{body.rstrip()}</li>\n")
        tag = "ol" if is_ordered else "ul"
        return f"<{tag}>\n{''.join(out)}</{tag}>\n", max(end, at + 1)
