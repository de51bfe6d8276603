/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls on the large stack: from several fibers, one after the other, with more stack than a fiber has.
 */
#include "fiber/aside.h"

#include "os/virtual.h"
#include "support/test.h"

#include <string.h>

enum { DEEP = 512 * 1024 };

struct scene {
    struct fiber_host host;
    struct fiber_pool pool;
    struct aside aside;
    unsigned calls;
    unsigned long sum;
    const void *last; /* an address in the frame of the last call */
};

/* Touches much more than a fiber has. */
static void dive(void *context)
{
    struct scene *scene = context;
    volatile char bytes[DEEP];
    memset((char *)(uintptr_t)bytes, 1, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        scene->sum += (unsigned long)bytes[i];
    scene->calls++;
    scene->last = __builtin_frame_address(0);
}

static bool is_within(const struct fiber_side *side, const void *address)
{
    return (const char *)address >= (const char *)side->low &&
           (const char *)address < (const char *)side->low + side->size;
}

static void act(void *context)
{
    struct scene *scene = context;
    struct fiber *fiber = scene->host.current;
    ck_assert_int_eq(tr__aside_init(&scene->aside, &scene->pool), TR_OK);
    tr__aside_call(&scene->aside, &scene->host, dive, scene);
    ck_assert_ptr_eq(scene->host.current, fiber);
    ck_assert(is_within(&scene->aside.fiber.side, scene->last));
    tr__fiber_yield(&scene->host);
    for (int i = 0; i < 3; i++)
        tr__aside_call(&scene->aside, &scene->host, dive, scene);
    ck_assert_ptr_eq(scene->host.current, fiber);
}

TEST(calls_on_the_large_stack_return_to_their_fiber, "K-03")
{
    struct virtual_platform *platform = tr__virtual_new(1);
    static struct scene scene;
    struct fiber *fibers[2];
    tr__fiber_host_init(&scene.host);
    ck_assert_int_eq(tr__fiber_pool_init(&scene.pool, &platform->table, FIBER_STACK_SIZE, 0),
                     TR_OK);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(tr__fiber_new(&scene.pool, act, &scene, &fibers[i]), TR_OK);
    for (int i = 0; i < 2; i++)
        ck_assert_ptr_eq(tr__fiber_resume(&scene.host, fibers[i]), fibers[i]);
    for (int i = 0; i < 2; i++)
        ck_assert_ptr_null(tr__fiber_resume(&scene.host, fibers[i]));
    ck_assert_uint_eq(scene.calls, 8);
    ck_assert_uint_eq(scene.sum, 8ul * DEEP);
    tr__aside_deinit(&scene.aside);
    tr__aside_deinit(&scene.aside);
    tr__fiber_pool_deinit(&scene.pool);
    ck_assert_uint_eq(tr__virtual_live_blocks(platform), 0);
    tr__virtual_free(platform);
}

SUITE("fiber aside", calls_on_the_large_stack_return_to_their_fiber)
