/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Slots: a ref finds its own cell and no other, whatever is there yet.
 */
#include "support/test.h"

#include "actor/cell/slots.h"
#include "support/fake_memory.h"

enum { ACTORS = 3 * SLOTS_CHUNK, SEED = 0x5eed };

static struct fake_memory memory;
static struct memory_source source;
static struct slots slots;

static void begin(void)
{
    source = fake_memory_init(&memory);
    ck_assert_int_eq(tr__slots_init(&slots, &source, ACTORS, (uint64_t)SEED << 32 | SEED << 16),
                     TR_OK);
}

static void end(void)
{
    tr__slots_deinit(&slots);
    ck_assert_uint_eq(memory.blocks, 0);
}

/* A cell with a tenant, as far as a ref can see. */
static struct cell *let(void)
{
    struct cell *cell = NULL;
    ck_assert_int_eq(tr__slot_take(&slots, NULL, &cell), TR_OK);
    door_open(&cell->door, cell->identity, 0, false);
    return cell;
}

/* Refs that differ from a real one in one bit, and those of no generation. */
static void expect_no_neighbour(uint64_t ref)
{
    for (int bit = 0; bit < 64; bit++) {
        const struct cell *found = slots_find(&slots, ref ^ UINT64_C(1) << bit);
        ck_assert(!found || found->identity == (ref ^ UINT64_C(1) << bit));
    }
    for (uint64_t slot = 0; slot <= slots.mask; slot++)
        ck_assert_ptr_null(slots_find(&slots, slot));
}

TEST(a_ref_of_nobody_finds_nobody, "LC-14", "U-02")
{
    begin();
    ck_assert_ptr_null(slots_find(&slots, 0));
    ck_assert_ptr_null(slots_find(&slots, UINT64_MAX));
    expect_no_neighbour(0);
    expect_no_neighbour(let()->identity);
    end();
}

TEST(a_ref_finds_its_cell_and_no_other, "LC-14", "U-02")
{
    begin();
    for (uint32_t slot = 1; slot <= ACTORS; slot++) {
        bool is_there = slot % SLOTS_CHUNK != 0;
        ck_assert(slot < SLOTS_CHUNK || (slots_at(&slots, slot) != NULL) == is_there);
        struct cell *cell = let();
        ck_assert_uint_eq(slots_number(&slots, cell), slot);
        ck_assert_ptr_eq(slots_find(&slots, cell->identity), cell);
        ck_assert_ptr_eq(slots_at(&slots, slot), cell);
        if (slot % 97 == 0)
            expect_no_neighbour(cell->identity);
    }
    end();
}

/* Of a chunk that is not there the first stands in the map: its tenants must not answer for it. */
TEST(a_slot_that_is_not_there_is_none, "LC-14", "U-02")
{
    begin();
    const struct cell *cell = let();
    for (uint32_t slot = SLOTS_CHUNK; slot <= slots.mask; slot++)
        ck_assert_ptr_null(slots_at(&slots, slot));
    uint64_t far = cell->identity + SLOTS_CHUNK;
    ck_assert_ptr_eq(slots_map_at(&(struct slots_map){slots.chunks, slots.mask}, (uint32_t)far),
                     cell);
    ck_assert_ptr_null(slots_find(&slots, far));
    end();
}

TEST(a_ref_of_one_who_is_gone_finds_nobody, "LC-14")
{
    begin();
    struct cell *cell = let();
    uint64_t first = cell->identity;
    atom64_store(&cell->door.ref, 0, ATOM_RELAXED);
    ck_assert_ptr_null(slots_find(&slots, first));
    tr__slot_give(&slots, NULL, cell);
    ck_assert_ptr_eq(let(), cell);
    ck_assert_ptr_null(slots_find(&slots, first));
    ck_assert_ptr_eq(slots_find(&slots, cell->identity), cell);
    end();
}

TEST(without_memory_there_are_none, "U-02")
{
    for (size_t i = 1; i <= 2; i++) {
        source = fake_memory_init(&memory);
        memory.fail_at = i;
        ck_assert_int_eq(tr__slots_init(&slots, &source, ACTORS, SEED), TR_NO_MEMORY);
        tr__slots_deinit(&slots);
        ck_assert_uint_eq(memory.blocks, 0);
    }
}

SUITE("actor slots", a_ref_of_nobody_finds_nobody, a_ref_finds_its_cell_and_no_other,
      a_slot_that_is_not_there_is_none, a_ref_of_one_who_is_gone_finds_nobody,
      without_memory_there_are_none)
