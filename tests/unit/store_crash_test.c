/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Power cuts on a disk in memory: at every write, sync, truncation and deletion of a scenario the disk is
 * copied, what was not synced is kept, dropped, torn or spoiled, and a store is opened on what is left. Now and
 * then the power goes again while that store recovers, at every step.
 */
#include "support/ledger.h"

struct world {
    struct store_disk *disk;
    struct ledger *ledger;
    struct rng rng;
    uint64_t points;
    enum disk_crash how;
    unsigned tries; /* at each point */
    unsigned again; /* one of so many points has a second cut, at every step after it */
    bool is_in;     /* a point is under way: what it does is no point itself */
    bool is_canary;
};

static unsigned losses; /* that the canary is to find */

static tr_status on_io(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size);

/* A store on what is left: all that was acknowledged is there, and it continues. */
static void check_copy(struct world *world, enum disk_crash how)
{
    struct store_disk *copy;
    ck_assert_int_eq(tr__disk_clone(world->disk, &copy), TR_OK);
    tr__disk_crash(copy, how, &world->rng);
    struct store_options options = stores_options(copy);
    struct ledger after = *world->ledger;
    struct world second = {
        .disk = copy, .ledger = &after, .rng = world->rng, .how = how, .tries = 1};
    if (world->again && world->points % world->again == 0)
        tr__disk_hook(copy, (struct store_io_hook){on_io, &second});
    struct store *store = NULL;
    tr_error error = {0};
    tr_status status = tr__store_open(&options, &store, &error);
    if (world->is_canary) {
        struct store_state state;
        struct store_reader *reader = status == TR_OK ? stores_reader(store) : NULL;
        if (status != TR_OK ||
            tr__store_read_state(reader, "k", stores_bytes(ledger_key(0)), &state) != TR_OK ||
            state.version < after.acknowledged[0])
            losses++;
        tr__store_reader_free(reader);
    } else {
        ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
        ck_assert_uint_gt(tr__store_epoch(store), after.epoch);
        ledger_check(&after, store);
        if (world->points % 16 == 0) {
            ledger_adopt(&after, store);
            ledger_enter(&after, store);
            ledger_round(&after);
            for (size_t i = 0; i < LEDGER_ACTORS; i++)
                ck_assert_int_eq(after.outcomes[i], TR_OK);
            ledger_leave(&after);
            ledger_check(&after, store);
        }
    }
    if (status == TR_OK)
        tr__store_close(store);
    tr__disk_free(copy);
    world->points += second.points;
}

static tr_status on_io(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size)
{
    (void)file;
    (void)offset;
    (void)size;
    struct world *world = context;
    if (io == STORE_IO_READ || world->is_in)
        return TR_OK;
    world->is_in = true;
    for (unsigned i = 0; i < world->tries; i++) {
        world->points++;
        check_copy(world, world->how);
    }
    world->is_in = false;
    return TR_OK;
}

struct scene {
    unsigned openings;
    unsigned rounds;
    unsigned log_pages; /* few, so that the log is tidied now and then */
};

static void play(struct world *world, struct scene scene)
{
    struct ledger ledger = {0};
    world->ledger = &ledger;
    world->disk = stores_disk(true);
    tr__disk_hook(world->disk, (struct store_io_hook){on_io, world});
    struct store_options options = stores_options(world->disk);
    options.log_pages = scene.log_pages;
    options.is_sync_off = world->is_canary;
    for (unsigned i = 0; i < scene.openings; i++) {
        struct store *store = stores_open(&options);
        ledger_enter(&ledger, store);
        for (unsigned j = 0; j < scene.rounds; j++)
            ledger_round(&ledger);
        ledger_leave(&ledger);
        tr__store_close(store);
    }
    tr__disk_free(world->disk);
}

/* A long run draws scene after scene until it has enough points: 200,000 in the five ways together, ten
 * seconds for each 5,000. */
static void cut_everywhere_by(enum disk_crash how, uint64_t seed)
{
    bool is_chance = how > DISK_CRASH_DROP;
    uint64_t points = test_scale(100, 40000);
    struct world world = {.how = how, .tries = is_chance && test_is_long() ? 2 : 1};
    world.again = test_is_long() ? 31 : 211;
    rng_init(&world.rng, seed);
    play(&world,
         (struct scene){TEST_HAS_SANITIZER ? 1 : 2, TEST_HAS_SANITIZER ? 2 : 3, .log_pages = 60});
    while (world.points < points) {
        play(&world,
             (struct scene){.openings = 1 + (unsigned)rng_below(&world.rng, 4),
                            .rounds = 1 + (unsigned)rng_below(&world.rng, 12),
                            .log_pages = 8 + (unsigned)rng_below(&world.rng, 250)});
    }
    printf("%llu power cuts\n", (unsigned long long)world.points);
    ck_assert_uint_ge(world.points, 100);
}

static void cut_everywhere(enum disk_crash how)
{
    cut_everywhere_by(how, test_seed());
}

TEST(the_end_of_a_process_loses_nothing_acknowledged, "K-09", "PE-01")
{
    cut_everywhere(DISK_CRASH_KEEP);
}

TEST(a_power_cut_that_drops_all_unsynced_loses_nothing_acknowledged, "K-09", "PE-01", "PE-15",
     "PE-22")
{
    cut_everywhere(DISK_CRASH_DROP);
}

TEST(a_power_cut_within_a_write_loses_nothing_acknowledged, "K-09", "PE-11", "PE-15", "PE-22")
{
    cut_everywhere(DISK_CRASH_ORDER);
}

TEST(a_power_cut_that_mixes_sectors_loses_nothing_acknowledged, "K-09", "PE-11", "PE-15", "PE-22")
{
    cut_everywhere(DISK_CRASH_MIX);
}

/* What is left of a header in two sectors looked like the end of a transaction, and the store refused to open. */
TEST(a_power_cut_between_the_halves_of_a_header_is_no_spoiled_log, "K-09", "PE-15")
{
    cut_everywhere_by(DISK_CRASH_MIX, UINT64_C(0x7a2b714e138db02f));
    cut_everywhere_by(DISK_CRASH_MIX, UINT64_C(0x3b7eef00cdd71051));
}

TEST(a_power_cut_that_leaves_garbage_loses_nothing_acknowledged, "K-09", "PE-11", "PE-15", "PE-22")
{
    cut_everywhere(DISK_CRASH_WASTE);
}

TEST(a_store_that_does_not_sync_is_found_out, "PE-01")
{
    struct world world = {.how = DISK_CRASH_DROP, .tries = 1, .is_canary = true};
    rng_init(&world.rng, test_seed());
    play(&world, (struct scene){.openings = 1, .rounds = 2, .log_pages = 60});
    ck_assert_uint_gt(losses, 5);
}

SUITE("store crash", the_end_of_a_process_loses_nothing_acknowledged,
      a_power_cut_that_drops_all_unsynced_loses_nothing_acknowledged,
      a_power_cut_within_a_write_loses_nothing_acknowledged,
      a_power_cut_that_mixes_sectors_loses_nothing_acknowledged,
      a_power_cut_between_the_halves_of_a_header_is_no_spoiled_log,
      a_power_cut_that_leaves_garbage_loses_nothing_acknowledged,
      a_store_that_does_not_sync_is_found_out)
