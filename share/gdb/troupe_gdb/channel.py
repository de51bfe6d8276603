# SPDX-License-Identifier: Apache-2.0
"""Channels, as src/net keeps them."""
import ipaddress

from troupe_gdb.memory import (COUNT_MAX, Layout, Problem, Record, bit_names, enum_name, read_number,
                               read_string)

FIRST_CHUNK = 64           # of net/table.c: chunk k has so many << k channels
CHANNELS_LARGEST = 1 << 23  # above TR_CHANNELS_MAX
FREE = 0                   # CHANNEL_FREE
LISTENER = "LISTENER"
V4, V6, UNIX = 1, 2, 3     # tr_family

HEADS = ["channel", "kind", "state", "status", "fd", "worker", "in", "out", "held", "readers",
         "writers", "exchanges", "at", "flags", "actor"]


def channels(system):
    """All channels that are not free, by slot."""
    table = system.record.inner("channels").number("table") if "channels" in system.record else 0
    if not table:
        return
    record = Record(Layout.named("channel_table"), table)
    layout = Layout.named("channel")
    used = record.number("used")
    if used > CHANNELS_LARGEST:
        raise Problem("the table of channels is broken")
    chunks = record.place("chunks")
    for slot in range(1, used):
        chunk = (slot // FIRST_CHUNK + 1).bit_length() - 1
        first = read_number(chunks + 8 * chunk)
        place = slot - ((FIRST_CHUNK << chunk) - FIRST_CHUNK)
        channel = Record(layout, first + place * layout.size)
        if channel.number("bits") & 0xffffffff and channel.number("state") != FREE:
            yield channel


def row_of(channel):
    """What is in the columns, without the actor."""
    state, kind = channel.number("state"), channel.number("kind")
    status = channel.number("status") & 0xffffffff
    fd = channel.number("fd") & 0xffffffff
    received, written, held = bytes_of(channel)
    rare = channel.follow("rare")
    flags = bit_names("channel_flag", channel.number("flags"))
    return ["0x%x" % channel.number("bits"),
            enum_name("channel_kind", kind).capitalize(),
            enum_name("channel_state", state).capitalize(),
            status_name(status), "-" if fd >> 31 else str(fd),
            str(worker_of(channel)), str(received), str(written), str(held),
            waits_of(channel, "readers"), waits_of(channel, "writers"),
            str(rare.number("exchange_count", 0) if rare else 0),
            place_of(channel, kind, flags), ",".join(flags) or "-"]


def worker_of(channel):
    worker = channel.follow("worker")
    return worker.number("index") if worker else "-"


def buffer_size(record, name):
    buffer = record.inner(name)
    return max(buffer.number("end") - buffer.number("begin"), 0)


def bytes_of(channel):
    """Bytes that came and were not read, that were written and not sent, and those of these that wait for a commit."""
    work, rare = channel.follow("work"), channel.follow("rare")
    received = written = held = 0
    if work:
        output = work.inner("output")
        received = buffer_size(work.inner("input"), "buffer")
        written, held = output.number("size"), output.number("held", 0)
    if rare:
        received += buffer_size(rare.inner("filter"), "raw")
        written += buffer_size(rare.inner("filter"), "out")
    return received, written, held


def waits_of(channel, name):
    """How many turns wait, as text. The ring is on their stacks, which a core file may lack."""
    first = channel.inner(name).number("first")
    number, at = 0, first
    try:
        while at and number < COUNT_MAX:
            number += 1
            at = read_number(at)
            if at == first:
                return str(number)
    except Problem:
        pass
    return "%d+?" % number if first else "0"


def status_name(number):
    if not number:
        return "-"
    number -= 1 << 32 if number >> 31 else 0
    name = enum_name("tr_status", number)
    return str(number) if name.startswith("?") else "TR_" + name


def place_of(channel, kind, flags):
    """The other side; of a listener where it listens; else the address of its endpoint."""
    endpoint = channel.follow("endpoint")
    listener = endpoint.follow("listener") if endpoint else None
    peer = channel.inner("peer")
    if enum_name("channel_kind", kind) == LISTENER and listener:
        text = address_text(listener.inner("address"))
    elif "PEER_V4" in flags:
        near = peer.inner("v4")
        text = "%s:%d" % (ipaddress.IPv4Address(near.bytes("host")), near.number("port"))
    elif "PEER_FAR" in flags:
        text = address_text(peer.follow("far"))
    else:
        text = ""
    return text or endpoint_text(endpoint)


def address_text(address):
    """A tr_address as tr_address_print writes it."""
    family, host = address.number("family"), address.bytes("host")
    if family == UNIX:
        path = string_at(address.number("path"))
        return "unix:" + path if path else "unix"
    if family == V4:
        return "%s:%d" % (ipaddress.IPv4Address(host[:4]), address.number("port"))
    if family == V6:
        scope = "%%%d" % address.number("scope") if address.number("scope") else ""
        return "[%s%s]:%d" % (ipaddress.IPv6Address(host), scope, address.number("port"))
    return ""


def endpoint_text(endpoint):
    address = endpoint.inner("options").number("address") if endpoint else 0
    return string_at(address) or "-"


def string_at(address):
    """A string without blanks, for a column."""
    if not address:
        return ""
    return "_".join(read_string(address, 128)[0].decode("utf-8", "backslashreplace").split())
