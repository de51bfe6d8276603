# SPDX-License-Identifier: Apache-2.0
"""Messages as text, by their descriptors; the form is that of tr_type_print in src/wire/print.c."""
import struct
import sys

from troupe_gdb.memory import Layout, Problem, Record, read, read_number, read_string

ITEMS_MAX = 1024      # values of a list that are shown
TEXT_MAX = 64 * 1024  # characters of a message that are shown
BYTES_SHOWN_MAX = 16  # of a field `bytes`
DEPTH_MAX = 64        # messages in messages: TR_DEPTH_MAX

(BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, STR, BYTES, BUFFER, REF, MESSAGE) = range(16)
(ONE, ARRAY, LIST, OPTIONAL) = range(4)


class Descriptor:
    """A tr_type."""
    all = {}

    def __init__(self, address):
        try:
            record = Record(Layout.named("tr_type"), address)
            self.name = record.text("name")
            self.size = record.number("size")
            row, rows = record.number("field_size"), record.number("field_count")
            layout = record.target("fields")
            if record.number("abi") != 1 or row < layout.size or rows > 1024:
                raise Problem("its numbers make no sense")
            first = record.number("fields")
            self.fields = [Record(layout, first + i * row) for i in range(rows)]
            self.names = [field.text("name") for field in self.fields]
            for field in self.fields:
                if field.number("offset") + field.number("size") > self.size:
                    raise Problem("a field is outside")
        except Problem as problem:
            raise Problem("0x%x is no message type: %s" % (address, problem)) from problem

    @classmethod
    def at(cls, address):
        if address not in cls.all:
            cls.all[address] = cls(address)
        return cls.all[address]


def float_text(value, digits, digits_exact, code):
    if value != value:
        return "-nan" if struct.pack("=d", value)[-1 if sys.byteorder == "little" else 0] & 0x80 \
            else "nan"
    text = "%.*g" % (digits, value)
    try:
        is_same = struct.unpack(code, struct.pack(code, float(text)))[0] == value
    except OverflowError:
        is_same = False
    return text if is_same else "%.*g" % (digits_exact, value)


def string_text(address):
    if not address:
        return "null"
    data, is_whole = read_string(address)
    text = b""
    for byte in data:
        if byte in b'"\\':
            text += b"\\" + bytes([byte])
        elif byte == 0x0a:
            text += b"\\n"
        elif byte < 0x20 or byte == 0x7f:
            text += b"\\x%02x" % byte
        else:
            text += bytes([byte])
    return '"' + text.decode("utf-8", "backslashreplace") + ('"' if is_whole else '"...')


def bytes_text(address, size):
    shown = min(size, BYTES_SHOWN_MAX) if address else 0
    text = "bytes(%d" % size
    if shown:
        text += ": " + read(address, shown).hex(" ")
    return text + (" ...)" if shown < size else ")")


def ref_text(bits):
    return "ref(0x%x)" % bits if bits else "nobody"


def value_text(field, kind, data, at, depth):
    order = sys.byteorder
    if kind == BOOL:
        return "true" if data[0] else "false"
    if I8 <= kind <= I64:
        return str(int.from_bytes(data, order, signed=True))
    if U8 <= kind <= U64:
        return str(int.from_bytes(data, order))
    if kind == F32:
        return float_text(struct.unpack("=f", data[:4])[0], 6, 9, "=f")
    if kind == F64:
        return float_text(struct.unpack("=d", data[:8])[0], 15, 17, "=d")
    number = int.from_bytes(data[:8], order)
    if kind == STR:
        return string_text(number)
    if kind == BYTES:
        return bytes_text(number, int.from_bytes(data[8:16], order))
    if kind == BUFFER:
        return "buffer(%d)" % read_number(number) if number else "null"  # its size comes first
    if kind == REF:
        return ref_text(number)
    if kind == MESSAGE:
        return message_text(field.number("message"), at, depth + 1)
    raise Problem("there is no kind %d of fields" % kind)


def field_text(field, data, address, depth):
    offset, size = field.number("offset"), field.number("size")
    item, shape, kind = (field.number(name) for name in ("item_size", "shape", "kind"))
    at, number = address + offset, field.number("count")
    member = data[offset:offset + size]
    more = ""
    if shape == LIST:
        at, number = (int.from_bytes(member[i:i + 8], sys.byteorder) for i in (0, 8))
        if not at and number:
            return "null"
        more = ", ..." if number > ITEMS_MAX else ""
        number = min(number, ITEMS_MAX)
        member = read(at, number * item) if number else b""
    elif shape == OPTIONAL:
        if not member[0]:
            return "null"
        at, member = at + size - item, member[size - item:]
    if item == 0 or number * item > len(member):
        raise Problem("its sizes make no sense")
    texts = []
    for start in range(0, number * item, item):
        try:
            texts.append(value_text(field, kind, member[start:start + item], at + start, depth))
        except Problem as problem:
            texts.append("<%s>" % problem)
        if sum(map(len, texts)) > TEXT_MAX:
            more = ", ..."
            break
    text = ", ".join(texts) + more
    return "[" + text + "]" if shape in (ARRAY, LIST) else text


def message_text(kind, address, depth=0):
    """A message as text, of a tr_type and a struct at these addresses."""
    if not kind or not address:
        return "(null)"
    if depth > DEPTH_MAX:
        return "..."
    descriptor = Descriptor.at(kind)
    data = read(address, descriptor.size)
    texts = []
    for name, field in zip(descriptor.names, descriptor.fields):
        try:
            texts.append(name + "=" + field_text(field, data, address, depth))
        except Problem as problem:
            texts.append("%s=<%s>" % (name, problem))
        if sum(map(len, texts)) > TEXT_MAX:
            texts.append("...")
            break
    return descriptor.name + "{" + ", ".join(texts) + "}"
