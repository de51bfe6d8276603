/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/event_past.h"

#include <string.h>
#include <troupe/wire.h>

#include "actor/cell/system.h"
#include "durable/event_memory.h"
#include "durable/shapes.h"
#include "fiber/fiber.h"
#include "wire/shape.h"

struct event_past {
    const struct durable_kind *kind;
    const struct memory_source *source;
    const tr_type *type;
    void *block; /* memory of the state if it was read; NULL: the state is in `zero` */
    void *zero;  /* memory of a state that began as zeros */
    bool is_known;
    struct loose_memory memory;
    /* The next members are the fiber on whose stack apply functions run. */
    struct fiber_pool pool;
    struct fiber_host host;
    const tr_event_row *row; /* row of the event whose apply function runs on the fiber */
    const void *event;
    bool has_returned;
};

/* Leaves the stack of an apply function. The apply function never continues. */
static void on_no_memory(void *context)
{
    struct event_past *past = context;
    tr__fiber_end(&past->host, NULL);
}

tr_status tr__event_past_new(const struct memory_source *source, const struct durable_kind *kind,
                             struct event_past **made)
{
    if (!kind->declared->options.events || kind->host->system->options.traps_faults)
        return TR_NOT_SUPPORTED;
    const tr_type *type = kind->declared->state;
    struct event_past *past = source_resize(source, NULL, sizeof *past);
    if (!past)
        return TR_NO_MEMORY;
    *past = (struct event_past){
        .kind = kind,
        .source = source,
        .type = type,
        .memory = {.source = source, .on_no_memory = on_no_memory, .context = past}};
    past->zero = source_resize(source, NULL, type->size ? type->size : 1);
    if (past->zero &&
        tr__fiber_pool_init(&past->pool, source->platform, FIBER_STACK_SIZE, 0) == TR_OK) {
        tr__fiber_host_init(&past->host);
        *made = past;
        return TR_OK;
    }
    source_resize(source, past->zero, 0);
    source_resize(source, past, 0);
    return TR_NO_MEMORY;
}

void tr__event_past_forget(struct event_past *past)
{
    tr_message_free(past->type, past->block);
    tr__loose_memory_free(&past->memory);
    past->block = NULL;
    past->is_known = false;
}

void tr__event_past_free(struct event_past *past)
{
    if (!past)
        return;
    tr__event_past_forget(past);
    tr__fiber_pool_deinit(&past->pool);
    source_resize(past->source, past->zero, 0);
    source_resize(past->source, past, 0);
}

/* Unpacks stored bytes. Their shape must equal the shape in the code. */
static tr_status same_unpack(const struct durable_kind *kind, const tr_type *type, tr_bytes stored,
                             void **block)
{
    uint64_t hash;
    tr_bytes packed = tr__shape_front_read(stored, &hash);
    if (hash && hash != tr__shape_of(kind, type))
        return TR_WRONG_SHAPE;
    return tr_unpack(type, packed, block, NULL);
}

bool tr__event_past_begin(struct event_past *past, uint32_t version, tr_bytes snapshot)
{
    tr__event_past_forget(past);
    if (snapshot.size) {
        past->is_known = version == past->kind->version &&
                         same_unpack(past->kind, past->type, snapshot, &past->block) == TR_OK;
        return past->is_known;
    }
    memset(past->zero, 0, past->type->size);
    past->is_known = true;
    return true;
}

static void apply_main(void *context)
{
    struct event_past *past = context;
    void *state = past->block ? past->block : past->zero;
    past->row->apply(state, past->event, loose_memory_as(&past->memory));
    past->has_returned = true;
}

/* Calls the apply function of an event. Returns false if memory has run out. */
static bool apply_call(struct event_past *past)
{
    struct fiber *fiber;
    past->has_returned = false;
    if (tr__fiber_new(&past->pool, apply_main, past, &fiber) != TR_OK)
        return false;
    fiber = tr__fiber_resume(&past->host, fiber);
    TR_ASSERT(!fiber);
    return past->has_returned;
}

bool tr__event_past_apply(struct event_past *past, tr_bytes event)
{
    struct event_head head;
    void *block = NULL;
    if (!past->is_known)
        return false;
    past->row = tr__event_head_read(event, &head) ? tr__event_row_of(past->kind, &head) : NULL;
    bool is_read =
        past->row && same_unpack(past->kind, past->row->type, head.rest, &block) == TR_OK;
    past->event = block;
    bool is_applied = is_read && apply_call(past);
    if (is_read)
        tr_message_free(past->row->type, block);
    if (!is_applied)
        tr__event_past_forget(past);
    return is_applied;
}

const void *tr__event_past_state(const struct event_past *past)
{
    if (!past->is_known)
        return NULL;
    return past->block ? past->block : past->zero;
}

bool tr__event_head_read(tr_bytes event, struct event_head *head)
{
    const char *name = event.data;
    const unsigned char *at = event.data;
    size_t name_size = event.size ? strnlen(name, event.size) + 1 : 1;
    if (name_size + 4 > event.size)
        return false;
    at += name_size;
    *head = (struct event_head){.name = name,
                                .version = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                                           (uint32_t)at[3] << 24,
                                .rest = {at + 4, event.size - name_size - 4}};
    return true;
}

const tr_event_row *tr__event_row_of(const struct durable_kind *kind, const struct event_head *head)
{
    const tr_events *events = kind->declared->options.events;
    for (size_t i = 0; events && i < events->row_count; i++) {
        const tr_event_row *row = &events->rows[i];
        if (row->apply && strcmp(row->type->name, head->name) == 0)
            return head->version == (row->version ? row->version : 1) ? row : NULL;
    }
    return NULL;
}
