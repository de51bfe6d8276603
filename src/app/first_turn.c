/* SPDX-License-Identifier: Apache-2.0 */
#include "app/first_turn.h"

#include <string.h>

/*
 * Returns the handler for a type, or with `or_any` also the handler for any type; NULL: there is
 * none.
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

const tr_behavior *tr__first_turn_watch(struct first_turn *first, const tr_behavior *root,
                                        tr_next (*instead)(tr_self *self, void *state,
                                                           const void *message),
                                        tr_next (**original)(tr_self *self, void *state,
                                                             const void *message))
{
    size_t count = root->handler_count;
    *original = NULL;
    first->behavior = *root;
    if (count) {
        size_t size = (count + 1) * sizeof *first->handlers; /* zeros follow the last one */
        first->handlers = source_resize(&first->source, NULL, size);
        if (!first->handlers)
            return NULL;
        memset(first->handlers, 0, size);
        memcpy(first->handlers, root->handlers, count * sizeof *first->handlers);
        first->behavior.handlers = first->handlers;
    }
    tr_handler *handler = handler_of(first->handlers, count, &tr_type_tr_args, true);
    if (!handler)
        handler = handler_of(first->handlers, count, &tr_type_tr_pre_start, false);
    tr_next (**place)(tr_self *, void *, const void *) =
        handler ? &handler->call : &first->behavior.setup.call;
    if (!*place)
        return root;
    *original = *place;
    *place = instead;
    return &first->behavior;
}

void tr__first_turn_free(struct first_turn *first)
{
    first->handlers = source_resize(&first->source, first->handlers, 0);
}
