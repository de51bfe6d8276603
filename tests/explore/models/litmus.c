/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The weak memory tried on the classic litmus tests: what C17 allows is found, what it forbids not.
 *
 * Here "wrong" means that the outcome is allowed, and the explorer must find it.
 */
#include "explore/model.h"
#include "os/atomic.h"

enum { WEAK_ORDERS, STRONG_ORDERS };

static atom32 x;
static atom32 y;
static uint32_t seen[4];
static int data;

static void setup(void)
{
    atom32_init(&x, 0);
    atom32_init(&y, 0);
    explore_name(&x, "x");
    explore_name(&y, "y");
    explore_name(&data, "data");
    for (int i = 0; i < 4; i++)
        seen[i] = 9;
}

static memory_order order(memory_order strong, memory_order weak)
{
    return explore_variant() == STRONG_ORDERS ? strong : weak;
}

/* --- message passing: data, then a flag */

static void mp_write(int index)
{
    (void)index;
    explore_plain_write(&data);
    atom32_store(&x, 1, ATOM_RELAXED);
    atom32_store(&y, 1, order(ATOM_RELEASE, ATOM_RELAXED));
}

/* A read-modify-write in between continues the release sequence, whatever its order. */
static void mp_relay(int index)
{
    (void)index;
    uint32_t one = 1;
    atom32_compare_exchange(&y, &one, 2, ATOM_RELAXED, ATOM_RELAXED);
}

static void mp_read(int index)
{
    (void)index;
    if (!atom32_load(&y, order(ATOM_ACQUIRE, ATOM_RELAXED)))
        return;
    explore_plain_read(&data);
    EXPLORE_CHECK(atom32_load(&x, ATOM_RELAXED), "the flag is there and the data are not");
}

#define MP                                                                                         \
    .setup = setup, .threads = {{"writer", mp_write}, {"relay", mp_relay}, {"reader", mp_read}}

EXPLORE_MODEL(litmus_mp_relaxed, .about = "litmus: message passing, relaxed", .ids = "",
              .is_wrong = true, .memory = EXPLORE_WEAK, .variant = WEAK_ORDERS, MP);
EXPLORE_MODEL(litmus_mp, .about = "litmus: message passing, release and acquire", .ids = "",
              .variant = STRONG_ORDERS, MP);

/* --- store buffering: both write one word and read the other */

static void sb(int index)
{
    atom32_store(index ? &y : &x, 1, order(ATOM_SEQ_CST, ATOM_RELEASE));
    seen[index] = atom32_load(index ? &x : &y, order(ATOM_SEQ_CST, ATOM_ACQUIRE));
}

static void sb_check(void)
{
    EXPLORE_CHECK(seen[0] || seen[1], "neither sees the other");
}

#define SB .setup = setup, .check = sb_check, .threads = {{"one", sb}, {"other", sb}}

EXPLORE_MODEL(litmus_sb_acquire, .about = "litmus: store buffering, release and acquire", .ids = "",
              .is_wrong = true, .memory = EXPLORE_WEAK, .variant = WEAK_ORDERS, SB);
EXPLORE_MODEL(litmus_sb, .about = "litmus: store buffering, sequentially consistent", .ids = "",
              .variant = STRONG_ORDERS, SB);

/* --- independent reads of independent writes */

static void iriw_write(int index)
{
    atom32_store(index ? &y : &x, 1, order(ATOM_SEQ_CST, ATOM_RELEASE));
}

static void iriw_read(int index)
{
    bool is_first = index == 2;
    memory_order load = order(ATOM_SEQ_CST, ATOM_ACQUIRE);
    seen[is_first ? 0 : 2] = atom32_load(is_first ? &x : &y, load);
    seen[is_first ? 1 : 3] = atom32_load(is_first ? &y : &x, load);
}

static void iriw_check(void)
{
    bool is_split = seen[0] == 1 && seen[1] == 0 && seen[2] == 1 && seen[3] == 0;
    EXPLORE_CHECK(!is_split, "two readers see the writes in two orders");
}

#define IRIW                                                                                       \
    .setup = setup, .check = iriw_check,                                                           \
    .threads = {{"writer x", iriw_write},                                                          \
                {"writer y", iriw_write},                                                          \
                {"reader xy", iriw_read},                                                          \
                {"reader yx", iriw_read}}

EXPLORE_MODEL(litmus_iriw_acquire, .about = "litmus: independent reads, release and acquire",
              .ids = "", .is_wrong = true, .memory = EXPLORE_WEAK, .variant = WEAK_ORDERS, IRIW);
EXPLORE_MODEL(litmus_iriw, .about = "litmus: independent reads, sequentially consistent", .ids = "",
              .variant = STRONG_ORDERS, IRIW);

/* --- coherence: one word never goes back */

static void co_write(int index)
{
    (void)index;
    for (uint32_t i = 1; i <= 3; i++)
        atom32_store(&x, i, ATOM_RELAXED);
}

static void co_read(int index)
{
    (void)index;
    uint32_t last = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t value = atom32_load(&x, ATOM_RELAXED);
        EXPLORE_CHECK(value >= last, "a word goes back");
        last = value;
    }
}

EXPLORE_MODEL(litmus_coherence, .about = "litmus: a word never goes back", .ids = "",
              .setup = setup, .threads = {{"writer", co_write}, {"reader", co_read}});
