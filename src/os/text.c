/* SPDX-License-Identifier: Apache-2.0 */
#include "os/text.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    /* the largest number of executable segments of the program and its libraries that are noted */
    RANGES_MAX = 256,
    NAME_MAX_SIZE = 48
};

struct text_range {
    uintptr_t begin;
    uintptr_t end;
    uintptr_t base; /* address at which the object begins */
    enum text_owner owner;
    char name[NAME_MAX_SIZE]; /* name of the object's file, without directories */
};

/*
 * tr__text_map writes the ranges before the signal handler that reads them is installed. Later
 * calls of tr__text_map write the same values again.
 */
static struct text_range ranges[RANGES_MAX];
static size_t range_count;

/*
 * The beginning and the end of the section troupe_text. The linker sets them if the runtime is
 * linked as an archive (see os/text.h), whose code is in this section. Otherwise both are 0.
 */
extern const char archive_begin[] __asm__("__start_troupe_text")
    __attribute__((__weak__, __visibility__("hidden")));
extern const char archive_end[] __asm__("__stop_troupe_text")
    __attribute__((__weak__, __visibility__("hidden")));

/* Names of objects that have locks of their own, and that a program may call without knowing it. */
static const char *const system_names[] = {
    "libc.so",  "libc-",   "ld-linux", "ld-musl", "ld.so",      "ld64.so",   "ld-2.",  "libpthread",
    "libdl.so", "libdl-",  "librt.so", "librt-",  "libgcc_s",   "libstdc++", "libc++", "libunwind",
    "libasan",  "libtsan", "libubsan", "liblsan", "linux-vdso", "linux-gate"};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static enum text_owner owner_of(const char *name)
{
    for (size_t i = 0; i < sizeof system_names / sizeof *system_names; i++) {
        if (begins_with(name, system_names[i]))
            return TEXT_SYSTEM;
    }
    return begins_with(name, "libtroupe.so") ? TEXT_RUNTIME : TEXT_APPLICATION;
}

/* Adds the code of one object to the ranges. */
static int on_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    size_t *count = context;
    const char *name = base_name(info->dlpi_name ? info->dlpi_name : "");
    for (size_t i = 0; i < info->dlpi_phnum && *count < RANGES_MAX; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        struct text_range *range = &ranges[(*count)++];
        range->begin = info->dlpi_addr + segment->p_vaddr;
        range->end = range->begin + segment->p_memsz;
        range->base = info->dlpi_addr;
        range->owner = owner_of(name);
        memset(range->name, 0, sizeof range->name);
        strncpy(range->name, *name ? name : "(program)", sizeof range->name - 1);
    }
    return 0;
}

static struct text_range *range_of(uintptr_t address)
{
    for (size_t i = 0; i < range_count; i++) {
        if (address >= ranges[i].begin && address < ranges[i].end)
            return &ranges[i];
    }
    return NULL;
}

static void own_object(uintptr_t base)
{
    for (size_t i = 0; i < range_count; i++) {
        if (ranges[i].base == base)
            ranges[i].owner = TEXT_SYSTEM;
    }
}

tr_status tr__text_map(void)
{
    size_t count = 0;
    (void)dl_iterate_phdr(on_object, &count);
    range_count = count;
    /* The code of the runtime must be in a section or an object of its own. */
    const struct text_range *own = range_of((uintptr_t)tr__text_map);
    if (!own || (!archive_begin && own->owner != TEXT_RUNTIME))
        return TR_NOT_SUPPORTED;
    /*
     * Find the object that has the allocator. If it is the program itself, the allocator's code cannot be distinguished
     * from the program's code.
     */
    const struct text_range *heap = range_of((uintptr_t)malloc);
    const struct text_range *library = range_of((uintptr_t)abort);
    if (!heap || !library || library->owner != TEXT_SYSTEM || strcmp(heap->name, "(program)") == 0)
        return TR_NOT_SUPPORTED;
    own_object(heap->base);
    return TR_OK;
}

enum text_owner tr__text_owner(uintptr_t address)
{
    if (address >= (uintptr_t)archive_begin && address < (uintptr_t)archive_end)
        return TEXT_RUNTIME;
    const struct text_range *range = range_of(address);
    return range ? range->owner : TEXT_APPLICATION;
}

bool tr__text_is_leaf(uintptr_t function)
{
    /*
     * The C library has several versions of some functions, for different processors. The addresses
     * below are those of the versions for this processor. The first SHARED_LEAVES functions are
     * written in assembly, and jump into code that follows them within SHARED_SIZE bytes.
     */
    enum { SHARED_LEAVES = 4, SHARED_SIZE = 1024 };
#define LEAF(name) (uintptr_t) & (name)
    const uintptr_t leaves[] = {
        LEAF(memcpy),  LEAF(memmove), LEAF(mempcpy),   LEAF(memset),      LEAF(memcmp),
        LEAF(memchr),  LEAF(memrchr), LEAF(rawmemchr), LEAF(memccpy),     LEAF(strlen),
        LEAF(strnlen), LEAF(strcpy),  LEAF(strncpy),   LEAF(stpcpy),      LEAF(stpncpy),
        LEAF(strcat),  LEAF(strncat), LEAF(strcmp),    LEAF(strncmp),     LEAF(strcasecmp),
        LEAF(strchr),  LEAF(strrchr), LEAF(strchrnul), LEAF(strncasecmp), LEAF(strspn),
        LEAF(strcspn), LEAF(strpbrk), LEAF(strstr),
    };
#undef LEAF
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        uintptr_t distance = function - leaves[i];
        if (!distance || (i < SHARED_LEAVES && distance < SHARED_SIZE))
            return true;
    }
    return false;
}

const char *tr__text_object(uintptr_t address, uintptr_t *base)
{
    const struct text_range *range = range_of(address);
    if (!range)
        return NULL;
    *base = range->base;
    return range->name;
}
