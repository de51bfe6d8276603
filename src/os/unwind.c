/* SPDX-License-Identifier: Apache-2.0 */
/**
 * To step to the caller of a function, find the entry of the function in the unwind table of its object. An entry has
 * two small programs, which say where the caller's registers are. Run them, and read the registers.
 */
#include "os/unwind.h"

#include "os/dwarf.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { STACK = 7 };
#else
enum { STACK = 31 };
#endif

/* Numbers of two standards: DWARF, section 6.4, and the Linux Standard Base for .eh_frame. */
enum {
    CFA_ADVANCE = 1,
    CFA_OFFSET = 2,
    CFA_RESTORE = 3,
    CFA_ADVANCE1 = 0x02,
    CFA_ADVANCE2 = 0x03,
    CFA_ADVANCE4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF = 0x0c,
    CFA_DEF_REGISTER = 0x0d,
    CFA_DEF_OFFSET = 0x0e,
    CFA_DEF_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_SIGNED = 0x11,
    CFA_DEF_SIGNED = 0x12,
    CFA_DEF_OFFSET_SIGNED = 0x13,
    CFA_VALUE_EXPRESSION = 0x16,
    /* arm64: from this instruction on the return address has a signature */
    CFA_SIGNED_RETURN = 0x2d,
    CFA_ARGUMENTS_SIZE = 0x2e,
    TABLE_POINTER = 0x1b, /* the encodings that linkers use in .eh_frame_hdr */
    TABLE_COUNT = 0x03,
    TABLE_ENTRIES = 0x3b,
    REMEMBERED_MAX = 4
};

size_t tr__own_memory(uintptr_t address, void *to, size_t size)
{
    struct iovec local = {to, size};
    struct iovec remote = {(void *)address, size};
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

static bool word_at(const struct unwind *unwind, uintptr_t address, uintptr_t *word)
{
    size_t offset = address - unwind->copied;
    if (address >= unwind->copied && offset + sizeof *word <= unwind->copy_size) {
        memcpy(word, unwind->copy + offset, sizeof *word);
        return true;
    }
    return tr__own_memory(address, word, sizeof *word) == sizeof *word;
}

static bool is_known(const struct unwind_registers *registers, uint64_t number)
{
    return number < UNWIND_REGISTERS && registers->known >> number & 1;
}

static void set(struct unwind_registers *registers, uint64_t number, uintptr_t value)
{
    registers->values[number] = value;
    registers->known |= UINT64_C(1) << number;
}

void tr__unwind_set_sp(struct unwind *unwind, uintptr_t sp)
{
    set(&unwind->registers, STACK, sp);
}

/* ---- An entry of the unwind table: how to unwind one function. ---- */

struct entry {
    uintptr_t function;
    /* the program that several entries share; it runs before `program` */
    struct dwarf_bytes common;
    struct dwarf_bytes program;
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
};

/*
 * Returns how many bytes a pointer in this encoding has; 0 if this file does not read the encoding.
 */
static size_t encoded_size(uint64_t encoding)
{
    static const uint8_t sizes[16] = {
        sizeof(uintptr_t), 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8, 0, 0, 0};
    return sizes[encoding & 15];
}

/*
 * Reads the part that several entries share. Returns the encoding of addresses in these entries; -1
 * if the part cannot be used. *has_more becomes true if each of the entries has additional data,
 * which begin with their size.
 */
static int common_read(struct entry *entry, struct dwarf_bytes from, bool *has_more)
{
    int encoding = 0;
    uint64_t length = dwarf_number(&from, 4);
    if (length >= (uint64_t)(from.end - from.at))
        return -1;
    from.end = from.at + length;
    uint64_t id = dwarf_number(&from, 4);
    uint64_t version = dwarf_number(&from, 1);
    const char *letters = dwarf_string(&from);
    *has_more = *letters == 'z';
    if (id || (version != 1 && version != 3) || (*letters && !*has_more))
        return -1;
    entry->code_align = dwarf_uleb(&from);
    entry->data_align = dwarf_sleb(&from);
    entry->return_register = version == 1 ? dwarf_number(&from, 1) : dwarf_uleb(&from);
    entry->common = from;
    if (*has_more) {
        uint64_t more = dwarf_uleb(&from);
        entry->common = from;
        dwarf_skip(&entry->common, more);
    }
    for (; *letters; letters++) {
        if (*letters == 'R')
            encoding = (int)dwarf_number(&from, 1);
        else if (*letters == 'P')
            dwarf_skip(&from, encoded_size(dwarf_number(&from, 1)));
        else if (*letters == 'L')
            dwarf_skip(&from, 1);
        else if (*letters == 'S')
            /*
             * the entry is for the frame of a signal, whose caller may have been interrupted at any
             * instruction
             */
            return -1;
    }
    return from.is_bad || entry->common.is_bad ? -1 : encoding;
}

/*
 * Reads the entry at `from`. Returns false if the entry does not cover `pc`. `first` is the lowest
 * address of the section.
 */
static bool entry_read(struct entry *entry, const unsigned char *first, struct dwarf_bytes from,
                       uintptr_t pc)
{
    bool has_more = false;
    uint64_t length = dwarf_number(&from, 4);
    if (length >= (uint64_t)(from.end - from.at))
        return false;
    const unsigned char *last = from.end;
    from.end = from.at + length;
    const unsigned char *here = from.at;
    uint64_t back = dwarf_number(&from, 4);
    if (!back || back > (uint64_t)(here - first))
        return false;
    const struct dwarf_bytes common = {here - back, last, false};
    int encoding = common_read(entry, common, &has_more);
    size_t size = encoding < 0 ? 0 : encoded_size((uint64_t)encoding);
    dwarf_skip(&from, size);
    uint64_t range = dwarf_number(&from, size);
    if (!size || pc - entry->function >= range)
        return false;
    if (has_more)
        dwarf_skip(&from, dwarf_uleb(&from));
    entry->program = from;
    return !from.is_bad;
}

/* Looks the address up in the table .eh_frame_hdr, which is sorted by address. */
static bool entry_find(struct entry *entry, const unsigned char *table, const unsigned char *first,
                       const unsigned char *last, uintptr_t pc)
{
    struct dwarf_bytes head = {table, last, false};
    static const unsigned char plain[] = {1, TABLE_POINTER, TABLE_COUNT, TABLE_ENTRIES};
    bool is_plain = true;
    for (size_t i = 0; i < sizeof plain; i++)
        is_plain &= dwarf_number(&head, 1) == plain[i];
    (void)dwarf_number(&head, 4);
    uint64_t count = dwarf_number(&head, 4);
    if (!is_plain || head.is_bad || count > (uint64_t)(last - head.at) / 8)
        return false;
    uint64_t low = 0;
    for (uint64_t high = count; low < high;) {
        uint64_t middle = low + (high - low) / 2;
        struct dwarf_bytes row = {head.at + middle * 8, last, false};
        if ((uintptr_t)table + (uintptr_t)(int32_t)dwarf_number(&row, 4) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    struct dwarf_bytes row = {head.at + (low - 1) * 8, last, false};
    entry->function = (uintptr_t)table + (uintptr_t)(int32_t)dwarf_number(&row, 4);
    const unsigned char *at = table + (int32_t)dwarf_number(&row, 4);
    if (at < first || at >= last)
        return false;
    const struct dwarf_bytes from = {at, last, false};
    return entry_read(entry, first, from, pc);
}

/* ---- How the registers of the caller are found. ---- */

enum rule_kind { RULE_SAME, RULE_SAVED, RULE_REGISTER, RULE_NOT_KNOWN };

struct rule {
    enum rule_kind kind;
    /*
     * RULE_SAVED: the distance from the frame to the place where the register was saved.
     * RULE_REGISTER: the number of a register.
     */
    int64_t value;
};

struct rules {
    struct rule of[UNWIND_REGISTERS];
    /* the address of the frame is the value of the register with this number, plus `offset` */
    uint64_t base;
    int64_t offset;
};

struct machine {
    const struct entry *entry;
    struct rules rules;
    struct rules initial;
    struct rules remembered[REMEMBERED_MAX];
    size_t remembered_count;
    /*
     * how far the program has come: the distance from the beginning of the function to the code
     * that the program describes now
     */
    uint64_t distance;
    uint64_t end; /* the distance at which the program is to stop */
};

static void rule_set(struct machine *machine, uint64_t number, enum rule_kind kind, int64_t value)
{
    if (number < UNWIND_REGISTERS)
        machine->rules.of[number] = (struct rule){kind, value};
}

static void rule_restore(struct machine *machine, uint64_t number)
{
    if (number < UNWIND_REGISTERS)
        machine->rules.of[number] = machine->initial.of[number];
}

/*
 * Computes where the frame is by an expression. Only one expression is known: that of .plt, the
 * table of calls to other objects. In the code of this table, the frame is at the stack pointer
 * plus 8. Each entry of the table has 16 bytes and pushes a number; behind the push, from byte 11
 * on, the frame is at the stack pointer plus 16.
 */
static void expression_run(struct machine *machine, struct dwarf_bytes *at)
{
    static const uint8_t plt[] = {
        0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}; /* of x86-64 */
    uint64_t size = dwarf_uleb(at);
    const unsigned char *bytes = at->at;
    dwarf_skip(at, size);
    machine->rules.base = UNWIND_REGISTERS; /* never known */
    if (at->is_bad || size != sizeof plt || memcmp(bytes, plt, size) != 0)
        return;
    uintptr_t place = (machine->entry->function + machine->end) & 15;
    machine->rules.base = STACK;
    machine->rules.offset = place >= 11 ? 16 : 8;
}

/*
 * Runs an instruction that says where the frame is. Returns false if `code` is no such instruction.
 */
static bool frame_run(struct machine *machine, struct dwarf_bytes *at, uint64_t code)
{
    struct rules *rules = &machine->rules;
    int64_t data_align = machine->entry->data_align;
    switch (code) {
    case CFA_DEF:
        rules->base = dwarf_uleb(at);
        rules->offset = (int64_t)dwarf_uleb(at);
        return true;
    case CFA_DEF_SIGNED:
        rules->base = dwarf_uleb(at);
        rules->offset = dwarf_sleb(at) * data_align;
        return true;
    case CFA_DEF_REGISTER:
        rules->base = dwarf_uleb(at);
        return true;
    case CFA_DEF_OFFSET:
        rules->offset = (int64_t)dwarf_uleb(at);
        return true;
    case CFA_DEF_OFFSET_SIGNED:
        rules->offset = dwarf_sleb(at) * data_align;
        return true;
    case CFA_DEF_EXPRESSION:
        expression_run(machine, at);
        return true;
    default:
        return false;
    }
}

/* Runs an instruction about one register. Returns false if `code` is no such instruction. */
static bool register_run(struct machine *machine, struct dwarf_bytes *at, uint64_t code)
{
    int64_t data_align = machine->entry->data_align;
    bool is_about_one = (code >= CFA_OFFSET_EXTENDED && code <= CFA_REGISTER) ||
                        (code >= CFA_EXPRESSION && code <= CFA_OFFSET_SIGNED) ||
                        code == CFA_VALUE_EXPRESSION;
    uint64_t number = is_about_one ? dwarf_uleb(at) : 0;
    switch (code) {
    case CFA_OFFSET_EXTENDED:
        rule_set(machine, number, RULE_SAVED, (int64_t)dwarf_uleb(at) * data_align);
        return true;
    case CFA_OFFSET_SIGNED:
        rule_set(machine, number, RULE_SAVED, dwarf_sleb(at) * data_align);
        return true;
    case CFA_RESTORE_EXTENDED:
        rule_restore(machine, number);
        return true;
    case CFA_UNDEFINED:
        rule_set(machine, number, RULE_NOT_KNOWN, 0);
        return true;
    case CFA_SAME:
        rule_set(machine, number, RULE_SAME, 0);
        return true;
    case CFA_REGISTER:
        rule_set(machine, number, RULE_REGISTER, (int64_t)dwarf_uleb(at));
        return true;
    case CFA_EXPRESSION:
    case CFA_VALUE_EXPRESSION:
        rule_set(machine, number, RULE_NOT_KNOWN, 0);
        dwarf_skip(at, dwarf_uleb(at));
        return true;
    default:
        return false;
    }
}

/* Runs any other instruction. Returns false if `code` is not known. */
static bool other_run(struct machine *machine, struct dwarf_bytes *at, uint64_t code)
{
    switch (code) {
    case 0:
    case CFA_SIGNED_RETURN:
        return true;
    case CFA_ADVANCE1:
    case CFA_ADVANCE2:
    case CFA_ADVANCE4:
        machine->distance +=
            dwarf_number(at, (size_t)1 << (code - CFA_ADVANCE1)) * machine->entry->code_align;
        return true;
    case CFA_ARGUMENTS_SIZE:
        (void)dwarf_uleb(at);
        return true;
    case CFA_REMEMBER:
        if (machine->remembered_count == REMEMBERED_MAX)
            return false;
        machine->remembered[machine->remembered_count++] = machine->rules;
        return true;
    case CFA_RESTORE_STATE:
        if (!machine->remembered_count)
            return false;
        machine->rules = machine->remembered[--machine->remembered_count];
        return true;
    default:
        return false;
    }
}

/*
 * Runs a program until it describes code behind the wanted address, or ends. Returns false if an
 * instruction is not known.
 */
static bool program_run(struct machine *machine, struct dwarf_bytes at)
{
    while (at.at < at.end && machine->distance <= machine->end) {
        uint64_t code = dwarf_number(&at, 1);
        uint64_t low = code & 0x3f;
        bool is_good = true;
        if (code >> 6 == CFA_ADVANCE)
            machine->distance += low * machine->entry->code_align;
        else if (code >> 6 == CFA_OFFSET)
            rule_set(
                machine, low, RULE_SAVED, (int64_t)dwarf_uleb(&at) * machine->entry->data_align);
        else if (code >> 6 == CFA_RESTORE)
            rule_restore(machine, low);
        else
            is_good = frame_run(machine, &at, code) || register_run(machine, &at, code) ||
                      other_run(machine, &at, code);
        if (!is_good || at.is_bad)
            return false;
    }
    return true;
}

/* ---- A step. ---- */

/*
 * Guesses the frame of a function, if the register from which it is counted is not known. Looks on
 * the stack for an address to which a call of this very function returns. The bytes of the call
 * instruction before that address show which function it calls: they end with the distance to this
 * function.
 */
static bool frame_guess(const struct unwind *unwind, uintptr_t function, uintptr_t *frame)
{
#if defined(__x86_64__)
    enum { CALL = 0xe8, CALL_SIZE = 5 };
    for (size_t at = 0; at + sizeof(uintptr_t) <= unwind->copy_size; at += sizeof(uintptr_t)) {
        uintptr_t word;
        unsigned char code[CALL_SIZE];
        int32_t distance;
        memcpy(&word, unwind->copy + at, sizeof word);
        uintptr_t address = unwind->copied + at;
        /* Look only for callers in the same object, which is smaller than 2 GiB. */
        if (address < unwind->registers.values[STACK] || word - function + INT32_MAX > UINT32_MAX ||
            tr__own_memory(word - CALL_SIZE, code, sizeof code) != sizeof code || code[0] != CALL)
            continue;
        memcpy(&distance, code + 1, sizeof distance);
        if (word + (uintptr_t)(intptr_t)distance != function)
            continue;
        *frame = address + sizeof word;
        return true;
    }
#else
    (void)unwind;
    (void)function;
    (void)frame;
#endif
    return false;
}

/* Finds the value that a register has in the caller, if that is known. */
static void register_step(struct unwind *unwind, const struct unwind_registers *here,
                          const struct rule *rule, uint64_t number, uintptr_t frame)
{
    uint64_t from = rule->kind == RULE_REGISTER ? (uint64_t)rule->value : number;
    uintptr_t value;
    if (rule->kind == RULE_SAVED) {
        if (word_at(unwind, frame + (uintptr_t)rule->value, &value))
            set(&unwind->registers, number, value);
    } else if (rule->kind != RULE_NOT_KNOWN && is_known(here, from)) {
        set(&unwind->registers, number, here->values[from]);
    }
}

/*
 * Replaces the registers of the function by those of its caller. Returns false if the caller is not
 * known.
 */
static bool rules_apply(struct unwind *unwind, const struct entry *entry, const struct rules *rules)
{
    const struct unwind_registers here = unwind->registers;
    uintptr_t frame = 0;
    if (is_known(&here, rules->base))
        frame = here.values[rules->base] + (uintptr_t)rules->offset;
    else if (rules->base >= UNWIND_REGISTERS || !frame_guess(unwind, entry->function, &frame))
        return false;
    /*
     * Only the innermost function may have a frame of 0 bytes. Otherwise the steps might never end.
     */
    uintptr_t sp = here.values[STACK];
    if (frame < sp || (frame == sp && unwind->is_caller))
        return false;
    unwind->registers.known = 0;
    for (uint64_t i = 0; i < UNWIND_REGISTERS; i++)
        register_step(unwind, &here, &rules->of[i], i, frame);
    set(&unwind->registers, STACK, frame);
    if (!is_known(&unwind->registers, entry->return_register))
        return false;
    uintptr_t pc = unwind->registers.values[entry->return_register];
#if defined(__aarch64__)
    pc &= (UINT64_C(1) << 48) - 1; /* removes the signature of the return address */
#endif
    unwind->pc = pc;
    unwind->is_caller = true;
    return pc != 0;
}

static bool step(struct unwind *unwind, const struct entry *entry)
{
    struct machine machine = {.entry = entry, .rules.base = UNWIND_REGISTERS};
    machine.end = UINT64_MAX;
    if (!program_run(&machine, entry->common))
        return false;
    machine.initial = machine.rules;
    machine.distance = 0;
    machine.end = unwind->pc - unwind->is_caller - entry->function;
    return program_run(&machine, entry->program) && rules_apply(unwind, entry, &machine.rules);
}

struct search {
    struct unwind *unwind;
    uintptr_t pc;
    bool is_done;
};

static bool contains(const struct dl_phdr_info *info, const ElfW(Phdr) * segment, uintptr_t address)
{
    return segment->p_type == PT_LOAD &&
           address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
}

/* dl_iterate_phdr calls this for each object, and no object is unloaded during the call. */
static int on_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct search *search = context;
    const ElfW(Phdr) *table = NULL;
    bool is_here = false;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        is_here |= contains(info, &info->dlpi_phdr[i], search->pc);
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            table = &info->dlpi_phdr[i];
    }
    for (size_t i = 0; is_here && table && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const unsigned char *first =
            (const unsigned char *)(info->dlpi_addr + segment->p_vaddr); /* NOLINT: an address */
        struct entry entry;
        if (!contains(info, segment, info->dlpi_addr + table->p_vaddr) ||
            !entry_find(&entry,
                        first + (table->p_vaddr - segment->p_vaddr),
                        first,
                        first + segment->p_filesz,
                        search->pc))
            continue;
        search->unwind->function = entry.function;
        search->is_done = step(search->unwind, &entry);
    }
    return is_here;
}

bool tr__unwind_step(struct unwind *unwind)
{
    struct search search = {.unwind = unwind, .pc = unwind->pc - unwind->is_caller};
    unwind->function = 0;
    if (is_known(&unwind->registers, STACK))
        (void)dl_iterate_phdr(on_object, &search);
    return search.is_done;
}
