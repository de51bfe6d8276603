/* SPDX-License-Identifier: Apache-2.0 */
#include "app/first_turn.h"

#include <string.h>

/*
 * A copy of the root's behavior and handlers. It is allocated, because threads that have not
 * stopped may use it after the runner has returned.
 */
struct root_copy {
    tr_behavior behavior;
    tr_handler handlers[];
};

/*
 * Returns the handler of a type in a table. If there is none and `or_any`, returns the handler of
 * any type. Returns NULL if there is no handler.
 */
static tr_handler *handler_of(tr_handler *handlers, size_t count, const tr_type *type, bool or_any)
{
    tr_handler *any = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!handlers[i].type)
            any = &handlers[i];
        else if (tr_type_is_equal(handlers[i].type, type))
            return &handlers[i];
    }
    return or_any ? any : NULL;
}

/*
 * Exchanges the function at *place with the function *call. If *place is NULL, only sets *call to
 * NULL.
 */
static void swap(tr_next (**place)(tr_self *, void *, const void *),
                 tr_next (**call)(tr_self *, void *, const void *))
{
    tr_next (*original)(tr_self *, void *, const void *) = place ? *place : NULL;
    if (original)
        *place = *call;
    *call = original;
}

const tr_behavior *tr__first_turn_watch(struct first_turn *first, const tr_behavior *root,
                                        struct first_calls *calls)
{
    size_t count = root->handler_count;
    /* one entry more, because an entry of zeros ends the table */
    size_t handlers_size = (count + 1) * sizeof(tr_handler);
    struct root_copy *copy =
        source_resize(&first->source, NULL, sizeof *first->copy + handlers_size);
    first->copy = copy;
    if (!copy) {
        *calls = (struct first_calls){0};
        return NULL;
    }
    memset(copy->handlers, 0, handlers_size);
    copy->behavior = *root;
    if (count) {
        memcpy(copy->handlers, root->handlers, count * sizeof *copy->handlers);
        copy->behavior.handlers = copy->handlers;
    }
    tr_handler *handler = handler_of(copy->handlers, count, &tr_type_tr_args, true);
    if (!handler)
        handler = handler_of(copy->handlers, count, &tr_type_tr_pre_start, false);
    swap(handler ? &handler->call : NULL, &calls->turn);
    swap(&copy->behavior.setup.call, &calls->setup);
    return calls->turn || calls->setup ? &copy->behavior : root;
}

void tr__first_turn_free(struct first_turn *first)
{
    first->copy = source_resize(&first->source, first->copy, 0);
}
