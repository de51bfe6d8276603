# SPDX-License-Identifier: Apache-2.0
"""Reads the memory of the program, live or a core file: structs, lists, names.

Nothing here calls a function of the program. Every walk has a bound, and what cannot be read is a
Problem. Structs are read by the names of their fields in the debug information.
"""
import sys

import gdb

STRING_MAX = 4096   # bytes of a string that are read
COUNT_MAX = 100000  # links of a list that are followed

# Enumerations: the prefix of the names, and the names for builds whose debug information has dropped them.
ENUMS = {
    "life": "LIFE_ NEW STARTING RUNNING SUSPENDED STOPPING STOPPED",
    "sched_state": "SCHED_ CREATED MOUNTING WAITING READY RUNNING",
    "envelope_kind": "ENVELOPE_",  # debug information always has this one, and the next
    "turn_kind": "TURN_",
    "system_phase": "SYSTEM_ NEW EMBEDDED STARTED ENDED",
    "channel_state": "CHANNEL_ FREE DIALING OPEN LINGERING ENDED",
    "channel_kind": "CHANNEL_ STREAM LISTENER DATAGRAM ATTEMPT EXIT SIGNALS",
    "channel_flag": "CHANNEL_ "
                    "READABLE WRITABLE HUNG_UP INPUT_OVER FINISHING FINISHED ACCEPTED "
                    "HANDED_OVER DIALED OPENS DRAINS IN_TURN DIRTY WAITS_OPEN CLOSES "
                    "WATCHED PAUSED END_HELD CLOSE_HELD SHAKES UNASKED ALONE FILE GONE "
                    "STARVED COUNTED PEER_V4 PEER_FAR ANSWERED IN_PART CLOSES_OPENED "
                    "TAKEN",
    "tr_status": "TR_ OK",
}

BITS = ("channel_flag",)  # those whose numbers are bits


class Problem(Exception):
    """The text that a user gets instead of a result."""


def read(address, size):
    if address <= 0 or address + size > 1 << 64:
        raise Problem("0x%x is no address" % (address % (1 << 64)))
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except (gdb.error, OverflowError, MemoryError) as error:
        raise Problem("cannot read %d bytes at 0x%x" % (size, address)) from error


def read_number(address, size=8):
    return int.from_bytes(read(address, size), sys.byteorder)


def read_string(address, size_max=STRING_MAX):
    """The bytes of a string without its NUL, and whether that is all of it."""
    data = b""
    while len(data) < size_max:
        # Never across a page: the next one may not be there.
        piece = read(address + len(data), min(4096 - (address + len(data)) % 4096, 256))
        end = piece.find(b"\0")
        if end >= 0:
            data += piece[:end]
            return data[:size_max], len(data) <= size_max
        data += piece
    return data[:size_max], False


def read_name(address):
    """A name of the program's: of a type, a field or a behavior."""
    data, is_whole = read_string(address, 256)
    if not data or not is_whole or any(byte < 0x20 or byte > 0x7e for byte in data):
        raise Problem("no name is at 0x%x" % address)
    return data.decode("ascii")


class Field:
    """A member of a struct."""

    def __init__(self, offset, bits, kind):
        self.kind = kind.unqualified().strip_typedefs()
        self.start = offset // 8
        self.end = self.start + self.kind.sizeof
        self.shift = offset % 8
        self.bits = bits  # of a bit-field, else 0
        self.is_struct = self.kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
        self.known = None

    @property
    def layout(self):
        """Of the struct that it is, points to, or is an array of."""
        if self.known is None:
            self.known = Layout.of(self.kind if self.is_struct else self.kind.target())
        return self.known


class Layout:
    """Where the fields of a struct are."""
    all = {}

    def __init__(self, of):
        self.name = of.tag or of.name or "a struct"
        self.size = of.sizeof
        self.align = max(of.alignof, 8)
        self.fields = {}
        self.add(of, 0)
        if not self.fields:
            raise Problem("the debug information lacks what is in `struct %s`" % self.name)

    def add(self, of, offset):
        for field in of.fields():
            if not hasattr(field, "bitpos"):
                continue
            if not field.name:  # what is in an anonymous union is in the struct
                self.add(field.type.strip_typedefs(), offset + field.bitpos)
            else:
                self.fields[field.name] = Field(offset + field.bitpos, field.bitsize, field.type)

    @classmethod
    def of(cls, kind):
        kind = kind.unqualified().strip_typedefs()
        if kind.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            raise Problem("%s is no struct" % kind)
        names = tuple(field.name for field in kind.fields())  # many structs have no name
        key = (kind.tag or kind.name, kind.sizeof, names)
        if key not in cls.all:
            cls.all[key] = cls(kind)
        return cls.all[key]

    @classmethod
    def named(cls, name):
        try:
            return cls.of(gdb.lookup_type("struct " + name))
        except gdb.error as error:
            raise Problem("the debug information lacks `struct %s`: build Troupe with -g, or "
                          "install its debug symbols" % name) from error

    def field(self, name):
        try:
            return self.fields[name]
        except KeyError:
            raise Problem("`struct %s` has no field %s" % (self.name, name)) from None


class Record:
    """A struct of the program, read as a whole."""

    def __init__(self, layout, address, data=None):
        self.layout = layout
        self.address = address
        self.data = read(address, layout.size) if data is None else data

    def __contains__(self, name):
        return name in self.layout.fields

    def bytes(self, name):
        field = self.layout.field(name)
        return self.data[field.start:field.end]

    def place(self, name):
        return self.address + self.layout.field(name).start

    def number(self, name, default=None):
        """An integer, an enum, a pointer; of an atomic word its value."""
        if default is not None and name not in self:
            return default
        field = self.layout.field(name)
        if field.is_struct:
            return self.inner(name).number("value")
        number = int.from_bytes(self.data[field.start:field.end], sys.byteorder)
        return number >> field.shift & (1 << field.bits) - 1 if field.bits else number

    def inner(self, name):
        """A struct inside this one."""
        field = self.layout.field(name)
        return Record(field.layout, self.address + field.start, self.data[field.start:field.end])

    def items(self, name):
        """The structs of an array inside this one."""
        field = self.layout.field(name)
        size = field.layout.size
        for start in range(field.start, field.end, size):
            yield Record(field.layout, self.address + start, self.data[start:start + size])

    def target(self, name):
        """The layout of what a field points to."""
        return self.layout.field(name).layout

    def follow(self, name):
        """What a field points to; None of NULL, or where there is no such field."""
        if name not in self or not self.number(name):
            return None
        return Record(self.target(name), self.number(name))

    def text(self, name):
        """The name that a field points to."""
        return read_name(self.number(name))


enums = {}  # by name: numbers and their names


def enum_name(enum, number):
    if enum not in enums:
        prefix, *names = ENUMS[enum].split()
        enums[enum] = {1 << i if enum in BITS else i: name for i, name in enumerate(names)}
        try:
            fields = gdb.lookup_type("enum " + enum).fields()
            known = {field.enumval: field.name[len(prefix):] for field in fields
                     if field.name.startswith(prefix)}  # not MAIL_KIND_COUNT
            enums[enum] = known or enums[enum]
        except gdb.error:
            pass
    return enums[enum].get(number, "?%d" % number)


def bit_names(enum, number):
    """The names of the bits that are set, the lowest first."""
    return [enum_name(enum, 1 << bit) for bit in range(32) if number >> bit & 1]


def forget(_):
    """Other programs have other structs."""
    Layout.all.clear()
    enums.clear()


def chain(first):
    """The links of a list that ends with NULL, whose first member is the pointer to the next."""
    seen = set()
    while first:
        if first in seen:
            raise Problem("the list goes round at 0x%x" % first)
        if len(seen) >= COUNT_MAX:
            raise Problem("the list has more than %d links" % COUNT_MAX)
        seen.add(first)
        yield first
        first = read_number(first)


def ring(last):
    """The envelopes of a mailbox, oldest first: a ring that is known by its last one."""
    at, seen = last, set()
    while at:
        at = read_number(at)
        if at in seen or not at:
            raise Problem("the mailbox that ends at 0x%x is broken" % last)
        if len(seen) >= COUNT_MAX:
            raise Problem("the mailbox has more than %d messages" % COUNT_MAX)
        seen.add(at)
        yield at
        if at == last:
            return


def count(links):
    """How many there are, as text."""
    number = 0
    try:
        for _ in links:
            number += 1
    except Problem:
        return "%d+?" % number
    return str(number)


def evaluate(expression):
    try:
        value = gdb.parse_and_eval(expression)
        value.fetch_lazy()
        return value
    except gdb.error as error:
        raise Problem("%s: %s" % (expression, error)) from error


def number_of(value):
    try:
        return int(value) & (1 << 64) - 1
    except (gdb.error, TypeError, ValueError) as error:
        raise Problem("this is no pointer and no number: %s" % value.type) from error
