/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is killed over and over: durable actors that are asked without end, and fall asleep all the time.
 *
 *     napper DIRECTORY [sync-off]
 *
 * Round n of an actor puts n into its state and under a key; each third one sends it to sleep, where both get
 * the number of naps as well. Whenever it wakes the two must agree. A quarter of the actors has a table too, with a
 * row for each of the last rounds, and a quarter has events from which its state is made, with snapshots
 * and events that are dropped: they must agree as well. The output is that of worker.c, whose
 * rules tests/crash/run knows: "f ACTOR ROUND" is the answer of an actor that was asleep when the process began.
 *
 * Besides there are mayflies, which destroy themselves with their LIFEth round and begin again with the first one. Their
 * lines are "g ACTOR ROUND" for what was found, and "d ACTOR ROUND" for an answer that says that it is destroyed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>
#include <unistd.h>

enum {
    ACTORS = 8,
    MAYFLIES = 4,
    LIFE = 3,
    KEYS = 40,
    WRONG = 3,
    NAP_EACH = 3,
    ROWS = 20,
    LATE_MAX = 3
};

TR_MESSAGE(counted, (u64, rounds));
TR_REQUEST(count, counted);
TR_REQUEST(look, counted);
TR_ACTOR(napper, count, look);
TR_ACTOR(clerk, count, look);
TR_ACTOR(scribe, count, look);
TR_ACTOR(mayfly, count, look);
TR_MESSAGE(napper_state, (u64, rounds), (u64, naps));
TR_MESSAGE(counted_once, (u64, round)); /* events */
TR_MESSAGE(slept, (u64, nap));

static void say(char what, int actor, uint64_t round)
{
    char line[64];
    int size = snprintf(line, sizeof line, "%c %d %llu\n", what, actor, (unsigned long long)round);
    if (write(STDOUT_FILENO, line, (size_t)size) != size)
        _exit(1);
}

_Noreturn static void say_wrong(const char *text)
{
    char line[512];
    int size = snprintf(line, sizeof line, "x %s\n", text);
    (void)!write(STDOUT_FILENO, line, (size_t)size);
    _exit(WRONG);
}

static void put(tr_self *self, const struct napper_state *napper)
{
    tr_kv_put(self, (tr_bytes){"copy", 4}, (tr_bytes){napper, sizeof *napper});
}

static void check_copy(tr_self *self, const struct napper_state *napper)
{
    tr_bytes copy;
    bool is_there = tr_kv_get(self, (tr_bytes){"copy", 4}, &copy);
    if (is_there != (napper->rounds || napper->naps) ||
        (is_there && (copy.size != sizeof *napper || memcmp(copy.data, napper, copy.size) != 0)))
        say_wrong("a state and a key of the same commit do not agree");
}

static tr_next on_awake(tr_self *self, struct napper_state *napper, const struct tr_awake *message)
{
    (void)message;
    check_copy(self, napper);
    return TR_SAME;
}

static tr_next on_sleeping(tr_self *self, struct napper_state *napper)
{
    napper->naps++;
    put(self, napper);
    return TR_SAME;
}

static tr_next on_count(tr_self *self, struct napper_state *napper)
{
    napper->rounds++;
    put(self, napper);
    if (napper->rounds % NAP_EACH == 0)
        (void)!tr_go_to_sleep(self);
    return tr_reply(self, counted, .rounds = napper->rounds);
}

static tr_next on_look(tr_self *self, struct napper_state *napper)
{
    return tr_reply(self, counted, .rounds = napper->rounds);
}

TR_BEHAVIOR(napper, struct napper_state, TR_ON(tr_awake, on_awake), TR_ON(tr_sleeping, on_sleeping),
            TR_ON(count, on_count), TR_ON(look, on_look));
TR_DURABLE(napper, napper_state);

/* ---- Those with a table. ---- */

static tr_next clerk_awake(tr_self *self, struct napper_state *clerk,
                           const struct tr_awake *message)
{
    (void)message;
    check_copy(self, clerk);
    int64_t rows = clerk->rounds < ROWS ? (int64_t)clerk->rounds : ROWS;
    int64_t rounds = (int64_t)clerk->rounds;
    tr_sql_result found =
        tr_sql(self, "SELECT count(*), total(round), total(length(text)) FROM row");
    int64_t sum = rows * (2 * rounds - rows + 1) / 2;
    if (found.values[0].integer != rows || (int64_t)found.values[1].real != sum ||
        (int64_t)found.values[2].real != rows * 300)
        say_wrong("a state and a table of the same commit do not agree");
    if (tr_sql_one(self, "SELECT coalesce(max(naps), 0) FROM nap").integer != (int64_t)clerk->naps)
        say_wrong("a state and a table of its last commit do not agree");
    if (strcmp(tr_sql_one(self, "PRAGMA integrity_check").text, "ok") != 0)
        say_wrong("a database is spoiled");
    return TR_SAME;
}

static tr_next clerk_sleeping(tr_self *self, struct napper_state *clerk)
{
    clerk->naps++;
    put(self, clerk);
    tr_sql(self, "INSERT INTO nap VALUES (?)", clerk->naps);
    return TR_SAME;
}

static tr_next clerk_count(tr_self *self, struct napper_state *clerk)
{
    clerk->rounds++;
    put(self, clerk);
    tr_sql(self, "INSERT INTO row VALUES (?1, printf('%0300d', ?1))", clerk->rounds);
    tr_sql(self, "DELETE FROM row WHERE round <= ?", (int64_t)clerk->rounds - ROWS);
    if (clerk->rounds % NAP_EACH == 0)
        (void)!tr_go_to_sleep(self);
    return tr_reply(self, counted, .rounds = clerk->rounds);
}

TR_BEHAVIOR(clerk, struct napper_state, TR_ON(tr_awake, clerk_awake),
            TR_ON(tr_sleeping, clerk_sleeping), TR_ON(count, clerk_count), TR_ON(look, on_look));
TR_DURABLE(clerk, napper_state,
           .sql_schema = TR_SQL_SCHEMA("CREATE TABLE row (round INTEGER PRIMARY KEY, text TEXT)",
                                       "CREATE INDEX row_text ON row (text)",
                                       "CREATE TABLE nap (naps INTEGER)"));

/* ---- Those with events. ---- */

static void apply_counted(struct napper_state *scribe, const struct counted_once *event)
{
    if (event->round != ++scribe->rounds)
        say_wrong("an event is missing, or there twice");
}

static void apply_slept(struct napper_state *scribe, const struct slept *event)
{
    if (event->nap != ++scribe->naps)
        say_wrong("an event of going to sleep is missing, or there twice");
}

TR_EVENTS(scribe_events, napper_state, TR_APPLY(counted_once, apply_counted),
          TR_APPLY(slept, apply_slept), TR_SNAPSHOTS(.every = 5, .drops_events = true));

static tr_next scribe_awake(tr_self *self, const struct napper_state *scribe,
                            const struct tr_awake *message)
{
    (void)message;
    check_copy(self, scribe);
    if (tr_event_last(self) != scribe->rounds + scribe->naps)
        say_wrong("a state and the number of its last event do not agree");
    return TR_SAME;
}

static tr_next scribe_sleeping(tr_self *self, const struct napper_state *scribe)
{
    tr_persist(self, slept, .nap = scribe->naps + 1);
    put(self, scribe);
    return TR_SAME;
}

static tr_next scribe_count(tr_self *self, const struct napper_state *scribe)
{
    tr_persist(self, counted_once, .round = scribe->rounds + 1);
    put(self, scribe);
    if (scribe->rounds % NAP_EACH == 0)
        (void)!tr_go_to_sleep(self);
    return tr_reply(self, counted, .rounds = scribe->rounds);
}

static tr_next scribe_look(tr_self *self, const struct napper_state *scribe)
{
    return tr_reply(self, counted, .rounds = scribe->rounds);
}

TR_BEHAVIOR(scribe, const struct napper_state, TR_ON(tr_awake, scribe_awake),
            TR_ON(tr_sleeping, scribe_sleeping), TR_ON(count, scribe_count),
            TR_ON(look, scribe_look));
TR_DURABLE(scribe, napper_state, .events = &scribe_events);

/* ---- Those that destroy themselves. ---- */

static tr_next mayfly_count(tr_self *self, struct napper_state *mayfly)
{
    mayfly->rounds++;
    put(self, mayfly);
    /* More rows than a commit deletes. */
    for (int i = 0; mayfly->rounds == 1 && i < KEYS; i++) {
        char key[16];
        int size = snprintf(key, sizeof key, "key %d", i);
        tr_kv_put(self, (tr_bytes){key, (size_t)size}, (tr_bytes){"value", 5});
    }
    if (mayfly->rounds == LIFE && tr_destroy(self) != TR_OK)
        say_wrong("a mayfly that is awake cannot be destroyed");
    return tr_reply(self, counted, .rounds = mayfly->rounds);
}

static tr_next mayfly_awake(tr_self *self, struct napper_state *mayfly,
                            const struct tr_awake *message)
{
    const tr_kv *pairs;
    (void)message;
    check_copy(self, mayfly);
    size_t keys = tr_kv_list(self, (tr_bytes){"key", 3}, (tr_bytes){NULL, 0}, &pairs, 2 * KEYS);
    if (keys != (mayfly->rounds ? KEYS : 0) || mayfly->rounds >= LIFE)
        say_wrong("a mayfly that was destroyed is there in part");
    return TR_SAME;
}

static tr_next mayfly_destroying(tr_self *self)
{
    (void)!tr_sleep(self, 2 * TR_MILLISECOND); /* in which the power may be cut */
    return TR_SAME;
}

TR_BEHAVIOR(mayfly, struct napper_state, TR_ON(tr_awake, mayfly_awake),
            TR_ON(tr_destroying, mayfly_destroying), TR_ON(count, mayfly_count),
            TR_ON(look, on_look));
TR_DURABLE(mayfly, napper_state);

/* ---- The asker. ---- */

static void must(tr_status status)
{
    if (status != TR_OK)
        say_wrong(tr_status_name(status));
}

/* What a mayfly answers; TR_DESTROYING or TR_STOPPED while it ends. */
static tr_status ask_mayfly(tr_client *client, int mayfly, bool counts, uint64_t *rounds)
{
    char key[16];
    mayfly_ref ref;
    const struct counted *counted;
    snprintf(key, sizeof key, "%d", mayfly);
    tr_status status = tr_try_durable(client, &ref, mayfly, key);
    if (status == TR_OK && counts)
        status = tr_try_await(client, tr_ask(client, ref, count), &counted);
    else if (status == TR_OK)
        status = tr_try_await(client, tr_ask(client, ref, look), &counted);
    if (status == TR_OK)
        *rounds = counted->rounds;
    else if (status != TR_DESTROYING && status != TR_STOPPED)
        must(status);
    return status;
}

static void count_mayflies(tr_client *client)
{
    for (int i = 0; i < MAYFLIES; i++) {
        uint64_t rounds;
        if (ask_mayfly(client, i, true, &rounds) == TR_OK)
            say(rounds == LIFE ? 'd' : 'a', ACTORS + i, rounds);
    }
}

static void find_mayflies(tr_client *client)
{
    for (int i = 0; i < MAYFLIES; i++) {
        uint64_t rounds;
        must(ask_mayfly(client, i, false, &rounds));
        say('g', ACTORS + i, rounds);
    }
}

static tr_ref find(tr_client *client, int actor)
{
    char key[16];
    napper_ref napper;
    clerk_ref clerk;
    scribe_ref scribe;
    snprintf(key, sizeof key, "%d", actor);
    switch (actor % 4) {
    case 0:
        must(tr_try_durable(client, &clerk, clerk, key));
        return tr_any(clerk);
    case 1:
        must(tr_try_durable(client, &scribe, scribe, key));
        return tr_any(scribe);
    default:
        must(tr_try_durable(client, &napper, napper, key));
        return tr_any(napper);
    }
}

/* They understand the same, so any of them may be asked as one of the first kind is. */
static count_ask ask(tr_client *client, int actor)
{
    return tr_ask(client, napper_ref_of(find(client, actor)), count);
}

int main(int argc, char **argv)
{
    tr_system *system;
    tr_client *client;
    const struct counted *counted;
    count_ask asks[ACTORS];
    int late[ACTORS] = {0};
    const tr_system_options options = {.size = sizeof options,
                                       .name = "napper",
                                       .workers = 1,
                                       .durable = TR_DURABLES(napper, clerk, scribe, mayfly),
                                       .store = argc > 1 ? argv[1] : NULL};
    if (argc > 2 && strcmp(argv[2], "sync-off") == 0)
        (void)setenv("TROUPE_HOLD_SYNC_OFF", "1", 1); /* for hold.c */
    must(tr_system_new(&options, &system));
    must(tr_system_start(system));
    must(tr_client_new(system, &client));
    for (int i = 0; i < ACTORS; i++) {
        must(tr_try_await(client, tr_ask(client, napper_ref_of(find(client, i)), look), &counted));
        say('f', i, counted->rounds);
    }
    find_mayflies(client);
    for (int i = 0; i < ACTORS; i++)
        asks[i] = ask(client, i);
    for (;;) {
        for (int i = 0; i < ACTORS; i++) {
            /* A ref is for now: seldom it has fallen asleep before the request was on its way. */
            tr_status status = tr_try_await(client, asks[i], &counted);
            late[i] = status == TR_STOPPED ? late[i] + 1 : 0;
            if (!late[i] || late[i] > LATE_MAX) {
                must(status);
                say('a', i, counted->rounds);
            }
            asks[i] = ask(client, i);
        }
        count_mayflies(client);
    }
}
