# SPDX-License-Identifier: Apache-2.0
"""The commands; `help troupe` lists them."""
import sys

import gdb

from troupe_gdb.channel import HEADS as CHANNEL_HEADS
from troupe_gdb.channel import channels, row_of
from troupe_gdb.memory import (COUNT_MAX, Layout, Problem, Record, chain, count, enum_name,
                               evaluate, forget, number_of, ring)
from troupe_gdb.message import Descriptor, message_text, ref_text
from troupe_gdb.search import find_systems, the_system
from troupe_gdb.system import (BOXES, FOREIGN, behavior_of, box_of, cycle_of, envelope_text, has_fields,
                               inbox_of, is_client, is_envelope, queued_of, stash_of)

MORE = "... and more: `set troupe-limit` has the number that is shown"


class Limit(gdb.Parameter):
    """How many actors, messages or channels a troupe command prints at most."""
    set_doc = show_doc = "How many actors, messages or channels a troupe command prints at most"

    def __init__(self):
        super().__init__("troupe-limit", gdb.COMMAND_DATA, gdb.PARAM_ZINTEGER)
        self.value = 1000

    def get_set_string(self):
        return ""

    def get_show_string(self, value):
        return "troupe commands print at most %s actors, messages or channels." % value


limit = Limit()


def say(text):
    try:
        gdb.write(text + "\n")
    except UnicodeError:
        gdb.write(text.encode("ascii", "backslashreplace").decode() + "\n")


def print_table(heads, rows):
    """Columns as wide as they must be; numbers to the right, the last column as it is."""
    table = [heads] + rows
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    is_number = [all(row[i][:1].isdigit() or row[i] == "-" for row in rows)
                 for i in range(len(heads))]
    for row in table:
        texts = [text.rjust(width) if right else text.ljust(width)
                 for text, width, right in zip(row, widths, is_number)]
        say("  ".join(texts[:-1] + [row[-1]]).rstrip())


def columns(kind, names):
    return [name for name in names if name in kind.fields]


class Command(gdb.Command):
    """A command that reports what goes wrong in one line."""

    def __init__(self, name):
        super().__init__("troupe " + name, gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        Descriptor.all.clear()
        try:
            self.run(argument.strip())
        except Problem as problem:
            raise gdb.GdbError("troupe: %s" % problem) from None
        except (gdb.error, RuntimeError, ValueError, TypeError, LookupError,
                ArithmeticError) as error:
            raise gdb.GdbError("troupe: this cannot be read: %s" % error) from None


class Systems(Command):
    """List the systems of this process.

Usage: troupe systems

They are looked for in the registers, stacks and variables of all threads. The other commands take
SYSTEM, an expression: a `tr_system *`, `tr_self *` or `tr_client *`, or a plain address. Without it
they take the only system that is found."""

    def run(self, argument):
        systems = [the_system(argument)] if argument else find_systems()
        if not systems:
            raise Problem("no system was found in the threads; give one: a `tr_system *`")
        for system in systems:
            say(system.title())


class Workers(Command):
    """List the workers of a system: thread, queues, counters, and what each runs.

Usage: troupe workers [SYSTEM]

`ready` are actors in its run queues, `posted` are those that other threads have made ready. The
rest is counters since the start, as tr_system_counters has them."""

    COUNTERS = ("accepted", "handled", "dead", "refused", "signals", "spawned", "stopped")

    def run(self, argument):
        system = the_system(argument)
        say(system.title())
        counters = columns(system.workers[0].inner("counters").layout, self.COUNTERS)
        totals = columns(system.workers[0].inner("loop").layout, ("runs", "parks"))
        threads = self.threads()
        rows = []
        for worker in system.workers:
            loop = worker.inner("loop")
            numbers = worker.inner("counters")
            identity = worker.number("thread_id")
            rows.append([str(worker.number("index")),
                         threads.get(identity, "-" if not identity else "0x%x" % identity),
                         self.ready(loop), self.posted(loop)] +
                        [str(numbers.number(name)) for name in counters] +
                        [str(loop.number(name)) for name in totals] +
                        [self.now(system, worker, loop)])
        print_table(["worker", "thread", "ready", "posted"] + counters + totals + ["now"], rows)

    @staticmethod
    def threads():
        """The threads of gdb, by pthread_self()."""
        names = {}
        selected = gdb.selected_thread()
        frame = gdb.selected_frame() if selected else None
        for thread in gdb.selected_inferior().threads():
            text = "%d (LWP %d)" % (thread.num, thread.ptid[1] or thread.ptid[0])
            try:
                names[int.from_bytes(thread.handle(), sys.byteorder)] = text
            except (RuntimeError, NotImplementedError):
                try:  # there is no libthread_db; on x86-64 this is the same number
                    thread.switch()
                    names[int(gdb.newest_frame().read_register("fs_base"))] = text
                except (RuntimeError, ValueError):
                    pass
        if selected and selected.is_valid():
            selected.switch()
            if frame.is_valid():
                frame.select()
        return names

    @staticmethod
    def ready(loop):
        total = 0
        for queue in loop.inner("queue").items("classes"):
            number = count(chain(queue.number("first")))
            if not number.isdigit():
                return number
            total += int(number)
        return str(total)

    @staticmethod
    def posted(loop):
        numbers = (count(chain(loop.number("posts"))),
                   count(chain(loop.inner("ready").inner("posted").number("head"))))
        return str(sum(map(int, numbers))) if all(n.isdigit() for n in numbers) else max(numbers)

    @staticmethod
    def now(system, worker, loop):
        try:
            address = worker.inner("view").number("cell")
            if not address:
                return "asleep" if loop.inner("ready").number("sleep") else "-"
            kind = worker.inner("view").number("type")
            text = Descriptor.at(kind).name if kind else Workers.signal(worker)
            return system.path(Record(system.cell_layout, address)) + ": " + text
        except Problem as problem:
            return "? " + str(problem)

    @staticmethod
    def signal(worker):
        """What it runs that is no message."""
        turns = list(worker.inner("turns").items("calls"))
        depth = worker.inner("turns").number("depth", 0)
        if depth >= len(turns):
            return "(no message)"
        return "(%s)" % enum_name("turn_kind", turns[depth].number("kind", 0)).lower()


class Actors(Command):
    """List actors: state, mail, behavior and path.

Usage: troupe actors [SYSTEM] [PATH-PREFIX]

`state` is where the actor is in its life, `sched` where it stands with its scheduler. `queued` and
`bytes` are its mail without what is still in the inbox, where other threads put it. Then come the
depths of the five mailboxes, of the cycle (what it handles before it looks again), stash and inbox.
An actor without a name is called by its slot and generation, as /user/$5.0 is."""

    def run(self, argument):
        words = argument.split()
        prefix = next((word for word in words if word.startswith("/")), "")
        system = the_system(" ".join(word for word in words if word != prefix))
        boxes = list(BOXES)
        rows, problems, is_cut = [], [], False
        try:
            for cell in system.cells():
                try:
                    path = system.path(cell)
                    if not path.startswith(prefix):
                        continue
                    if len(rows) >= limit.value:
                        is_cut = True
                        break
                    rows.append(self.row(cell, boxes) + [path])
                except Problem as problem:
                    problems.append("%s: %s" % (ref_text(cell.number("identity")), problem))
        except Problem as problem:
            problems.append(str(problem))
        say(system.title())
        print_table(["ref", "state", "sched", "worker", "queued", "bytes"] + boxes +
                    ["cycle", "stash", "inbox", "behavior", "path"], rows)
        if not rows:
            say("(none)")
        if is_cut:
            say(MORE)
        if problems:
            raise Problem("; ".join(problems[:5]))

    @staticmethod
    def row(cell, boxes):
        owner = cell.inner("door").number("owner")
        has_client = is_client(cell)
        return ["0x%x" % cell.number("identity"),
                "Client" if has_client else enum_name("life", cell.number("life")).capitalize(),
                "-" if has_client else enum_name("sched_state", cell.number("sched_state")).capitalize(),
                "-" if owner == FOREIGN else str(owner),
                queued_of(cell), str(cell.number("queued_lines", 0) * 64)] + \
            [count(ring(box_of(cell, name))) for name in boxes] + \
            [count(cycle_of(cell)), count(ring(stash_of(cell))), count(inbox_of(cell)), behavior_of(cell)]


class Mail(Command):
    """Print the messages that wait for an actor.

Usage: troupe mail ACTOR [SYSTEM]

ACTOR is a path such as /user/bank or /user/$5.0, or an expression without blanks: a ref, the number
of one, or a `struct cell *`. Each line says where the message waits, oldest first, of which kind it
is, the message as tr_type_print writes it, and its sender."""

    def run(self, argument):
        who, _, rest = argument.partition(" ")
        if not who:
            raise Problem("whose mail? Give a ref or a path")
        system = the_system(rest.strip())
        cell = self.cell(system, who)
        say("%s %s, %s, %s queued" % (
            ref_text(cell.number("identity")), system.path(cell),
            enum_name("life", cell.number("life")).capitalize(), queued_of(cell)))
        problems = []
        for place, links in self.places(system, cell):
            self.print(system, cell, place, links, problems)
        if problems:
            raise Problem("; ".join(problems))

    @staticmethod
    def cell(system, who):
        if who.startswith("/"):
            cell = system.find_path(who)
        else:
            value = evaluate(who)
            kind = value.type.strip_typedefs()
            if kind.code == gdb.TYPE_CODE_PTR and \
                    kind.target().unqualified().strip_typedefs().tag == system.cell_layout.name:
                return Record(system.cell_layout, number_of(value))
            if kind.code == gdb.TYPE_CODE_UNION and has_fields(kind, "bits"):
                value = value["bits"]
            cell = system.find(number_of(value))
        if not cell:
            raise Problem("nobody lives at %s" % who)
        return cell

    @staticmethod
    def places(system, cell):
        for worker in system.workers:
            if worker.inner("view").number("cell", 0) == cell.address:
                yield "now", Mail.handled(worker)
        yield "cycle", cycle_of(cell)
        for name in BOXES:
            yield name, ring(box_of(cell, name))
        yield "inbox", reversed(list(inbox_of(cell)))
        yield "stash", ring(stash_of(cell))
        client = next((one for one in Mail.clients(system) if one.number("cell") == cell.address),
                      None)
        if client:
            yield "received", ring(client.number("received"))

    @staticmethod
    def handled(worker):
        """The envelope of the message that a worker handles."""
        turn = worker.inner("turns").follow("message")
        if turn and turn.number("envelope", 0):
            yield turn.number("envelope")

    @staticmethod
    def clients(system):
        client = system.record.follow("clients")
        for _ in range(COUNT_MAX):
            if not client:
                return
            yield client
            client = client.follow("next")

    @staticmethod
    def print(system, cell, place, links, problems):
        layout = cell.target("notices")
        try:
            for number, address in enumerate(links):
                if number >= limit.value:
                    say("%-10s %s" % (place, MORE))
                    return
                try:
                    text = envelope_text(Record(layout, address), system)
                except Problem as problem:
                    text = "? " + str(problem)
                say("%-10s %s" % (place, text))
        except Problem as problem:
            problems.append("%s: %s" % (place, problem))


class Channels(Command):
    """List channels: sockets, and whatever else an actor reads and writes.

Usage: troupe channels [ACTOR] [SYSTEM]

ACTOR is as in `troupe mail`; without it, and with "-", the channels of all actors are listed. `in` are
bytes that came and were not read, `out` bytes that were written and not sent, those in a filter such
as TLS included; `held` are those of `out` that wait for a commit. `readers` and `writers` are turns
that wait, `exchanges` are under way. `at` is the other side, of a listener where it listens, else the
address that it was made with. The flags are those of enum channel_flag in net/channel.h."""

    def run(self, argument):
        who, _, rest = argument.partition(" ")
        system = the_system(rest.strip())
        owner = Mail.cell(system, who).number("identity") if who and who != "-" else 0
        rows, problems, is_cut = [], [], False
        try:
            for channel in channels(system):
                if owner and channel.number("owner") != owner:
                    continue
                if len(rows) >= limit.value:
                    is_cut = True
                    break
                try:
                    rows.append(row_of(channel) + [self.actor(system, channel)])
                except Problem as problem:
                    problems.append("0x%x: %s" % (channel.number("bits"), problem))
        except Problem as problem:
            problems.append(str(problem))
        say(system.title())
        print_table(CHANNEL_HEADS, rows)
        if not rows:
            say("(none)")
        if is_cut:
            say(MORE)
        if problems:
            raise Problem("; ".join(problems[:5]))

    @staticmethod
    def actor(system, channel):
        """The path of its actor; a channel that lingers has none."""
        owner = channel.number("owner")
        cell = system.find(owner) if owner else None
        return system.path(cell) if cell else ref_text(owner)


class Message(Command):
    """Print a message by its descriptor, as tr_type_print does.

Usage: troupe message ENVELOPE
       troupe message MESSAGE
       troupe message TYPE, DATA

ENVELOPE is a `struct envelope *`. MESSAGE is a `tr_message`, or a pointer to a struct that
TR_MESSAGE has declared, as handlers get it. TYPE is a `tr_type` or a pointer to one, such as
tr_type_deposit, and DATA a pointer to the struct."""

    def run(self, argument):
        if not argument:
            raise Problem("which message? See `help troupe message`")
        pair = self.split(argument)
        if pair:
            kind = evaluate(pair[0])
            if kind.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
                kind = kind.address
            data = evaluate(pair[1])
            if data.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
                data = data.address
            if kind is None or data is None:
                raise Problem("this has no address")
            say(message_text(number_of(kind), number_of(data)))
            return
        value = evaluate(argument)
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_PTR:
            address, kind = number_of(value), kind.target().unqualified().strip_typedefs()
        else:
            address = int(value.address) if value.address is not None else 0
        say(self.text(kind, address))

    @staticmethod
    def split(argument):
        """The two expressions around a comma that is in no parentheses; None when there is none."""
        depth = 0
        for i, letter in enumerate(argument):
            depth += letter in "([{"
            depth -= letter in ")]}"
            if letter == "," and depth == 0:
                return argument[:i].strip(), argument[i + 1:].strip()
        return None

    @staticmethod
    def text(kind, address):
        if kind.code != gdb.TYPE_CODE_STRUCT:
            raise Problem("this is no envelope and no message: give TYPE, DATA")
        if is_envelope(kind):
            return envelope_text(Record(Layout.of(kind), address))
        if kind.tag == "tr_message":
            message = Record(Layout.of(kind), address)
            return message_text(message.number("type"), message.number("data"))
        descriptor = evaluate("&tr_type_%s" % kind.tag)
        return message_text(number_of(descriptor), address)


class Troupe(gdb.Command):
    """Look at the actors of a program that uses Troupe.

The commands read memory only, of a live process or of a core file. `set troupe-limit N` says how
much they print at most. Values of the types tr_ref, struct cell and struct envelope have printers;
`print/r` shows them raw."""

    def __init__(self):
        super().__init__("troupe", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)


def register():
    Troupe()
    Systems("systems")
    Workers("workers")
    Actors("actors")
    Mail("mail")
    Channels("channels")
    Message("message")
    for event in (gdb.events.new_objfile, gdb.events.clear_objfiles):
        event.connect(forget)
