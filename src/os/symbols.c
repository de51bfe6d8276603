/* SPDX-License-Identifier: Apache-2.0 */
#include "os/symbols.h"

#include "os/lines.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OBJECT_PATH_MAX = 512 };

/* ---- The object that an address is in. ---- */

struct object {
    uintptr_t address; /* the address to look for */
    uintptr_t base;
    bool is_found;
    char path[OBJECT_PATH_MAX];
};

static int on_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct object *object = context;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || object->address < begin ||
            object->address - begin >= segment->p_memsz)
            continue;
        object->base = info->dlpi_addr;
        object->is_found = true;
        const char *path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
        (void)snprintf(object->path, sizeof object->path, "%s", path);
        return 1;
    }
    return 0;
}

/* Writes a short name of the object, for people. */
static void object_name(const struct object *object, char *name, size_t size)
{
    char target[OBJECT_PATH_MAX];
    const char *path = object->path;
    if (strcmp(path, "/proc/self/exe") == 0) {
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        path = target;
    }
    const char *slash = strrchr(path, '/');
    (void)snprintf(name, size, "%.*s", (int)size - 1, slash ? slash + 1 : path);
}

/* ---- Its file. ---- */

struct image {
    const unsigned char *data;
    size_t size;
    const ElfW(Shdr) * sections;
    size_t section_count;
    const char *names;
    size_t names_size;
};

static const void *image_at(const struct image *image, uint64_t offset, uint64_t size)
{
    if (offset > image->size || size > image->size - offset)
        return NULL;
    return image->data + offset;
}

static bool image_open(struct image *image, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct stat about;
    void *data = MAP_FAILED;
    if (fstat(fd, &about) == 0 && about.st_size > (off_t)sizeof(ElfW(Ehdr)))
        data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    (void)close(fd);
    if (data == MAP_FAILED)
        return false;
    *image = (struct image){.data = data, .size = (size_t)about.st_size};
    const ElfW(Ehdr) *head = data;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(ElfW(Shdr)) ||
        head->e_shstrndx >= head->e_shnum)
        return true; /* the file has no sections, so it has no symbols */
    image->sections = image_at(image, head->e_shoff, (uint64_t)head->e_shnum * sizeof(ElfW(Shdr)));
    if (!image->sections)
        return true;
    const ElfW(Shdr) *names = &image->sections[head->e_shstrndx];
    image->names = image_at(image, names->sh_offset, names->sh_size);
    image->names_size = names->sh_size;
    image->section_count = image->names ? head->e_shnum : 0;
    return true;
}

static void image_close(const struct image *image)
{
    (void)munmap((void *)(uintptr_t)image->data, image->size);
}

static struct lines_section section_data(const struct image *image, const ElfW(Shdr) * section)
{
    struct lines_section found = {0};
    if (!section || section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED)
        return found;
    found.data = image_at(image, section->sh_offset, section->sh_size);
    found.size = found.data ? section->sh_size : 0;
    return found;
}

static struct lines_section section_named(const struct image *image, const char *name)
{
    size_t length = strlen(name) + 1;
    for (size_t i = 0; i < image->section_count; i++) {
        const ElfW(Shdr) *section = &image->sections[i];
        if (section->sh_name < image->names_size &&
            image->names_size - section->sh_name >= length &&
            memcmp(image->names + section->sh_name, name, length) == 0)
            return section_data(image, section);
    }
    return (struct lines_section){0};
}

/* ---- Functions. ---- */

static bool symbol_covers(const ElfW(Sym) * symbol, uint64_t address)
{
    /* this macro also fits the symbols of 32-bit files */
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return type == STT_FUNC && symbol->st_shndx != SHN_UNDEF && address >= symbol->st_value &&
           address - symbol->st_value < symbol->st_size;
}

/* Looks in a symbol table for the function that contains the address. */
static bool function_in(const struct image *image, const ElfW(Shdr) * table, uint64_t address,
                        char *name, size_t size)
{
    struct lines_section symbols = section_data(image, table);
    if (table->sh_link >= image->section_count)
        return false;
    struct lines_section texts = section_data(image, &image->sections[table->sh_link]);
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)(const void *)symbols.data;
    for (size_t count = symbols.size / sizeof *symbol; count; count--, symbol++) {
        if (!symbol_covers(symbol, address) || symbol->st_name >= texts.size)
            continue;
        const char *text = (const char *)texts.data + symbol->st_name;
        size_t length = strnlen(text, texts.size - symbol->st_name);
        /*
         * Compilers give copies and parts of a function names such as "on_work.isra.0" and
         * "on_work.cold". Cut the name at the dot.
         */
        const char *dot = memchr(text, '.', length);
        if (dot && dot > text)
            length = (size_t)(dot - text);
        if (length >= size)
            length = size - 1;
        memcpy(name, text, length);
        name[length] = '\0';
        return length > 0;
    }
    return false;
}

static void function_find(const struct image *image, uint64_t address, struct symbol *symbol)
{
    /*
     * Look first in the table of all symbols. A stripped file has only the table of exported
     * symbols.
     */
    static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (size_t j = 0; j < image->section_count; j++) {
            const ElfW(Shdr) *section = &image->sections[j];
            if (section->sh_type == tables[i] &&
                function_in(image, section, address, symbol->function, sizeof symbol->function))
                return;
        }
    }
}

static void symbols_look(uintptr_t address, struct symbol *symbol)
{
    struct object object = {.address = address};
    struct image image;
    *symbol = (struct symbol){.offset = address};
    (void)dl_iterate_phdr(on_object, &object);
    if (!object.is_found)
        return;
    symbol->offset = address - object.base;
    object_name(&object, symbol->object, sizeof symbol->object);
    if (!image_open(&image, object.path))
        return;
    function_find(&image, symbol->offset, symbol);
    const struct lines_tables tables = {
        .line = section_named(&image, ".debug_line"),
        .line_str = section_named(&image, ".debug_line_str"),
        .str = section_named(&image, ".debug_str"),
    };
    if (!tr__lines_find(
            &tables, symbol->offset, symbol->file, sizeof symbol->file, &symbol->line)) {
        symbol->file[0] = '\0';
        symbol->line = 0;
    }
    image_close(&image);
}

void tr__symbol_find(struct symbol_cache *cache, uintptr_t address, struct symbol *symbol)
{
    size_t index = (address ^ address >> 6 ^ address >> 12) & (SYMBOL_CACHE_SIZE - 1);
    if (cache && address && cache->addresses[index] == address) {
        *symbol = cache->symbols[index];
        return;
    }
    symbols_look(address, symbol);
    if (cache) {
        cache->addresses[index] = address;
        cache->symbols[index] = *symbol;
    }
}

int tr__symbol_print(const struct symbol *symbol, char *text, size_t size)
{
    unsigned long long offset = symbol->offset;
    if (!symbol->object[0])
        return snprintf(text, size, "0x%llx", offset);
    if (!symbol->function[0] && !symbol->line)
        return snprintf(text, size, "%s+0x%llx", symbol->object, offset);
    const char *function = symbol->function[0] ? symbol->function : "?";
    if (!symbol->line)
        return snprintf(text, size, "%s (%s+0x%llx)", function, symbol->object, offset);
    return snprintf(text, size, "%s (%s:%u)", function, symbol->file, symbol->line);
}
