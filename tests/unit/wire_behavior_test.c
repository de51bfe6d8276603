/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The tables that TR_BEHAVIOR makes: rows, set-up, options, and calls with the right arguments.
 */
#include "support/test.h"

#include <troupe/behavior.h>
#include <troupe/self.h>

#include <string.h>

TR_MESSAGE(ping, (u32, number));
TR_MESSAGE(a);
TR_MESSAGE(b);
TR_MESSAGE(c);
TR_MESSAGE(d);
TR_MESSAGE(e);
TR_MESSAGE(f);
TR_MESSAGE(g);
TR_ACTOR(shapes, ping, a, b);

struct shapes {
    int calls;
};

/* What the last handler saw. */
static const void *seen_self, *seen_state, *seen_message;

static tr_next see(const void *self, const void *state, const void *message)
{
    seen_self = self;
    seen_state = state;
    seen_message = message;
    return TR_SAME;
}

static tr_next on_all(tr_self *self, struct shapes *shapes, const struct ping *message)
{
    return see(self, shapes, message);
}
static tr_next on_self_state(tr_self *self, struct shapes *shapes)
{
    return see(self, shapes, NULL);
}
static tr_next on_self_message(tr_self *self, const struct b *message)
{
    return see(self, NULL, message);
}
static tr_next on_state_message(struct shapes *shapes, const struct c *message)
{
    return see(NULL, shapes, message);
}
static tr_next on_self(tr_self *self)
{
    return see(self, NULL, NULL);
}
static tr_next on_state(struct shapes *shapes)
{
    return see(NULL, shapes, NULL);
}
static tr_next on_message(const struct f *message)
{
    return see(NULL, NULL, message);
}
static tr_next on_nothing(void)
{
    see(NULL, NULL, NULL);
    return TR_STOP;
}
static tr_next on_any(tr_self *self, const tr_message *message)
{
    see(self, NULL, message);
    return TR_DECLINE;
}

TR_BEHAVIOR(shapes, struct shapes, TR_ON(ping, on_all), TR_ON(a, on_self_state),
            TR_ON(b, on_self_message), TR_ON(c, on_state_message), TR_ON(d, on_self),
            TR_ON(e, on_state), TR_ON(f, on_message), TR_ON(g, on_nothing), TR_ON_ANY(on_any));

static tr_next set_up(struct shapes *shapes, const struct ping *message)
{
    return see(NULL, shapes, message);
}
static tr_next set_up_alone(tr_self *self)
{
    return see(self, NULL, NULL);
}

TR_BEHAVIOR(fancy, struct shapes, TR_OPTIONS(.is_pinned = true, .ordering = TR_BY_KIND),
            TR_SETUP_WITH(ping, set_up), );
TR_BEHAVIOR(plain, void, TR_SETUP(set_up_alone));
TR_BEHAVIOR(idle, void);

static char self_memory, message_memory;
static struct shapes state;

static tr_next call(size_t row, const void *self, const void *shapes, const void *message)
{
    seen_self = seen_state = seen_message = &seen_self;
    tr_next next = tr_behavior_shapes.handlers[row].call(
        (tr_self *)(void *)&self_memory, &state, &message_memory);
    ck_assert_ptr_eq(seen_self, self);
    ck_assert_ptr_eq(seen_state, shapes);
    ck_assert_ptr_eq(seen_message, message);
    return next;
}

TEST(a_handler_gets_what_it_takes_in_every_shape, "B-01")
{
    const void *self = &self_memory, *message = &message_memory;
    ck_assert_int_eq(call(0, self, &state, message).code, TR_NEXT_SAME);
    call(1, self, &state, NULL);
    call(2, self, NULL, message);
    call(3, NULL, &state, message);
    call(4, self, NULL, NULL);
    call(5, NULL, &state, NULL);
    call(6, NULL, NULL, message);
    ck_assert_int_eq(call(7, NULL, NULL, NULL).code, TR_NEXT_STOP);
    ck_assert_int_eq(call(8, self, NULL, message).code, TR_NEXT_UNHANDLED);
}

TEST(rows_name_their_messages_and_handlers, "B-01")
{
    const tr_behavior *behavior = &tr_behavior_shapes;
    ck_assert_uint_eq(behavior->abi, TR_ABI);
    ck_assert_uint_eq(behavior->size, sizeof(tr_behavior));
    ck_assert_uint_eq(behavior->handler_size, sizeof(tr_handler));
    ck_assert_str_eq(behavior->name, "shapes");
    ck_assert_str_eq(behavior->state_name, "struct shapes");
    ck_assert_uint_eq(behavior->state_size, sizeof(struct shapes));
    ck_assert_uint_eq(behavior->handler_count, 9);
    ck_assert_ptr_eq(behavior->handlers[0].type, &tr_type_ping);
    ck_assert_str_eq(behavior->handlers[0].name, "on_all");
    ck_assert_ptr_null(behavior->handlers[8].type);
    ck_assert_ptr_null(behavior->handlers[9].call);
    ck_assert_ptr_null(behavior->setup.call);
    ck_assert(!behavior->options.is_pinned);
    ck_assert_int_eq(behavior->options.ordering, TR_BY_ARRIVAL);
    ck_assert_str_eq(tr_protocol_shapes, "ping, a, b,");
}

TEST(set_up_and_options_are_in_the_table_in_any_order, "B-01")
{
    const tr_behavior *behavior = &tr_behavior_fancy;
    ck_assert(behavior->options.is_pinned);
    ck_assert_int_eq(behavior->options.ordering, TR_BY_KIND);
    ck_assert_ptr_eq(behavior->setup.type, &tr_type_ping);
    ck_assert_uint_eq(behavior->handler_count, 0);
    behavior->setup.call((tr_self *)(void *)&self_memory, &state, &message_memory);
    ck_assert_ptr_eq(seen_state, &state);
    ck_assert_ptr_eq(seen_message, &message_memory);

    ck_assert_ptr_eq(tr_behavior_plain.setup.type, &tr_type_tr_none);
    ck_assert_uint_eq(tr_behavior_plain.state_size, 0);
    ck_assert_str_eq(tr_behavior_plain.state_name, "void");
    ck_assert_uint_eq(tr_behavior_idle.handler_count, 0);
    ck_assert_ptr_null(tr_behavior_idle.setup.call);
}

TEST(refs_of_every_type_are_the_same_bits, "B-07")
{
    shapes_ref typed = shapes_ref_of(tr_ref_from_bits(0x1234567812345678));
    ck_assert_uint_eq(sizeof(shapes_ref), 8);
    ck_assert_uint_eq(tr_any(typed).bits, 0x1234567812345678);
    ck_assert(tr_is_same(typed, tr_any(typed)));
    ck_assert(!tr_is_nobody(typed));
    ck_assert(tr_is_nobody(TR_NOBODY));
    ck_assert(tr_is_nobody(shapes_ref_of(TR_NOBODY)));
}

SUITE("wire behavior", a_handler_gets_what_it_takes_in_every_shape,
      rows_name_their_messages_and_handlers, set_up_and_options_are_in_the_table_in_any_order,
      refs_of_every_type_are_the_same_bits)
