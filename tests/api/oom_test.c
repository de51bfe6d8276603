/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Out of memory at every allocation: each scenario runs once for every n, with the n-th allocation
 * refused, and once more with all from the n-th on. Whatever is refused is a status or the end of
 * a turn; nothing is lost or leaked (the kit aborts), and afterwards everything works again.
 */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

static tr_kit *kit;
static tr_client *test;

TR_MESSAGE(small, (u64, n));
TR_MESSAGE(big, (array(u8, 3000), bytes));
TR_MESSAGE(row, (str, name), (list(u32), numbers));
TR_MESSAGE(deep_one, (str, text), (list(message(row)), rows), (bytes, data), (buffer, shared));
TR_MESSAGE(perform, (i32, what), (ref, to));
TR_MESSAGE(echo_please, (u64, n));
TR_MESSAGE(echoed, (u64, n));

enum what {
    SPAWN_NEAR,
    SPAWN_NAMED,
    SPAWN_WITH,
    SPAWN_FAR,
    SPAWN_SURELY,
    TELL_SMALL,
    TELL_LARGE,
    TELL_DEEP,
    BECOME_WIDE,
    BECOME_WITH,
    MEMORY,
    MEMORY_SURELY,
    CHILDREN,
    TREE,
    CRASH
};

#define MANY 80
#define FEW 25 /* of those that allocate a lot each */

/* What a verb may say when memory is short. */
static bool is_fair(tr_status status)
{
    return status == TR_OK || status == TR_NO_MEMORY || status == TR_STOPPED ||
           status == TR_INIT_FAILED || status == TR_STOPPING || status == TR_NAME_EXISTS;
}
#define FAIR(call) ck_assert_msg(is_fair(call), "%s", #call)

/* ---- Actors. ---- */

TR_ACTOR(sink, small, big, deep_one, echo_please, perform);
struct sink {
    uint64_t taken;
};
static tr_next on_small(struct sink *s)
{
    s->taken++;
    return TR_SAME;
}
static tr_next on_deep(struct sink *s, const struct deep_one *m)
{
    s->taken++;
    ck_assert_str_eq(m->text, "text");
    for (size_t i = 0; i < m->rows.count; i++)
        ck_assert_str_eq(m->rows.items[i].name, "row");
    return TR_SAME;
}
static tr_next on_echo(tr_self *self, const struct echo_please *m)
{
    return tr_reply(self, echoed, .n = m->n);
}
static tr_next on_forward(tr_self *self, const struct perform *m)
{
    return tr_forward(self, m->to);
}
TR_BEHAVIOR(sink, struct sink, TR_ON(small, on_small), TR_ON(big, on_small),
            TR_ON(deep_one, on_deep), TR_ON(echo_please, on_echo), TR_ON(perform, on_forward));

/* A set-up that takes memory of all kinds. */
TR_ACTOR(rich, small);
struct rich {
    char *kept;
    char state[300];
};
static int cleaners;
static void uncount(void *counter)
{
    --*(int *)counter;
}
static tr_next rich_set_up(tr_self *self, struct rich *r, const struct row *m)
{
    cleaners++;
    tr_at_end(self, &cleaners, uncount);
    r->kept = tr_strdup(self, m->name);
    (void)tr_format(self, "%s %zu", m->name, m->numbers.count);
    (void)tr_alloc(self, 5000);
    (void)tr_spawn(self, sink, NULL);
    return TR_SAME;
}
static tr_next rich_start(tr_self *self)
{
    (void)tr_scratch(self, 100000);
    return TR_SAME;
}
static tr_next rich_small(struct rich *r)
{
    ck_assert_str_eq(r->kept, "row");
    return TR_SAME;
}
TR_BEHAVIOR(rich, struct rich, TR_SETUP_WITH(row, rich_set_up), TR_ON(tr_pre_start, rich_start),
            TR_ON(small, rich_small), TR_ON(tr_post_stop, rich_start));

TR_ACTOR(worker, perform, small);
TR_BEHAVIOR_DECLARE(wide);
static const uint32_t numbers[] = {1, 2, 3, 4, 5};

static void spawn_some(tr_self *self, enum what what)
{
    for (int i = 0; i < (what == SPAWN_WITH ? FEW : MANY); i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        sink_ref s;
        rich_ref r;
        if (what == SPAWN_WITH)
            FAIR(tr_try_spawn(self, &r, rich, NULL, row, .name = "row", .numbers = {numbers, 5}));
        else if (what == SPAWN_FAR)
            FAIR(tr_try_spawn_at(self, &s, i % 2, sink, i % 3 ? NULL : name));
        else
            FAIR(tr_try_spawn(self, &s, sink, what == SPAWN_NAMED ? name : NULL));
    }
}

static void tell_some(tr_self *self, enum what what, tr_ref to)
{
    static const struct big zeros;
    for (int i = 0; i < 10 * MANY; i++) {
        if (what == TELL_SMALL)
            FAIR(tr_tell(self, to, small, .n = 1));
        else if (what == TELL_LARGE)
            FAIR(tr_tell_copy(self, to, big, &zeros));
        if (what != TELL_SMALL && i > MANY)
            break;
        if (what != TELL_DEEP)
            continue;
        struct row rows[3];
        for (int k = 0; k < 3; k++)
            rows[k] = (struct row){.name = "row", .numbers = {numbers, 5}};
        tr_buffer *shared = tr_buffer_new(10);
        FAIR(tr_tell(self,
                     to,
                     deep_one,
                     .text = "text",
                     .rows = {rows, 3},
                     .data = {numbers, sizeof numbers},
                     .shared = shared));
        tr_buffer_release(shared);
    }
}

static tr_next use_memory(tr_self *self, bool is_sure)
{
    char *blocks[40] = {NULL};
    for (size_t i = 0; i < 40; i++) {
        size_t size = (i * i + 1) * 13;
        char *block = is_sure ? tr_alloc(self, size) : tr_try_alloc(self, size);
        if (block)
            memset(block, 1, size);
        char *more =
            is_sure ? tr_realloc(self, block, 2 * size) : tr_try_realloc(self, block, 2 * size);
        blocks[i] = more ? more : block;
        char *scratch = is_sure ? tr_scratch(self, size) : tr_try_scratch(self, size);
        if (scratch)
            memset(scratch, 2, size);
        if (more)
            ck_assert_int_eq(more[2 * size - 1], 0);
        if (!is_sure)
            continue;
        cleaners++;
        tr_at_end(self, &cleaners, uncount);
        if (i < 10) {
            cleaners++;
            tr_defer(self, &cleaners, uncount);
        }
        ck_assert_str_eq(tr_strdup(self, "kept"), "kept");
        ck_assert_str_eq(tr_format(self, "%s%d", "x", 1), "x1");
        if (i < 10)
            tr_buffer_keep(self, tr_buffer_of_turn(self, 100));
    }
    for (size_t i = 0; i < 40; i += 2)
        tr_free(self, blocks[i]);
    return TR_SAME;
}

static tr_next count_children(tr_self *self)
{
    static tr_ref refs[2 * MANY];
    spawn_some(self, SPAWN_NAMED);
    spawn_some(self, SPAWN_NEAR);
    size_t count = tr_children(self, refs, 2 * MANY);
    ck_assert_uint_le(count, 2 * MANY);
    for (size_t i = 0; i < count; i++)
        FAIR(i % 2 ? tr_stop_child(self, refs[i]) : tr_kill(self, refs[i]));
    (void)tr_child(self, sink, "n5");
    return TR_SAME;
}

static tr_next on_perform(tr_self *self, const struct perform *m)
{
    worker_ref child;
    switch ((enum what)m->what) {
    case SPAWN_NEAR:
    case SPAWN_NAMED:
    case SPAWN_WITH:
    case SPAWN_FAR:
        spawn_some(self, (enum what)m->what);
        return TR_SAME;
    case SPAWN_SURELY:
        for (int i = 0; i < FEW; i++)
            (void)tr_spawn(self, rich, NULL, row, .name = "row");
        return TR_SAME;
    case TELL_SMALL:
    case TELL_LARGE:
    case TELL_DEEP:
        tell_some(self, (enum what)m->what, m->to);
        return TR_SAME;
    case BECOME_WIDE:
        return tr_become(self, wide);
    case BECOME_WITH:
        return tr_become(self, rich, row, .name = "row", .numbers = {numbers, 5});
    case MEMORY:
        return use_memory(self, false);
    case MEMORY_SURELY:
        return use_memory(self, true);
    case CHILDREN:
        return count_children(self);
    case TREE:
        for (int i = 0; i < 4 && m->to.bits < 4; i++) {
            if (tr_try_spawn(self, &child, worker, NULL) == TR_OK)
                FAIR(tr_tell(self, child, perform, .what = TREE, .to.bits = m->to.bits + 1));
        }
        return TR_SAME;
    case CRASH:
        cleaners++;
        tr_at_end(self, &cleaners, uncount);
        tr_crash(self, TR_FAILED, "on purpose");
    }
    return TR_SAME;
}
TR_BEHAVIOR(worker, void, TR_ON(perform, on_perform));
TR_BEHAVIOR(wide, struct rich, TR_ON(perform, on_perform));

/* ---- Scenarios. ---- */

static worker_ref actor;
static sink_ref sink;

static void prepare(void)
{
    kit = tr_kit_new(&(tr_kit_options){.workers = 2});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn(test, &actor, worker, "actor"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &sink, 1, sink, "sink"), TR_OK);
    tr_kit_settle(kit);
}

static void perform_twice(enum what what)
{
    FAIR(tr_tell(test, actor, perform, .what = (int32_t)what, .to = tr_any(sink)));
    tr_kit_settle(kit);
    FAIR(tr_tell(test, actor, perform, .what = (int32_t)what, .to = tr_any(sink)));
    tr_kit_settle(kit);
}

#define SCENARIO(name, what)                                                                       \
    static void name(void)                                                                         \
    {                                                                                              \
        perform_twice(what);                                                                       \
    }
SCENARIO(spawn_near, SPAWN_NEAR)
SCENARIO(spawn_named, SPAWN_NAMED)
SCENARIO(spawn_with_setup, SPAWN_WITH)
SCENARIO(spawn_far, SPAWN_FAR)
SCENARIO(spawn_surely, SPAWN_SURELY)
SCENARIO(tell_small, TELL_SMALL)
SCENARIO(tell_large, TELL_LARGE)
SCENARIO(tell_deep, TELL_DEEP)
SCENARIO(become_wide, BECOME_WIDE)
SCENARIO(become_with, BECOME_WITH)
SCENARIO(memory, MEMORY)
SCENARIO(memory_surely, MEMORY_SURELY)
SCENARIO(children, CHILDREN)
SCENARIO(crash, CRASH)

static void clients(void)
{
    tr_client *made[20] = {NULL};
    for (int i = 0; i < 20; i++) {
        FAIR(tr_client_new(tr_kit_system(kit), &made[i]));
        if (!made[i])
            continue;
        FAIR(tr_tell(made[i], sink, echo_please, .n = 5));
        FAIR(tr_tell(made[i], sink, echo_please, .n = 6));
        const struct echoed *e = tr_receive(made[i], echoed, TR_SECOND);
        if (e)
            ck_assert_uint_ge(e->n, 5);
    }
    for (int i = 0; i < 20; i++)
        tr_client_free(made[i]);
}

static void client_tells(void)
{
    for (int i = 0; i < 300; i++) {
        FAIR(tr_tell(test, sink, small, .n = 1));
        FAIR(tr_tell(test, sink, deep_one, .text = "text"));
    }
    tr_kit_settle(kit);
}

static void client_spawns(void)
{
    for (int i = 0; i < FEW; i++) {
        rich_ref r = {0};
        char name[16];
        snprintf(name, sizeof name, "r%d", i);
        tr_status status = tr_try_spawn(test, &r, rich, name, row, .name = "row");
        FAIR(status);
        if (status != TR_OK)
            continue;
        tr_error error;
        status = tr_spawn_wait(test, r, TR_SECOND, &error);
        ck_assert_msg(is_fair(status) || status == TR_TIMEOUT, "%s", tr_status_name(status));
        FAIR(i % 2 ? tr_stop(test, r) : tr_kill(test, r));
    }
}

static void forwards(void)
{
    for (int i = 0; i < 100; i++)
        FAIR(tr_tell(test, sink, perform, .what = BECOME_WIDE, .to = tr_any(actor)));
    tr_kit_settle(kit);
    for (int i = 0; i < 100; i++)
        FAIR(tr_tell(test, sink, perform, .to = TR_NOBODY));
    tr_kit_settle(kit);
}

static void stop_tree(void)
{
    FAIR(tr_tell(test, actor, perform, .what = TREE));
    tr_kit_settle(kit);
    FAIR(tr_stop(test, actor));
    tr_kit_settle(kit);
}

static void kill_tree(void)
{
    FAIR(tr_tell(test, actor, perform, .what = TREE));
    FAIR(tr_kill(test, actor));
    tr_kit_settle(kit);
}

static void dead_letters(void)
{
    FAIR(tr_system_subscribe_dead_letters(tr_kit_system(kit), tr_client_ref(test)));
    FAIR(tr_system_subscribe_dead_letters(tr_kit_system(kit), tr_any(sink)));
    for (int i = 0; i < 200; i++) {
        FAIR(tr_tell(test, TR_NOBODY, small));
        FAIR(tr_tell(test, tr_any(actor), echoed));
    }
    tr_kit_settle(kit);
    while (tr_receive(test, tr_dead_letter, 0))
        ;
}

static void many_types(void)
{
    static tr_type types[300];
    for (size_t i = 0; i < 300; i++) {
        types[i] = tr_type_small;
        const struct small message = {i};
        FAIR(tr_client_tell(test, i % 2 ? tr_any(sink) : tr_any(actor), &types[i], &message));
    }
    tr_kit_settle(kit);
}

static void find_them(void)
{
    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "/user/f%d", i);
        sink_ref s = {0};
        tr_status status = tr_try_spawn(test, &s, sink, name + 6);
        FAIR(status);
        ck_assert_uint_eq(tr_find(test, sink, name).bits, s.bits);
    }
    tr_kit_settle(kit);
}

/* ---- Every n. ---- */

static void must_work_again(void)
{
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    sink_ref s = {0};
    ck_assert_int_eq(tr_try_spawn(test, &s, sink, "again"), TR_OK);
    ck_assert_int_eq(tr_tell(test, s, echo_please, .n = 77), TR_OK);
    const struct echoed *e = tr_receive(test, echoed, TR_SECOND);
    while (e && e->n != 77)
        e = tr_receive(test, echoed, TR_SECOND);
    ck_assert_ptr_nonnull(e);
    ck_assert(tr_is_same(tr_find(test, sink, "/user/again"), s));
}

/* gcc and AddressSanitizer see each n. A sample will do for another compiler, and for ThreadSanitizer, which makes a
 * kit a hundred times slower and sees one thread only. */
#if defined(__SANITIZE_THREAD__) || defined(__clang__)
enum { HAS_SAMPLE = 1 };
#else
enum { HAS_SAMPLE = 0 };
#endif

static void every_n(void (*scenario)(void))
{
    uint64_t runs = 0;
    for (int all_after = 0; all_after < 2; all_after++) {
        for (uint64_t n = 1;; n += HAS_SAMPLE ? 1 + n / 4 : 1) {
            prepare();
            uint64_t before = tr_kit_allocations(kit);
            tr_kit_fail_allocation(kit, n, all_after);
            scenario();
            bool was_reached = tr_kit_allocations(kit) - before >= n;
            must_work_again();
            tr_kit_free(kit);
            ck_assert_int_eq(cleaners, 0);
            runs++;
            ck_assert_uint_lt(n, 20000);
            if (!was_reached)
                break;
        }
    }
    /* At least one allocation was refused, in each of the two ways. */
    ck_assert_uint_ge(runs, 4);
}

#define EVERY_N(name)                                                                              \
    TEST(oom_in_##name, "U-03", "M-04")                                                            \
    {                                                                                              \
        every_n(name);                                                                             \
    }
EVERY_N(spawn_near)
EVERY_N(spawn_named)
EVERY_N(spawn_with_setup)
EVERY_N(spawn_far)
EVERY_N(spawn_surely)
EVERY_N(tell_small)
EVERY_N(tell_large)
EVERY_N(tell_deep)
EVERY_N(become_wide)
EVERY_N(become_with)
EVERY_N(memory)
EVERY_N(memory_surely)
EVERY_N(children)
EVERY_N(crash)
EVERY_N(clients)
EVERY_N(client_tells)
EVERY_N(client_spawns)
EVERY_N(forwards)
EVERY_N(stop_tree)
EVERY_N(kill_tree)
EVERY_N(dead_letters)
EVERY_N(many_types)
EVERY_N(find_them)

SUITE("out of memory", oom_in_spawn_near, oom_in_spawn_named, oom_in_spawn_with_setup,
      oom_in_spawn_far, oom_in_spawn_surely, oom_in_tell_small, oom_in_tell_large, oom_in_tell_deep,
      oom_in_become_wide, oom_in_become_with, oom_in_memory, oom_in_memory_surely, oom_in_children,
      oom_in_crash, oom_in_clients, oom_in_client_tells, oom_in_client_spawns, oom_in_forwards,
      oom_in_stop_tree, oom_in_kill_tree, oom_in_dead_letters, oom_in_many_types, oom_in_find_them)
