# SPDX-License-Identifier: Apache-2.0
"""Finds the systems of a process: in the registers, stacks and variables of its threads."""
import struct

import gdb

from troupe_gdb.memory import Layout, Problem, Record, evaluate, number_of, read, read_number
from troupe_gdb.system import System, system_at

FRAMES_MAX = 64        # of a thread, whose variables are looked at
STACK_MAX = 64 * 1024  # bytes of a stack that are looked at


def system_of_word(word, system, worker):
    """The system, when this word of memory points to one or to a worker of one."""
    if word % system.align == 0:
        found = system_at(word)
        if found:
            return found
    if word % worker.align == 0:
        try:
            return system_at(read_number(word + worker.field("system").start))
        except Problem:
            pass
    return None


def words_of_thread():
    """What the registers and the stack of the selected thread hold."""
    frame = gdb.newest_frame()
    for register in frame.architecture().registers("general"):
        try:
            yield int(frame.read_register(register)) & (1 << 64) - 1
        except (gdb.error, ValueError, TypeError):
            continue
    at = int(frame.read_register("sp")) & ~7
    end = at + STACK_MAX
    while at < end:
        try:
            page = read(at, 4096 - at % 4096)
        except Problem:
            return
        yield from (word[0] for word in struct.iter_unpack("=Q", page))
        at += len(page)


def words_of_symbols():
    """What the variables of the selected thread's frames hold that may know a system."""
    frame, left, tables = gdb.newest_frame(), FRAMES_MAX, set()
    while frame and left:
        left -= 1
        try:
            block = frame.block()
        except RuntimeError:
            block = None
        while block and not block.is_static and not block.is_global:
            yield from words_of_block(block, frame)
            block = block.superblock
        table = frame.find_sal().symtab
        if table and table.is_valid() and table.filename not in tables:
            tables.add(table.filename)
            yield from words_of_block(table.static_block(), frame)
            yield from words_of_block(table.global_block(), frame)
        try:
            frame = frame.older()
        except gdb.error:
            return


def words_of_block(block, frame):
    for symbol in block:
        if not (symbol.is_variable or symbol.is_argument) or symbol.type is None:
            continue
        try:
            kind = symbol.type.strip_typedefs()
            if kind.code != gdb.TYPE_CODE_PTR:
                continue
            tag = kind.target().unqualified().strip_typedefs().tag
            value = int(symbol.value(frame)) if tag else 0
            if tag in ("tr_system", "worker", "loop"):
                yield value
            elif tag == "tr_self":
                yield Record(Layout.named(tag), value).number("worker")
            elif tag in ("tr_client", "tr_kit"):
                yield Record(Layout.named(tag), value).number("system")
        except (gdb.error, Problem, TypeError, ValueError):
            continue


def find_systems():
    """All systems that the threads know, by their stacks and by their variables."""
    system = Layout.named("tr_system")
    worker = Layout.of(system.field("workers").kind.target().target())
    found, tried = {}, {0}

    def look(words):
        try:
            for word in words:
                if word not in tried and word % 8 == 0:
                    tried.add(word)
                    one = system_of_word(word, system, worker)
                    if one:
                        found[one.address] = one
        except (gdb.error, RuntimeError):
            pass

    look(System.known)
    selected = gdb.selected_thread()
    frame = gdb.selected_frame() if selected else None
    try:
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda one: one.num):
            if thread.is_valid() and not thread.is_running():
                thread.switch()
                look(words_of_thread())
                look(words_of_symbols())
    finally:
        if selected and selected.is_valid():
            selected.switch()
            if frame.is_valid():
                frame.select()
    System.known = list(found)
    return [found[address] for address in sorted(found)]


def the_system(expression):
    """The system that an expression points to, or the only one that there is."""
    if expression:
        value = evaluate(expression)
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_STRUCT and value.address is not None:
            value = value.address
            kind = value.type
        tag = kind.target().unqualified().strip_typedefs().tag \
            if kind.code == gdb.TYPE_CODE_PTR else None
        address = number_of(value)
        if tag == "tr_self":
            address = Record(Layout.named(tag), address).number("worker")
        if tag in ("worker", "loop", "tr_self", "tr_client", "tr_kit"):
            name = tag if tag in ("tr_client", "tr_kit") else "worker"
            address = Record(Layout.named(name), address).number("system")
        system = System(address)
        if system.address not in System.known:
            System.known.append(system.address)
        return system
    systems = find_systems()
    if not systems:
        raise Problem("no system was found in the threads; give one: a `tr_system *`")
    if len(systems) > 1:
        raise Problem("there are %d systems; say which: %s" % (
            len(systems), ", ".join("0x%x" % one.address for one in systems)))
    return systems[0]
