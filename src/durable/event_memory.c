/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/event_memory.h"

#include <string.h>
#include <troupe/durable.h>

#include "actor/cell/verb.h"
#include "base/assert.h"

struct loose_block {
    struct loose_block *next;
    _Alignas(SOURCE_ALIGNMENT) unsigned char bytes[];
};

/* Returns the loose_memory that a tr_memory stands for. Returns NULL if the tr_memory belongs to a
 * turn. */
static struct loose_memory *loose_of(tr_memory *memory)
{
    uintptr_t bits = (uintptr_t)memory;
    return bits & 1 ? (struct loose_memory *)(bits - 1) : NULL; // NOLINT(performance-no-int-to-ptr)
}

static void *loose_alloc(struct loose_memory *memory, size_t size)
{
    struct loose_block *block = NULL;
    if (size <= LOOSE_MEMORY_MAX - memory->bytes)
        block = source_resize(memory->source, NULL, sizeof *block + size);
    if (!block)
        memory->on_no_memory(memory->context);
    TR_ASSERT(block);
    memory->bytes += size;
    block->next = memory->blocks;
    memory->blocks = block;
    memset(block->bytes, 0, size);
    return block->bytes;
}

static const void *loose_append(struct loose_memory *memory, const void *items, size_t count,
                                size_t size, const void *item)
{
    size_t bytes = 0;
    for (size_t i = 0; items && i < LOOSE_ARRAYS; i++) {
        if (memory->arrays[i].items == items)
            bytes = memory->arrays[i].bytes;
    }
    if (count >= TR_PAYLOAD_MAX / size)
        memory->on_no_memory(memory->context);
    char *made = (char *)(uintptr_t)items;
    if (!items || (count + 1) * size > bytes) {
        bytes = (count < 4 ? 8 : 2 * count) * size;
        made = loose_alloc(memory, bytes);
        if (count)
            memcpy(made, items, count * size);
        uint32_t at = memory->next_array++ % LOOSE_ARRAYS;
        memory->arrays[at].items = made;
        memory->arrays[at].bytes = bytes;
    }
    memcpy(made + count * size, item, size);
    return made;
}

void tr__loose_memory_free(struct loose_memory *memory)
{
    while (memory->blocks) {
        struct loose_block *block = memory->blocks;
        memory->blocks = block->next;
        source_resize(memory->source, block, 0);
    }
    memory->bytes = 0;
    memset(memory->arrays, 0, sizeof memory->arrays);
}

char *tr_memory_strdup(tr_memory *memory, const char *string)
{
    struct loose_memory *loose = loose_of(memory);
    if (loose) {
        size_t size = string ? strlen(string) + 1 : 0;
        return string ? memcpy(loose_alloc(loose, size), string, size) : NULL;
    }
    tr_self *self = (tr_self *)memory;
    TURN_VERB(self);
    return tr_strdup(self, string);
}

void *tr_memory_alloc(tr_memory *memory, size_t size)
{
    struct loose_memory *loose = loose_of(memory);
    if (loose)
        return loose_alloc(loose, size);
    tr_self *self = (tr_self *)memory;
    TURN_VERB(self);
    return tr_alloc(self, size);
}

const void *tr_memory_append_(tr_memory *memory, const void *items, size_t count, size_t size,
                              const void *item)
{
    struct loose_memory *loose = loose_of(memory);
    if (loose)
        return loose_append(loose, items, count, size, item);
    tr_self *self = (tr_self *)memory;
    TURN_VERB(self);
    return tr_self_append(self, items, count, size, item);
}
