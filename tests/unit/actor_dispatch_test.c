/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a worker finds handlers: where types are in the table of a behavior, known ones and new ones.
 */
#include "support/test.h"

#include <troupe/troupe.h>

#include "actor/cell/dispatch.h"
#include "os/virtual.h"

TR_MESSAGE(red, (u64, n));
TR_MESSAGE(orange, (u64, n));
TR_MESSAGE(yellow, (u64, n));
TR_MESSAGE(green, (u64, n));
TR_MESSAGE(blue, (u64, n));
TR_MESSAGE(violet, (u64, n));
TR_MESSAGE(grey, (u64, n)); /* for which there is no handler */

/* None of them is called. */
static tr_next on_red(const struct red *message)
{
    (void)message;
    return TR_SAME;
}

static tr_next on_orange(const struct orange *message)
{
    (void)message;
    return TR_SAME;
}

static tr_next on_yellow(const struct yellow *message)
{
    (void)message;
    return TR_SAME;
}

static tr_next on_green(const struct green *message)
{
    (void)message;
    return TR_SAME;
}

static tr_next on_blue(const struct blue *message)
{
    (void)message;
    return TR_SAME;
}

static tr_next on_violet(const struct violet *message)
{
    (void)message;
    return TR_SAME;
}

TR_BEHAVIOR(painter, void, TR_ON(red, on_red), TR_ON(orange, on_orange), TR_ON(yellow, on_yellow),
            TR_ON(green, on_green), TR_ON(blue, on_blue), TR_ON(violet, on_violet));

static tr_next on_any(const tr_message *message)
{
    (void)message;
    return TR_SAME;
}

TR_BEHAVIOR(dauber, void, TR_ON(red, on_red), TR_ON_ANY(on_any));

static const tr_type *const colors[] = {
    &tr_type_red, &tr_type_orange, &tr_type_yellow, &tr_type_green, &tr_type_blue, &tr_type_violet};
enum { COLORS = sizeof colors / sizeof *colors };

struct desk {
    struct virtual_platform *virtual;
    struct dispatches dispatches;
};

static struct desk desk_new(void)
{
    struct desk desk = {.virtual = tr__virtual_new(1)};
    struct memory_source source = {.platform = &desk.virtual->table};
    tr__dispatches_init(&desk.dispatches, &source, 0);
    return desk;
}

static void desk_free(struct desk *desk)
{
    tr__dispatches_deinit(&desk->dispatches);
    ck_assert_uint_eq(tr__virtual_live_blocks(desk->virtual), 0);
    tr__virtual_free(desk->virtual);
}

static const tr_handler *quick_row(const struct dispatch *dispatch, const tr_type *type)
{
    const struct dispatch_entry *entry = dispatch_place(dispatch, type);
    if (entry->quick != type)
        return NULL;
    ck_assert_ptr_eq(entry->type, type);
    ck_assert(entry->call == entry->handler->call);
    return entry->handler;
}

TEST(every_type_of_a_behavior_is_at_its_first_place, "B-01")
{
    struct desk desk = desk_new();
    struct dispatch *dispatch = tr__dispatch_of(&desk.dispatches, &tr_behavior_painter);
    ck_assert_ptr_nonnull(dispatch);
    for (size_t i = 0; i < COLORS; i++)
        ck_assert_ptr_eq(quick_row(dispatch, colors[i]), &tr_behavior_painter.handlers[i]);
    desk_free(&desk);
}

/* The same messages as other files declare them: some at addresses that belong where another one is. */
TEST(new_addresses_of_known_types_get_first_places_too, "B-01", "B-06")
{
    struct desk desk = desk_new();
    struct dispatch *dispatch = tr__dispatch_of(&desk.dispatches, &tr_behavior_painter);
    static tr_type others[COLORS];
    for (size_t i = 0; i < COLORS; i++) {
        others[i] = *colors[i];
        ck_assert_ptr_null(quick_row(dispatch, &others[i]));
        ck_assert_ptr_eq(dispatch_find(&desk.dispatches, dispatch, &others[i]),
                         &tr_behavior_painter.handlers[i]);
    }
    for (size_t i = 0; i < COLORS; i++) {
        ck_assert_ptr_eq(quick_row(dispatch, &others[i]), &tr_behavior_painter.handlers[i]);
        ck_assert_ptr_eq(quick_row(dispatch, colors[i]), &tr_behavior_painter.handlers[i]);
    }
    desk_free(&desk);
}

/* Far more addresses than a factor can keep apart; then more than a table may learn. */
TEST(any_number_of_addresses_is_found, "B-01", "B-06")
{
    enum { MANY = 5000 };
    struct desk desk = desk_new();
    struct dispatch *dispatch = tr__dispatch_of(&desk.dispatches, &tr_behavior_painter);
    static tr_type others[MANY];
    for (size_t i = 0; i < MANY; i++)
        others[i] = *colors[i % COLORS];
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < MANY; i++)
            ck_assert_ptr_eq(dispatch_find(&desk.dispatches, dispatch, &others[i]),
                             &tr_behavior_painter.handlers[i % COLORS]);
    }
    for (size_t i = 0; i < COLORS; i++)
        ck_assert_ptr_eq(dispatch_find(&desk.dispatches, dispatch, colors[i]),
                         &tr_behavior_painter.handlers[i]);
    desk_free(&desk);
}

TEST(what_is_for_any_type_or_for_none_is_never_quick, "B-01", "B-02")
{
    struct desk desk = desk_new();
    struct dispatch *strict = tr__dispatch_of(&desk.dispatches, &tr_behavior_painter);
    struct dispatch *lax = tr__dispatch_of(&desk.dispatches, &tr_behavior_dauber);
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_null(quick_row(strict, &tr_type_grey));
        ck_assert_ptr_null(dispatch_find(&desk.dispatches, strict, &tr_type_grey));
        ck_assert_ptr_null(quick_row(lax, &tr_type_grey));
        ck_assert_ptr_eq(dispatch_find(&desk.dispatches, lax, &tr_type_grey), lax->any);
    }
    /* A place that is free has no type, and is not that of a message without one. */
    ck_assert_ptr_null(quick_row(strict, NULL));
    ck_assert_ptr_null(quick_row(lax, NULL));
    desk_free(&desk);
}

/*
 * Where descriptors are differs from run to run. What a run asks for of memory must not, or an allocation that
 * failed in it could not be made to fail again.
 */
TEST(memory_does_not_depend_on_addresses, "V-02")
{
    enum { PLACES = 512, TRIES = 300 };
    static tr_type places[PLACES];
    static tr_handler rows[COLORS];
    uint64_t chance = 1;
    uint64_t needed = 0;
    for (int try = 0; try < TRIES; try++) {
        tr_behavior behavior = tr_behavior_painter;
        const tr_type *later[COLORS];
        for (size_t i = 0; i < 2 * COLORS; i++) {
            chance = chance * UINT64_C(6364136223846793005) + 1;
            /* A part of the places for each, so that no two meet. */
            tr_type *type = &places[i * (PLACES / (2 * COLORS)) +
                                    (size_t)(chance >> 33) % (PLACES / (2 * COLORS))];
            *type = *colors[i % COLORS];
            if (i < COLORS) {
                rows[i] = tr_behavior_painter.handlers[i];
                rows[i].type = type;
            } else {
                later[i - COLORS] = type;
            }
        }
        behavior.handlers = rows;
        struct desk desk = desk_new();
        struct dispatch *dispatch = tr__dispatch_of(&desk.dispatches, &behavior);
        for (size_t i = 0; i < COLORS; i++)
            ck_assert_ptr_eq(dispatch_find(&desk.dispatches, dispatch, later[i]), &rows[i]);
        for (size_t i = 0; i < COLORS; i++)
            ck_assert_ptr_eq(dispatch_find(&desk.dispatches, dispatch, rows[i].type), &rows[i]);
        uint64_t allocations = desk.virtual->allocations;
        if (try == 0)
            needed = allocations;
        ck_assert_uint_eq(allocations, needed);
        desk_free(&desk);
    }
}

SUITE("actor dispatch", every_type_of_a_behavior_is_at_its_first_place,
      new_addresses_of_known_types_get_first_places_too, any_number_of_addresses_is_found,
      what_is_for_any_type_or_for_none_is_never_quick, memory_does_not_depend_on_addresses)
