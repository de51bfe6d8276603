/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Names and paths: which are valid, who owns one, and when it is free again.
 */
#include "support/stage.h"

#include <pthread.h>

TR_MESSAGE(note, (u64, n));
TR_MESSAGE(deeper, (u32, levels), (str, name));
TR_MESSAGE(whereabouts, (str, path), (str, name));
TR_REQUEST(where, whereabouts);

TR_ACTOR(plain, note, where);
static tr_next plain_note(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

static tr_next plain_where(tr_self *self)
{
    ck_assert_str_eq(strrchr(tr_path(self), '/') + 1, tr_name(self));
    return tr_reply(self, whereabouts, .path = tr_path(self), .name = tr_name(self));
}
TR_BEHAVIOR(plain, void, TR_ON(note, plain_note), TR_ON(where, plain_where));

/* ---- Which names are valid. ---- */

static tr_status status_of_name(struct stage *stage, const char *name)
{
    plain_ref plain;
    tr_error error = {.status = TR_OK};
    tr_status status = tr_try_spawn_error(stage->client, &plain, &error, plain, name);
    ck_assert_int_eq(error.status, status);
    if (status == TR_OK) {
        char path[TR_NAME_MAX + 8];
        tr_kit_settle(stage->kit);
        snprintf(path, sizeof path, "/user/%s", name);
        ck_assert(tr_is_same(tr_find(stage->client, plain, path), plain));
        tr_stop(stage->client, plain);
        tr_kit_settle(stage->kit);
        ck_assert(tr_is_nobody(tr_find(stage->client, plain, path)));
    }
    return status;
}

static void play_valid_names(struct stage *stage)
{
    static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    char name[TR_NAME_MAX + 8];
    for (int c = 1; c < 256; c++) {
        tr_status expected = strchr(good, c) ? TR_OK : TR_NAME_INVALID;
        snprintf(name, sizeof name, "%c", c);
        ck_assert_int_eq(status_of_name(stage, name), expected);
        snprintf(name, sizeof name, "a%c", c);
        ck_assert_int_eq(status_of_name(stage, name), expected);
        snprintf(name, sizeof name, "%cz", c);
        ck_assert_int_eq(status_of_name(stage, name), expected);
    }
    static const struct {
        size_t length;
        tr_status status;
    } lengths[] = {{0, TR_NAME_INVALID},
                   {1, TR_OK},
                   {2, TR_OK},
                   {127, TR_OK},
                   {128, TR_OK},
                   {129, TR_NAME_INVALID},
                   {130, TR_NAME_INVALID}};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memset(name, 'x', sizeof name);
        name[lengths[i].length] = '\0';
        ck_assert_int_eq(status_of_name(stage, name), lengths[i].status);
    }
    /* Names are no paths. */
    ck_assert_int_eq(status_of_name(stage, ".."), TR_OK);
    ck_assert_int_eq(status_of_name(stage, "/user/a"), TR_NAME_INVALID);
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(names_are_one_to_128_of_the_allowed_characters, "L-07")
{
    stage_play_once(play_valid_names, 1, 1);
    stage_play_once(play_valid_names, STAGE_WORKERS, 1);
}

static tr_next checker_note(tr_self *self)
{
    plain_ref plain = plain_ref_of(TR_NOBODY);
    char name[TR_NAME_MAX + 2];
    memset(name, 'y', sizeof name);
    name[TR_NAME_MAX + 1] = '\0';
    ck_assert_int_eq(tr_try_spawn(self, &plain, plain, name), TR_NAME_INVALID);
    ck_assert_int_eq(tr_try_spawn(self, &plain, plain, "a b"), TR_NAME_INVALID);
    ck_assert_int_eq(tr_try_spawn(self, &plain, plain, ""), TR_NAME_INVALID);
    ck_assert(tr_is_nobody(plain));
    name[TR_NAME_MAX] = '\0';
    ck_assert_int_eq(tr_try_spawn(self, &plain, plain, name), TR_OK);
    ck_assert(tr_is_same(tr_child(self, plain, name), plain));
    ck_assert(tr_is_nobody(tr_child(self, plain, "")));
    ck_assert(tr_is_nobody(tr_child(self, plain, "nobody")));
    ck_assert(tr_is_nobody(tr_child(self, plain, "../checker")));
    ck_assert_uint_eq(tr_children(self, NULL, 0), 1);
    diary("checked");
    return TR_STOP;
}
TR_ACTOR(checker, note);
TR_BEHAVIOR(checker, void, TR_ON(note, checker_note));

static void play_names_of_children(struct stage *stage)
{
    checker_ref checker;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &checker, stage_far(stage), checker, NULL),
                     TR_OK);
    tr_tell(stage->client, checker, note);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "checked");
}

TEST(names_of_children_follow_the_same_rules, "L-07")
{
    stage_play(play_names_of_children);
}

/* ---- Paths. ---- */

static tr_ref deepest;

TR_ACTOR(nest, where);
static tr_next nest_set_up(tr_self *self, const struct deeper *deeper)
{
    deepest = tr_me(self);
    if (deeper->levels)
        (void)tr_spawn(
            self, nest, deeper->name, deeper, .levels = deeper->levels - 1, .name = deeper->name);
    return TR_SAME;
}
TR_BEHAVIOR(nest, void, TR_SETUP_WITH(deeper, nest_set_up), TR_ON(where, plain_where));

static const struct whereabouts *ask_where(struct stage *stage, tr_ref ref)
{
    ck_assert_int_eq(tr_tell(stage->client, ref, where), TR_OK);
    const struct whereabouts *answer = tr_receive(stage->client, whereabouts, TR_SECOND);
    ck_assert_ptr_nonnull(answer);
    return answer;
}

static void play_paths(struct stage *stage)
{
    nest_ref nest;
    ck_assert_int_eq(
        tr_try_spawn_at(
            stage->client, &nest, stage_far(stage), nest, "a", deeper, .levels = 2, .name = "b"),
        TR_OK);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(ask_where(stage, tr_any(nest))->path, "/user/a");
    ck_assert_str_eq(ask_where(stage, deepest)->path, "/user/a/b/b");
    ck_assert_str_eq(ask_where(stage, deepest)->name, "b");
    ck_assert(tr_is_same(tr_find(stage->client, nest, "/user/a/b/b"), deepest));
    ck_assert(tr_is_nobody(tr_find(stage->client, nest, "/user/a/b/b/b")));
    ck_assert(tr_is_nobody(tr_find(stage->client, nest, "/user/a/")));
    ck_assert(tr_is_nobody(tr_find(stage->client, nest, "user/a")));
    ck_assert(tr_is_nobody(tr_find(stage->client, nest, "")));
    ck_assert(tr_is_nobody(tr_client_find(stage->client, NULL)));
}

TEST(paths_are_those_of_the_tree, "L-07")
{
    stage_play(play_paths);
}

/* ---- Anonymous actors. ---- */

static void play_anonymous(struct stage *stage)
{
    enum { COUNT = 20 };
    char paths[2 * COUNT][64];
    for (int i = 0; i < COUNT; i++) {
        nest_ref nest;
        ck_assert_int_eq(tr_try_spawn_at(stage->client,
                                         &nest,
                                         i % stage->workers,
                                         nest,
                                         NULL,
                                         deeper,
                                         .levels = 1,
                                         .name = NULL),
                         TR_OK);
        tr_kit_settle(stage->kit);
        snprintf(paths[2 * i], sizeof paths[0], "%s", ask_where(stage, tr_any(nest))->path);
        snprintf(paths[2 * i + 1], sizeof paths[0], "%s", ask_where(stage, deepest)->path);
        ck_assert_int_eq(strncmp(paths[2 * i], "/user/$", 7), 0);
        ck_assert_int_eq(strncmp(paths[2 * i], paths[2 * i + 1], strlen(paths[2 * i])), 0);
        /* Nobody finds it by its name, and none can have that name. */
        ck_assert(tr_is_nobody(tr_find(stage->client, nest, paths[2 * i])));
        ck_assert_int_eq(status_of_name(stage, paths[2 * i] + 6), TR_NAME_INVALID);
        if (i % 2) {
            tr_stop(stage->client, nest); /* and its slot is used again */
            tr_kit_settle(stage->kit);
        }
    }
    for (int i = 0; i < 2 * COUNT; i++) {
        for (int other = 0; other < i; other++)
            ck_assert_str_ne(paths[i], paths[other]);
    }
}

TEST(anonymous_actors_have_names_of_their_own_and_no_entry, "L-07")
{
    stage_play(play_anonymous);
}

/* ---- Taken, and free again. ---- */

static void play_name_exists(struct stage *stage)
{
    plain_ref first;
    plain_ref second;
    tr_error error;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &first, stage_far(stage), plain, "name"),
                     TR_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(tr_try_spawn_error(stage->client, &second, &error, plain, "name"),
                         TR_NAME_EXISTS);
        ck_assert_int_eq(error.status, TR_NAME_EXISTS);
        ck_assert_ptr_nonnull(strstr(error.text, "/user/name"));
        if (i == 1)
            tr_kit_settle(stage->kit); /* New at first, then Running */
    }
    ck_assert(tr_is_same(tr_find(stage->client, plain, "/user/name"), first));
    tr_stop(stage->client, first);
    ck_assert_int_eq(tr_try_spawn(stage->client, &second, plain, "name"), TR_NAME_EXISTS);
    while (tr_try_spawn(stage->client, &second, plain, "name") == TR_NAME_EXISTS)
        ck_assert(tr_kit_step(stage->kit));
    ck_assert(!tr_is_same(first, second));
    ck_assert_int_eq(tr_tell(stage->client, first, note), TR_STOPPED);
    ck_assert_int_eq(tr_tell(stage->client, second, note), TR_OK);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 1);
}

TEST(a_name_is_taken_until_its_actor_has_ended, "L-07", "LC-18")
{
    stage_play(play_name_exists);
}

/* A child that waits for its own children keeps its name until they are gone. */
TR_ACTOR(holder, note, deeper);
static tr_next holder_deeper(tr_self *self, const struct deeper *deeper)
{
    nest_ref nest;
    tr_status status = tr_try_spawn_at(
        self, &nest, (int)deeper->levels, nest, "child", deeper, .levels = 3, .name = "x");
    diary("%s", status == TR_OK ? "ok" : tr_status_name(status));
    return TR_SAME;
}

static tr_next holder_note(tr_self *self)
{
    nest_ref child = tr_child(self, nest, "child");
    ck_assert_int_eq(tr_stop_child(self, child), TR_OK);
    nest_ref other;
    ck_assert_int_eq(tr_try_spawn(self, &other, nest, "child", deeper, .levels = 0, .name = "x"),
                     TR_NAME_EXISTS);
    return TR_SAME;
}
TR_BEHAVIOR(holder, void, TR_ON(note, holder_note), TR_ON(deeper, holder_deeper));

static void play_child_name(struct stage *stage)
{
    holder_ref holder;
    holder_ref other;
    uint32_t far = (uint32_t)stage_far(stage);
    ck_assert_int_eq(tr_try_spawn(stage->client, &holder, holder, "one"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(stage->client, &other, holder, "two"), TR_OK);
    tr_tell(stage->client, holder, deeper, .levels = far, .name = "");
    tr_tell(stage->client, other, deeper, .levels = far, .name = "");
    tr_tell(stage->client, holder, deeper, .levels = far, .name = "");
    tr_kit_settle(stage->kit);
    const char *text = diary_read();
    /* The same name below another parent is another name. */
    ck_assert_uint_eq(strlen(text), strlen("ok ok TR_NAME_EXISTS"));
    tr_tell(stage->client, holder, note);
    tr_kit_settle(stage->kit);
    ck_assert(tr_is_nobody(tr_find(stage->client, nest, "/user/one/child")));
    ck_assert(tr_is_nobody(tr_find(stage->client, nest, "/user/one/child/x")));
    tr_tell(stage->client, holder, deeper, .levels = far, .name = "");
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "ok");
}

TEST(the_name_of_a_child_is_free_when_its_end_is_complete, "LC-18", "L-07")
{
    stage_play(play_child_name);
}

/* ---- Limits of paths. ---- */

TR_ACTOR(tower, deeper);
static tr_status tower_status;
static tr_next tower_set_up(tr_self *self, const struct deeper *deeper)
{
    char name[TR_NAME_MAX + 1];
    size_t left = TR_PATH_MAX - strlen(tr_path(self));
    if (deeper->levels) { /* full names until the rest fits into one */
        bool is_last = left <= TR_NAME_MAX + 1;
        size_t length = is_last ? left - 1 : TR_NAME_MAX;
        memset(name, 'p', sizeof name);
        name[length] = '\0';
        (void)tr_spawn(self, tower, name, deeper, .levels = is_last ? 0 : 1);
        return TR_SAME;
    }
    tower_ref child;
    tr_error error;
    ck_assert_uint_eq(strlen(tr_path(self)), TR_PATH_MAX);
    ck_assert_int_eq(tr_try_spawn_error(self, &child, &error, tower, "q", deeper), TR_LIMIT);
    ck_assert_int_eq(error.status, TR_LIMIT);
    tower_status = tr_try_spawn(self, &child, tower, NULL, deeper);
    ck_assert_uint_eq(tr_children(self, NULL, 0), 0);
    diary("top");
    return TR_SAME;
}
TR_BEHAVIOR(tower, void, TR_SETUP_WITH(deeper, tower_set_up));

static void play_path_limit(struct stage *stage)
{
    tower_ref tower;
    ck_assert_int_eq(
        tr_try_spawn_at(stage->client, &tower, stage_far(stage), tower, "t", deeper, .levels = 1),
        TR_OK);
    ck_assert_int_eq(tr_spawn_wait(stage->client, tower, TR_SECOND, NULL), TR_OK);
    ck_assert_str_eq(diary_read(), "top");
    ck_assert_int_eq(tower_status, TR_LIMIT);
}

TEST(a_path_has_at_most_its_limit_named_or_not, "L-07")
{
    stage_play(play_path_limit);
}

/* ---- One name, many threads. ---- */

enum { RIVALS = 4, RACES = 200 };

struct rival {
    tr_system *system;
    pthread_barrier_t *barrier;
    unsigned won;
};

static void *rival_main(void *context)
{
    struct rival *rival = context;
    tr_client *client;
    ck_assert_int_eq(tr_client_new(rival->system, &client), TR_OK);
    for (int race = 0; race < RACES; race++) {
        char name[32];
        plain_ref plain;
        snprintf(name, sizeof name, "race-%d", race);
        pthread_barrier_wait(rival->barrier);
        tr_status status = tr_try_spawn_at(client, &plain, race % 2, plain, name);
        ck_assert(status == TR_OK || status == TR_NAME_EXISTS);
        rival->won += status == TR_OK;
        if (status == TR_OK)
            ck_assert_int_eq(tr_spawn_wait(client, plain, STAGE_PATIENCE, NULL), TR_OK);
    }
    tr_client_free(client);
    return NULL;
}

TEST(of_several_threads_that_want_a_name_one_gets_it, "L-07", "LC-18")
{
    struct theatre theatre = theatre_open(2);
    pthread_t threads[RIVALS];
    struct rival rivals[RIVALS];
    pthread_barrier_t barrier;
    unsigned won = 0;
    pthread_barrier_init(&barrier, NULL, RIVALS);
    for (int i = 0; i < RIVALS; i++) {
        rivals[i] = (struct rival){theatre.system, &barrier, 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, rival_main, &rivals[i]), 0);
    }
    for (int i = 0; i < RIVALS; i++) {
        pthread_join(threads[i], NULL);
        won += rivals[i].won;
    }
    pthread_barrier_destroy(&barrier);
    ck_assert_uint_eq(won, RACES);
    theatre_close(&theatre);
}

SUITE("names", names_are_one_to_128_of_the_allowed_characters,
      names_of_children_follow_the_same_rules, paths_are_those_of_the_tree,
      anonymous_actors_have_names_of_their_own_and_no_entry,
      a_name_is_taken_until_its_actor_has_ended,
      the_name_of_a_child_is_free_when_its_end_is_complete,
      a_path_has_at_most_its_limit_named_or_not, of_several_threads_that_want_a_name_one_gets_it)
