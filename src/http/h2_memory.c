/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory that nghttp2 allocates. If an allocation of nghttp2 fails, nghttp2 frees some of its
 * records twice. So each block is in a list of its connection. After such a failure nghttp2 is not
 * called again, and all blocks in the list are freed.
 */
#include "http/h2_memory.h"

#include <string.h>

#include "http/h2_inside.h"

struct block {
    struct list link; /* link in h2_session.blocks */
};
static_assert(sizeof(struct block) % SOURCE_ALIGNMENT == 0, "what is behind it is aligned");

static void *block_keep(struct h2_session *session, struct block *block)
{
    if (!block) {
        session->is_starved = true;
        return NULL;
    }
    list_push_last(&session->blocks, &block->link);
    return block + 1;
}

static void *on_realloc(void *memory, size_t size, void *context)
{
    struct h2_session *session = context;
    struct block *old = memory ? (struct block *)memory - 1 : NULL;
    if (size > SIZE_MAX - sizeof *old)
        return NULL;
    if (old)
        list_remove(&old->link);
    struct block *block = source_resize(session->source, old, sizeof *block + size);
    if (!block && old)
        list_push_last(&session->blocks, &old->link);
    return block_keep(session, block);
}

static void *on_malloc(size_t size, void *context)
{
    return on_realloc(NULL, size, context);
}

static void *on_calloc(size_t count, size_t size, void *context)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    void *memory = on_malloc(count * size, context);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

static void on_free(void *memory, void *context)
{
    const struct h2_session *session = context;
    struct block *block = memory ? (struct block *)memory - 1 : NULL;
    if (!block)
        return;
    list_remove(&block->link);
    source_resize(session->source, block, 0);
}

void tr__h2_memory_init(struct h2_session *session)
{
    session->memory = (nghttp2_mem){session, on_malloc, on_free, on_calloc, on_realloc};
    list_init(&session->blocks);
}

void tr__h2_memory_free(struct h2_session *session)
{
    struct list *link;
    while ((link = list_pop_first(&session->blocks)))
        source_resize(session->source, LIST_OWNER(link, struct block, link), 0);
}
