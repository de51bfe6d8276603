# SPDX-License-Identifier: Apache-2.0
"""Systems, their actors and their mail, as src/actor keeps them."""
import gdb

from troupe_gdb.memory import (Layout, Problem, Record, chain, count, enum_name, read, read_number,
                               ring)
from troupe_gdb.message import message_text, ref_text

WORKERS_MAX = 256     # TR_WORKERS_MAX
FOREIGN = 0xffffffff  # CELL_FOREIGN
GROUP_ADDRESS = 0xfffffffe  # CELL_GROUP_ADDRESS
PARENT = 0x0fffffff   # of a door's tenant, the slot of the parent: below CELL_CALLS
CHUNK_BITS = 10       # SLOTS_CHUNK_BITS
NO_BLOCK = 0xff       # ENVELOPE_NO_BLOCK
PATH_MAX = 1024       # TR_PATH_MAX
BOXES = ("replies", "exceptions", "asks", "notices", "events")


class System:
    """A tr_system that was found at an address and looks like one."""
    known = []  # addresses, of earlier commands

    def __init__(self, address):
        try:
            self.record = Record(Layout.named("tr_system"), address)
        except Problem as problem:
            raise Problem("no system is at 0x%x" % address) from problem
        self.address = address
        self.paths = {}  # of parents, by slot
        number = self.record.number("worker_count")
        if not 0 < number <= WORKERS_MAX or not self.record.number("workers"):
            raise Problem("no system is at 0x%x" % address)
        table = self.record.number("workers")
        layout = Layout.of(self.record.layout.field("workers").kind.target().target())
        self.workers = [Record(layout, read_number(table + 8 * i)) for i in range(number)]
        if any(worker.number("system") != address for worker in self.workers):
            raise Problem("no system is at 0x%x" % address)
        self.slots = self.record.follow("slots")

    @property
    def name(self):
        return self.record.bytes("name").split(b"\0")[0].decode("utf-8", "backslashreplace")

    @property
    def cell_layout(self):
        return self.record.inner("user").target("guardian")

    def title(self):
        return 'system "%s" at 0x%x: %s, %d worker%s' % (
            self.name, self.address, enum_name("system_phase", self.record.inner("run").number("phase")).lower(),
            len(self.workers), "" if len(self.workers) == 1 else "s")

    def cell(self, slot):
        """The cell of a slot, lived in or not."""
        slot &= self.slots.number("mask")
        if slot >= self.slots.number("made"):
            return None
        return Record(self.cell_layout, self.cell_address(slot))

    def cell_address(self, slot):
        """The table has of each chunk where slot 0 would be; see struct slots_map."""
        origin = read_number(self.slots.number("chunks") + 8 * (slot >> CHUNK_BITS))
        return (origin + slot * self.cell_layout.size) % (1 << 64)

    def cells(self):
        """All cells that somebody lives in, a client or an actor."""
        used, layout, size = self.slots.number("used"), self.cell_layout, 1 << CHUNK_BITS
        if used > min(self.slots.number("limit"), self.slots.number("mask")) + 1:
            raise Problem("the table of actors is broken")
        for first in range(0, min(used + 1, self.slots.number("made")), size):
            chunk = self.cell_address(first)
            data = read(chunk, size * layout.size)
            for start in range(0, min(size, used + 1 - first) * layout.size, layout.size):
                cell = Record(layout, chunk + start, data[start:start + layout.size])
                if is_lived_in(cell):
                    yield cell

    def find(self, bits):
        """The cell of a ref; None when it has ended."""
        cell = self.cell(bits & 0xffffffff) if bits else None
        return cell if cell and cell.number("identity") == bits and is_lived_in(cell) else None

    def find_path(self, path):
        last = path.rstrip("/").rpartition("/")[2]
        if last.startswith("$"):  # $slot.generation
            try:
                cell = self.cell(int(last[1:].partition(".")[0], 16))
            except (ValueError, Problem):
                return None
            return cell if cell and is_lived_in(cell) and self.path(cell) == path else None
        for cell in self.cells():
            if cell.number("name") and self.path(cell) == path:
                return cell
        return None

    def path(self, cell, depth=0):
        """The path of an actor; those without a name are called by slot and generation."""
        name = cell.follow("name")
        if name:
            data = read(name.place("path"), min(name.number("path_length"), PATH_MAX))
            return data.decode("utf-8", "backslashreplace")
        if is_client(cell):
            return "(client)"
        slot = cell.number("identity") & self.slots.number("mask")
        generation = (cell.number("identity") >> 32) - self.slots.number("generation_first")
        part = "/$%x.%x" % (slot, generation & 0xffffffff)
        parent = parent_of(cell)
        above = self.cell(parent) if parent else None
        if not above:
            return part
        if depth * len("/$1.0") > PATH_MAX:
            raise Problem("the parents of %s go round" % ref_text(cell.number("identity")))
        if parent not in self.paths:
            self.paths[parent] = self.path(above, depth + 1)
        return self.paths[parent] + part


def parent_of(cell):
    """The slot of the parent, 0 for none."""
    return cell.inner("door").number("tenant", 0) & PARENT


def is_client(cell):
    """Whether this is the address of a client: nobody's child, and no worker's. See cell_is_client."""
    return cell.inner("door").number("owner") == FOREIGN and not parent_of(cell)


def is_lived_in(cell):
    if not cell.number("identity"):
        return False
    door = cell.inner("door")
    if door.number("owner") == GROUP_ADDRESS:
        return False  # the ref of a group: its supervisor is listed
    return door.number("ref") != 0 or door.number("owner") != FOREIGN


def actor_text(bits, system=None):
    """A ref, with its path where that is known."""
    for one in [system] if system else [system_at(address) for address in System.known]:
        try:
            cell = one.find(bits) if one else None
            if cell:
                return ref_text(bits) + " " + one.path(cell)
        except Problem:
            pass
    return ref_text(bits)


def behavior_of(cell):
    """The name of a behavior: of the one that is to be set up, while the actor is New."""
    try:
        holder = cell.follow("origin" if cell.number("life") == 0 else "dispatch")
        behavior = holder and holder.follow("behavior")
        return behavior.text("name") if behavior else "-"
    except Problem:
        return "?"


def in_extra(cell, part, name):
    """A ring that only some actors have: NULL where there is none."""
    extra = cell.follow("extra") if "extra" in cell else None
    return extra.inner(part).number(name, 0) if extra else 0


def stash_of(cell):
    return in_extra(cell, "stash", "ring")


def box_of(cell, name):
    """A mailbox, or what the run takes from. Asks have one of their own only where they go first."""
    return in_extra(cell, "mail", "requests") if name == "asks" else cell.number(name, 0)


def cycle_of(cell):
    """The messages of the cycle, with the parts that a barrier has made of it."""
    yield from ring(box_of(cell, "cycle"))
    yield from ring(in_extra(cell, "mail", "held"))
    yield from ring(in_extra(cell, "mail", "late"))


def queued_of(cell):
    """How many messages wait in the lists of an actor, its stash included, as text."""
    def all_of():
        for name in BOXES:
            yield from ring(box_of(cell, name))
        yield from cycle_of(cell)
        yield from ring(stash_of(cell))
    return count(all_of())


def inbox_of(cell):
    head = cell.inner("door").number("inbox")
    return chain(head) if head > 2 else iter(())  # idle, posted, closed


def envelope_text(envelope, system=None):
    """An envelope: its kind, its message, who sent it."""
    kind = enum_name("envelope_kind", envelope.number("kind")).lower()
    text = kind
    if envelope.number("type"):
        payload = envelope.inner("payload")
        data = payload.address
        if envelope.number("block_class") != NO_BLOCK:
            data = payload.inner("block").number("data")
        text += " " + message_text(envelope.number("type"), data)
    # A timer's envelope uses the place of the sender otherwise.
    if kind != "event" and envelope.number("sender"):
        text += " from " + actor_text(envelope.number("sender"), system)
    return text


def system_at(address):
    try:
        return System(address) if address and address % 8 == 0 else None
    except Problem:
        return None


def has_fields(kind, *names):
    return kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) and \
        set(names) <= {field.name for field in kind.fields()}


def is_envelope(kind):
    return has_fields(kind, "mail", "type", "sender", "causal")
