# SPDX-License-Identifier: Apache-2.0
"""Printers of values: tr_ref and the refs of TR_ACTOR, struct envelope, struct cell."""
import gdb
import gdb.printing

from troupe_gdb.memory import Layout, Problem, Record, enum_name
from troupe_gdb.system import (actor_text, behavior_of, envelope_text, has_fields, is_envelope,
                               queued_of)


class Printer:
    def __init__(self, value, text):
        self.value = value
        self.text = text

    def to_string(self):
        try:
            return self.text(self.value)
        except (Problem, gdb.error, RuntimeError, ValueError, TypeError, LookupError) as error:
            return "<%s>" % error


def record_of(value):
    if value.address is None:
        raise Problem("it is not in memory")
    return Record(Layout.of(value.type), int(value.address))


def cell_text(value):
    cell = record_of(value)
    return "cell of %s, %s, %s, %s, %s queued" % (
        actor_text(cell.number("identity")), behavior_of(cell),
        enum_name("life", cell.number("life")).capitalize(),
        enum_name("sched_state", cell.number("sched_state")).capitalize(), queued_of(cell))


class Printers(gdb.printing.PrettyPrinter):
    def __init__(self):
        super().__init__("troupe")

    def __call__(self, value):
        kind = value.type.unqualified().strip_typedefs()
        tag = kind.tag or ""
        if tag.endswith("_ref") and has_fields(kind, "bits", "accepts"):
            return Printer(value, lambda one: actor_text(int(one["bits"])))
        if tag == "envelope" and is_envelope(kind):
            return Printer(value, lambda one: envelope_text(record_of(one)))
        if tag == "cell" and has_fields(kind, "door", "identity", "sched_state"):
            return Printer(value, cell_text)
        return None


def register():
    gdb.printing.register_pretty_printer(None, Printers(), replace=True)
