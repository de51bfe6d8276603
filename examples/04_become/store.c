/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Become: a store is loading, then open, then closed; each is a behavior of its own.
 */
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(row, (u32, number), (str, text));
TR_MESSAGE(no_row, (u32, number), (str, why));
TR_REQUEST(get_row, row, (u32, number));
TR_MESSAGE(load, (u32, rows));
TR_MESSAGE(close_store, (str, why));
TR_ACTOR(store, load, get_row);

TR_BEHAVIOR_DECLARE(store_open);
TR_BEHAVIOR_DECLARE(store_closed);

/* Loading: there are no rows yet. */

struct store {
    uint32_t rows;
};

static tr_next on_get_row_early(tr_self *self, const struct get_row *message)
{
    return tr_reply(self, no_row, .number = message->number, .why = "still loading");
}

static tr_next on_load(tr_self *self, struct store *store, const struct load *message)
{
    store->rows = message->rows;
    return tr_become(self, store_open); /* The same type of state: it is kept. */
}

TR_BEHAVIOR(store, struct store, TR_ON(get_row, on_get_row_early), TR_ON(load, on_load));

/* Open. */

static tr_next on_get_row(tr_self *self, struct store *store, const struct get_row *message)
{
    if (message->number >= store->rows)
        return tr_reply(self, no_row, .number = message->number, .why = "there are fewer");
    return tr_reply(self,
                    row,
                    .number = message->number,
                    .text = tr_format(self, "row number %u", message->number));
}

static tr_next on_close(tr_self *self, const struct close_store *message)
{
    return tr_become(self, store_closed, close_store, .why = message->why);
}

TR_BEHAVIOR(store_open, struct store, TR_ON(get_row, on_get_row), TR_ON(close_store, on_close));

/* Closed: another state, which its set-up fills in. */

struct closed {
    char *why;
};

static tr_next set_up_closed(tr_self *self, struct closed *closed,
                             const struct close_store *message)
{
    closed->why = tr_strdup(self, message->why);
    return TR_SAME;
}

static tr_next on_get_row_late(tr_self *self, struct closed *closed, const struct get_row *message)
{
    return tr_reply(self, no_row, .number = message->number, .why = closed->why);
}

TR_BEHAVIOR(store_closed, struct closed, TR_SETUP_WITH(close_store, set_up_closed),
            TR_ON(get_row, on_get_row_late));

/* The root asks four times. */

static tr_next on_start(tr_self *self)
{
    store_ref store = tr_spawn(self, store, "store");
    tr_tell(self, store, get_row, .number = 0);
    tr_tell(self, store, load, .rows = 3);
    tr_tell(self, store, get_row, .number = 1);
    tr_tell(self, store, get_row, .number = 2);
    tr_tell(self, store, get_row, .number = 3);
    tr_tell(self, tr_any(store), close_store, .why = "it is Sunday");
    tr_tell(self, store, get_row, .number = 4);
    return TR_SAME;
}

static tr_next on_row(const struct row *message)
{
    printf("%u: %s\n", message->number, message->text);
    return TR_SAME;
}

static tr_next on_no_row(const struct no_row *message)
{
    printf("%u: none, %s\n", message->number, message->why);
    return message->number == 4 ? TR_STOP : TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_pre_start, on_start), TR_ON(row, on_row), TR_ON(no_row, on_no_row));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
