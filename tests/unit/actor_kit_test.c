/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The kit finds what is wrong: a message that is not accounted for, an actor that is not, memory
 * that leaks. Each case plants one such fault.
 */
#include "actor/cell/system.h"
#include "support/test.h"

#include <troupe/kit.h>
#include <troupe/troupe.h>

TR_MESSAGE(note, (u64, n));
static tr_next on_note(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(taker, void, TR_ON(note, on_note));
TR_ACTOR(taker, note);

static tr_kit *kit_in_use(void)
{
    tr_kit *kit = tr_kit_new(NULL);
    taker_ref taker = {0};
    if (tr_try_spawn(tr_kit_client(kit), &taker, taker, "taker") != TR_OK)
        ck_abort();
    for (int i = 0; i < 10; i++)
        tr_tell(tr_kit_client(kit), taker, note);
    tr_kit_check(kit);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    return kit;
}

TEST(a_kit_in_use_is_sound, "M-04")
{
    tr_kit_free(kit_in_use());
}

TEST_ABORTS(a_message_that_was_lost_is_found, "M-04")
{
    tr_kit *kit = kit_in_use();
    atom64_fetch_add(&tr_kit_system(kit)->foreign.counters.accepted, 1, ATOM_RELAXED);
    tr_kit_check(kit);
}

TEST_ABORTS(an_actor_that_was_lost_is_found, "M-04")
{
    tr_kit *kit = kit_in_use();
    atom64_fetch_add(&tr_kit_system(kit)->foreign.counters.spawned, 1, ATOM_RELAXED);
    tr_kit_check(kit);
}

TEST_ABORTS(memory_that_leaks_is_found, "U-03")
{
    tr_kit *kit = kit_in_use();
    (void)source_resize(&tr_kit_system(kit)->source, NULL, 10);
    tr_kit_free(kit);
}

SUITE("actor kit", a_kit_in_use_is_sound, a_message_that_was_lost_is_found,
      an_actor_that_was_lost_is_found, memory_that_leaks_is_found)
