/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A line table is a sequence of units, each with a line program that makes rows of addresses and
 * lines. To look up an address, this file runs the programs one after the other until one has a row
 * for the address. All reads are checked against the end of their section, so a damaged file gives
 * no line and does no harm.
 */
#include "os/lines.h"

#include "os/dwarf.h"

#include <string.h>

/* Numbers of the DWARF standard, section 7, under the standard's names. */
enum {
    LNS_COPY = 1,
    LNS_ADVANCE_PC = 2,
    LNS_ADVANCE_LINE = 3,
    LNS_SET_FILE = 4,
    LNS_CONST_ADD_PC = 8,
    LNS_FIXED_ADVANCE_PC = 9,
    LNE_END_SEQUENCE = 1,
    LNE_SET_ADDRESS = 2,
    LNCT_PATH = 1,
    FORM_BLOCK = 0x09,
    FORM_DATA1 = 0x0b,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_DATA16 = 0x1e,
    FORM_STRING = 0x08,
    FORM_STRP = 0x0e,
    FORM_LINE_STRP = 0x1f,
    FORM_UDATA = 0x0f
};

static const char *string_at(const struct lines_section *section, uint64_t offset)
{
    if (offset >= section->size)
        return "";
    struct dwarf_bytes cursor = {section->data + offset, section->data + section->size, false};
    return dwarf_string(&cursor);
}

/* ---- One unit. ---- */

struct unit {
    const struct lines_tables *tables;
    struct dwarf_bytes program;
    struct dwarf_bytes names; /* the tables of directories and files */
    unsigned version;
    size_t offset_size; /* 4 or 8 */
    uint64_t min_instruction;
    int line_base;
    unsigned line_range;
    unsigned opcode_base;
    unsigned char lengths[256]; /* number of arguments of each standard opcode */
};

/*
 * Reads a value of the given form, which says how the value is stored. If the value is a text,
 * writes it to *text.
 */
static void read_form(const struct unit *unit, struct dwarf_bytes *cursor, uint64_t form,
                      const char **text)
{
    switch (form) {
    case FORM_STRING:
        *text = dwarf_string(cursor);
        break;
    case FORM_LINE_STRP:
        *text = string_at(&unit->tables->line_str, dwarf_number(cursor, unit->offset_size));
        break;
    case FORM_STRP:
        *text = string_at(&unit->tables->str, dwarf_number(cursor, unit->offset_size));
        break;
    case FORM_UDATA:
        (void)dwarf_uleb(cursor);
        break;
    case FORM_BLOCK:
        dwarf_skip(cursor, dwarf_uleb(cursor));
        break;
    case FORM_DATA1:
        dwarf_skip(cursor, 1);
        break;
    case FORM_DATA2:
        dwarf_skip(cursor, 2);
        break;
    case FORM_DATA4:
        dwarf_skip(cursor, 4);
        break;
    case FORM_DATA8:
        dwarf_skip(cursor, 8);
        break;
    case FORM_DATA16:
        dwarf_skip(cursor, 16);
        break;
    default:
        cursor->is_bad = true;
        cursor->at = cursor->end;
        break;
    }
}

/*
 * Walks a table of directories or files in a unit of DWARF version 5. Returns the path of entry `index`; "" if there is
 * none.
 */
static const char *entries_walk(const struct unit *unit, struct dwarf_bytes *cursor, uint64_t index)
{
    const char *found = "";
    struct dwarf_bytes formats = *cursor;
    uint64_t format_count = dwarf_number(&formats, 1);
    struct dwarf_bytes entry = formats;
    for (uint64_t i = 0; i < format_count; i++) {
        (void)dwarf_uleb(&entry);
        (void)dwarf_uleb(&entry);
    }
    uint64_t count = dwarf_uleb(&entry);
    for (uint64_t i = 0; i < count && !entry.is_bad && format_count; i++) {
        struct dwarf_bytes format = formats;
        for (uint64_t j = 0; j < format_count; j++) {
            const char *text = "";
            uint64_t content = dwarf_uleb(&format);
            read_form(unit, &entry, dwarf_uleb(&format), &text);
            if (i == index && content == LNCT_PATH)
                found = text;
        }
    }
    *cursor = entry;
    return found;
}

static const char *file_name(const struct unit *unit, uint64_t index)
{
    struct dwarf_bytes cursor = unit->names;
    if (unit->version >= 5) {
        (void)entries_walk(unit, &cursor, UINT64_MAX); /* this skips the table of directories */
        return entries_walk(unit, &cursor, index);
    }
    while (!cursor.is_bad && *dwarf_string(&cursor)) /* this skips the table of directories */
        ;
    for (uint64_t i = 1; !cursor.is_bad; i++) {
        const char *name = dwarf_string(&cursor);
        if (!*name)
            break;
        if (i == index)
            return name;
        for (int j = 0; j < 3; j++)
            (void)dwarf_uleb(&cursor);
    }
    return "";
}

/* Reads the head of a unit. Returns false if the version of the unit is not supported. */
static bool unit_open(struct unit *unit, struct dwarf_bytes *all)
{
    uint64_t length = dwarf_number(all, 4);
    unit->offset_size = 4;
    if (length == 0xffffffff) {
        length = dwarf_number(all, 8);
        unit->offset_size = 8;
    }
    struct dwarf_bytes head = *all;
    dwarf_skip(all, length);
    if (all->is_bad)
        return false;
    head.end = all->at;
    unit->version = (unsigned)dwarf_number(&head, 2);
    if (unit->version < 2 || unit->version > 5)
        return false;
    if (unit->version >= 5)
        dwarf_skip(&head, 2); /* skip the sizes of addresses and of segments */
    uint64_t header = dwarf_number(&head, unit->offset_size);
    unit->program = head;
    dwarf_skip(&unit->program, header);
    unit->min_instruction = dwarf_number(&head, 1);
    if (unit->version >= 4)
        dwarf_skip(&head, 1);               /* skip the number of operations per instruction */
    dwarf_skip(&head, 1);                   /* skip the default value of is_stmt */
    uint64_t base = dwarf_number(&head, 1); /* a signed byte */
    unit->line_base = (int)base - (base > 127 ? 256 : 0);
    unit->line_range = (unsigned)dwarf_number(&head, 1);
    unit->opcode_base = (unsigned)dwarf_number(&head, 1);
    for (unsigned i = 1; i < unit->opcode_base; i++)
        unit->lengths[i] = (unsigned char)dwarf_number(&head, 1);
    unit->names = head;
    return !head.is_bad && !unit->program.is_bad && unit->line_range && unit->opcode_base;
}

/* ---- The machine. ---- */

struct row {
    uint64_t address;
    uint64_t file;
    int64_t line;
};

struct machine {
    struct row row;
    struct row last; /* the previous row of the same sequence */
    bool has_last;
};

static const struct row first_row = {.file = 1, .line = 1};

/*
 * Ends the current row. Returns true if the address is between the row before it, machine->last,
 * and the current row. Otherwise the current row becomes machine->last, unless the sequence ends.
 */
static bool row_is_found(struct machine *machine, uint64_t address, bool is_end)
{
    bool is_found =
        machine->has_last && address >= machine->last.address && address < machine->row.address;
    if (is_found)
        return true;
    machine->last = machine->row;
    machine->has_last = !is_end;
    if (is_end)
        machine->row = first_row;
    return false;
}

static bool extended_opcode(struct dwarf_bytes *program, struct machine *machine, uint64_t address)
{
    uint64_t length = dwarf_uleb(program);
    struct dwarf_bytes rest = *program;
    dwarf_skip(program, length);
    switch (length ? dwarf_number(&rest, 1) : 0) {
    case LNE_END_SEQUENCE:
        return row_is_found(machine, address, true);
    case LNE_SET_ADDRESS:
        machine->row.address = dwarf_number(&rest, length - 1 < 8 ? (size_t)length - 1 : 8);
        return false;
    default:
        return false;
    }
}

static bool standard_opcode(const struct unit *unit, struct dwarf_bytes *program,
                            struct machine *machine, unsigned opcode, uint64_t address)
{
    struct row *row = &machine->row;
    switch (opcode) {
    case LNS_COPY:
        return row_is_found(machine, address, false);
    case LNS_ADVANCE_PC:
        row->address += dwarf_uleb(program) * unit->min_instruction;
        break;
    case LNS_ADVANCE_LINE:
        row->line += dwarf_sleb(program);
        break;
    case LNS_SET_FILE:
        row->file = dwarf_uleb(program);
        break;
    case LNS_CONST_ADD_PC:
        row->address += (255 - unit->opcode_base) / unit->line_range * unit->min_instruction;
        break;
    case LNS_FIXED_ADVANCE_PC:
        row->address += dwarf_number(program, 2);
        break;
    default:
        for (unsigned i = 0; i < unit->lengths[opcode]; i++)
            (void)dwarf_uleb(program);
        break;
    }
    return false;
}

/*
 * Runs the program of a unit. Returns true if the program has the address. Then machine->last is
 * the row of the address.
 */
static bool unit_run(const struct unit *unit, struct machine *machine, uint64_t address)
{
    struct dwarf_bytes program = unit->program;
    while (program.at < program.end && !program.is_bad) {
        unsigned opcode = (unsigned)dwarf_number(&program, 1);
        bool is_found = false;
        if (opcode >= unit->opcode_base) {
            unsigned step = opcode - unit->opcode_base;
            machine->row.address += step / unit->line_range * unit->min_instruction;
            machine->row.line += unit->line_base + (int)(step % unit->line_range);
            is_found = row_is_found(machine, address, false);
        } else if (opcode == 0) {
            is_found = extended_opcode(&program, machine, address);
        } else {
            is_found = standard_opcode(unit, &program, machine, opcode, address);
        }
        if (is_found)
            return true;
    }
    return false;
}

bool tr__lines_find(const struct lines_tables *tables, uint64_t address, char *file, size_t size,
                    uint32_t *line)
{
    if (!tables->line.size)
        return false;
    struct dwarf_bytes all = {tables->line.data, tables->line.data + tables->line.size, false};
    while (all.at < all.end) {
        struct unit unit = {.tables = tables};
        struct machine machine = {.row = first_row};
        bool is_known = unit_open(&unit, &all);
        if (all.is_bad)
            return false;
        if (!is_known || !unit_run(&unit, &machine, address))
            continue;
        const char *path = file_name(&unit, machine.last.file);
        const char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        size_t length = strnlen(name, size - 1);
        memcpy(file, name, length);
        file[length] = '\0';
        *line = machine.last.line > 0 ? (uint32_t)machine.last.line : 0;
        return *line && length;
    }
    return false;
}
