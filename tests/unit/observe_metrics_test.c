/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The page of metrics of a program with more behaviors and handlers than it may have series for.
 */
#include "support/kits.h"

#include "actor/cell/system.h"
#include "observe/handlers.h"
#include "observe/metrics.h"

TR_MESSAGE(poke);
TR_ACTOR(poked, poke);

static tr_next on_poke(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(poked, void, TR_ON(poke, on_poke));

enum { BEHAVIORS = 400 };

static tr_behavior behaviors[BEHAVIORS];
static char names[BEHAVIORS][16];
static tr_handler handlers[BEHAVIORS][1];

/* Starts an actor of each behavior, and sends it messages. The behaviors are copies of one, with other names. */
static void behaviors_start(tr_ref *actors)
{
    for (size_t i = 0; i < BEHAVIORS; i++) {
        uint64_t bits;
        snprintf(names[i], sizeof names[i], "poked_%zu", i);
        behaviors[i] = tr_behavior_poked;
        behaviors[i].name = names[i];
        ck_assert_uint_eq(tr_behavior_poked.handler_count, 1);
        handlers[i][0] = tr_behavior_poked.handlers[0];
        behaviors[i].handlers = handlers[i];
        const tr_spawn_args args = {.size = sizeof args, .behavior = &behaviors[i], .worker = -1};
        ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
        actors[i] = tr_ref_from_bits(bits);
    }
    tr_kit_settle(kit);
}

static size_t series_count(const char *text, const char *name)
{
    size_t count = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += *line && *line != '#' && (!name || strncmp(line, name, strlen(name)) == 0);
    }
    return count;
}

static void play_many(void)
{
    static const struct poke message;
    static tr_ref actors[BEHAVIORS];
    tr_system *system = tr_kit_system(kit);
    struct json_line text;
    behaviors_start(actors);
    tr__handlers_watch(system);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < BEHAVIORS; i++) {
            ck_assert_int_eq(tr_client_tell(test, actors[i], &tr_type_poke, &message), TR_OK);
            tr_kit_settle(kit);
        }
        tr_kit_advance(kit, TR_SECOND);
    }
    tr__json_line_init(&text, &system->source);
    tr__metrics_write(&text, system);
    tr__json_put(&text, "", 1);
    ck_assert(!text.has_failed);
    size_t count = series_count(text.data, NULL);
    ck_assert_msg(count <= METRICS_SERIES_MAX, "%zu series", count);
    /* The limit has cut something, and left something of each part. */
    size_t shown = series_count(text.data, "troupe_behavior_actors{");
    ck_assert_uint_gt(shown, 100);
    ck_assert_uint_lt(shown, BEHAVIORS);
    ck_assert_uint_gt(series_count(text.data, "troupe_turn_seconds_count{"), 10);
    ck_assert_uint_lt(series_count(text.data, "troupe_turn_seconds_count{"), BEHAVIORS);
    ck_assert_uint_gt(series_count(text.data, "troupe_worker_handled_total{"), 0);
    tr__json_line_free(&text);
}

TEST(a_page_has_at_most_so_many_series, "O-14")
{
    kit_open(3, 1);
    play_many();
    kit_close();
}

SUITE("observe metrics", a_page_has_at_most_so_many_series)
