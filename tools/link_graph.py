# SPDX-License-Identifier: Apache-2.0
"""Which .c files of src/actor use functions and objects of which others: for tools/link-components and check-layers.

A use counts for a .c file when its text has it, or a macro or an inline function of a header that it uses, or what
these use in turn. That is what its object leaves undefined, less what the compiler finds to be unreachable.
"""
from c_source import types_of_names, used_tags, used_words

MODULE = "src/actor"
UPCALLS = MODULE + "/cell/upcalls.h"
SHARE_MAX = 50  # percent: the largest component, without upcalls, may have no more of the lines
IDLE_MAX = 60   # so many .c files of src may see a header of the module of which they use nothing
# Headers that more files see for nothing: the records. docs/design/hot-path.md, "What a record holds", says why.
RECORDS = set("cell worker worker_parts".split())


def idle_headers(tree, module=MODULE):
    """
    {header: (how many .c files of src see it, directly or not; how many of these use nothing of it)}. A file uses a
    header when its own text, or a macro in it, names a function, a macro, a type, a constant or an object that the header
    declares, or when it reaches a member of one of its structs. A member counts by the type before it, since many structs have a `count`.
    """
    seen = {}
    for path in tree.files("src", (".c",)):
        source, closure = tree.read(path), tree.closure(path)
        headers = {name: header for name, header in closure.items() if name.startswith(module + "/")}
        if not headers:
            continue
        words, tags, chains = used_words(source.usable), used_tags(source.usable), source.chains()
        macros = {name: body for header in closure.values() for name, body in header.macros.items()}
        words |= set().union(*(used_words(macros[name]) for name in words & set(macros)))
        types = types_of_names([source, *closure.values()])
        for name, header in headers.items():
            is_used = (words & header.declares() or tags & (set(header.tags) | header.enums) or
                       any(member in header.tags.get(tag, ()) for of, member in chains for tag in types.get(of, ())))
            count, idle = seen.get(name, (0, 0))
            seen[name] = count + 1, idle + (not is_used)
    return seen


def is_record(header, module=MODULE):
    return header in {f"{module}/cell/{name}.h" for name in RECORDS}


class Graph:
    """The .c files of a module and what they use of each other: names[a][b] is a set."""

    def __init__(self, tree, module=MODULE):
        self.tree = tree
        self.files = list(tree.files(module, (".c",)))
        self.lines = {file: tree.read(file).text.count("\n") for file in self.files}
        self.all_lines = sum(self.lines.values())
        upcalls = tree.read(UPCALLS)
        self.upcalls = {item.name: item.line for item in upcalls.prototypes()} if upcalls else {}
        self.definer = {name: files[0] for name, files in tree.definers(module).items()}
        self.bodies = {}
        self.names = {file: self.used_of(file) for file in self.files}

    def bodies_of(self, path):
        """What a header's macros and inline functions stand for: {name: names that they use}."""
        if path not in self.bodies:
            source = self.tree.read(path)
            bodies = {name: used_words(body) for name, body in source.macros.items()}
            for item in source.functions():
                bodies.setdefault(item.name, set()).update(used_words(item.body))
            self.bodies[path] = bodies
        return self.bodies[path]

    def used_of(self, file):
        """{other file: names of it} that a file uses."""
        meanings = {}
        for path in self.tree.closure(file):
            for name, words in self.bodies_of(path).items():
                meanings.setdefault(name, set()).update(words)
        seen, left = set(), used_words(self.tree.read(file).usable)
        while left:
            seen |= left
            left = set().union(*(meanings.get(word, ()) for word in left)) - seen
        used = {}
        for name in seen & set(self.definer):
            if self.definer[name] != file:
                used.setdefault(self.definer[name], set()).add(name)
        return used

    def edges(self, without=()):
        """{file: set of files} without the uses of these names."""
        return {file: {other for other, names in used.items() if names - set(without)}
                for file, used in self.names.items()}

    def lines_of(self, files):
        return sum(self.lines[file] for file in files)

    def largest(self, edges):
        """The largest component by lines, a list of files; empty if no file needs another that needs it."""
        return max((files for files in components(edges) if len(files) > 1),
                   key=lambda files: (self.lines_of(files), files), default=[])

    def share(self, edges):
        """The share of the largest component in the lines, in percent."""
        return 100 * self.lines_of(self.largest(edges)) / max(self.all_lines, 1)

    def rank(self, file):
        """Where the room of a file stands in src/LAYERS."""
        place = self.tree.place(file)
        return self.tree.places.index(place) if place else -1

    def upward_uses(self):
        """{name: files of lower rooms that use it}, without upcalls."""
        uses = {}
        for file, used in self.names.items():
            for other, names in used.items():
                if self.rank(file) < self.rank(other):
                    for name in names - set(self.upcalls):
                        uses.setdefault(name, []).append(file)
        return uses

    def smallest_cut(self, uses):
        """Names of which each must go for the share to be within the limit: all, less those that may stay."""
        gone = set(uses)
        for name in sorted(uses, key=lambda name: (-len(uses[name]), name)):
            if self.share(self.edges(set(self.upcalls) | gone - {name})) <= SHARE_MAX:
                gone.discard(name)
        return gone


def components(edges):
    """The strongly connected components of a graph, each a sorted list, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(root):
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            node, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(sorted(edges[other]))))
                    break
                if other in stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    found.append(sorted(stack[at:]))
                    del stack[at:]

    for root in edges:
        if root not in index:
            visit(root)
    return found
