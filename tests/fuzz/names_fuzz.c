/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the directory of names against a plain list. NUL separates commands: the first character
 * says whether to add (a), remove (r) or find (anything else) the path that follows.
 */
#include <stdlib.h>
#include <string.h>

#include "actor/cell/names.h"
#include <troupe/limits.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATHS_MAX = 256 };

struct known {
    const char *path;
    struct name *name;
    uint64_t ref;
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* The rule of names, written another way than in the library. */
static bool is_valid(const char *name)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t count = 0;
    while (*name && count <= TR_NAME_MAX) {
        size_t length = strspn(name, allowed);
        if (!length) {
            /* an escape, of a byte that is not allowed as it is */
            static const char digits[] = "0123456789abcdef";
            if (name[0] != '%' || !name[1] || !strchr(digits, name[1]) || !name[2] ||
                !strchr(digits, name[2]))
                return false;
            char byte[2] = {(char)strtol((char[]){name[1], name[2], '\0'}, NULL, 16), '\0'};
            if (byte[0] && strspn(byte, allowed) == 1)
                return false;
            name += 3;
            count++;
            continue;
        }
        name += length;
        count += length;
    }
    return count >= 1 && count <= TR_NAME_MAX;
}

static size_t find(const struct known *known, size_t count, const char *path)
{
    size_t i = 0;
    while (i < count && strcmp(known[i].path, path) != 0)
        i++;
    return i;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct known known[PATHS_MAX];
    struct memory_source source = {.platform = tr_platform_real()};
    size_t count = 0;
    uint64_t ref = 0;
    struct names *names = aligned_alloc(64, (sizeof *names + 63) / 64 * 64);
    char *text = malloc(size + 1);
    require(names && text);
    memcpy(text, data, size);
    text[size] = '\0';
    tr__names_init(names, &source, (struct hash_key){1, 2});
    struct grace_reader reader;
    grace_join(&names->grace, &reader);

    for (char *at = text; at <= text + size; at += strlen(at) + 1) {
        char command = *at;
        const char *path = command ? at + 1 : at;
        require(tr__name_is_valid(path) == is_valid(path));
        size_t place = find(known, count, path);
        uint64_t expected = place < count ? known[place].ref : 0;
        require(tr__names_find(names, &reader, path) == expected);
        /* Paths in the directory are those that the runtime made: of bounded length. */
        if (command == 'a' && count < PATHS_MAX && strlen(path) <= TR_PATH_MAX) {
            struct name *name = NULL;
            tr_status status = tr__names_add(names, path, ++ref, &name);
            require(status == (expected ? TR_NAME_EXISTS : TR_OK));
            if (status == TR_OK) {
                require(strcmp(name->path, path) == 0);
                known[count++] = (struct known){path, name, ref};
            }
        } else if (command == 'r' && expected) {
            tr__names_remove(names, known[place].name);
            known[place] = known[--count];
            require(tr__names_find(names, &reader, path) == 0);
        }
        require(tr__names_count(names) == count);
    }
    tr__names_deinit(names);
    free(text);
    free(names);
    return 0;
}
