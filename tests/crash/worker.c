/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is killed over and over: opens a store, says what it finds, and writes until it is no more.
 *
 *     worker DIRECTORY [sync-off]
 *
 * Round n of an actor writes n to state, key and event log as one batch. The output, which outlives the
 * process: "f ACTOR ROUND" for what was found, each part saying the same; "a ACTOR ROUND" for what was
 * acknowledged; "x TEXT" when something is wrong. Each actor has one batch on its way.
 */
#include "store/batch.h"
#include "store/entry.h"
#include "store/read.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ACTORS = 8, VALUE = 3000, WRONG = 3 };

struct actor {
    int number;
    uint64_t round;
    struct store_entry *entry;
};

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

static tr_bytes key_of(int actor, char key[16])
{
    return (tr_bytes){key, (size_t)snprintf(key, 16, "%d", actor)};
}

static void fill(char *value, int actor, uint64_t round)
{
    memset(value, (int)('a' + (round + (uint64_t)actor) % 26), VALUE);
    memcpy(value, &round, sizeof round);
}

static size_t size_of(uint64_t round)
{
    return 8 + (size_t)(round * 131 % (VALUE - 8));
}

static void submit(struct actor *actor);

static void on_done(void *context, struct store_batch *batch, tr_status status)
{
    struct actor *actor = context;
    if (status != TR_OK)
        say_wrong(tr_status_name(status));
    say('a', actor->number, actor->round);
    tr__store_batch_free(batch);
    submit(actor);
}

static void submit(struct actor *actor)
{
    struct store_batch *batch;
    actor->round++;
    if (tr__store_batch_new(actor->entry, &batch) != TR_OK)
        say_wrong("no memory");
    char *memory = tr__store_batch_alloc(batch, VALUE);
    fill(memory, actor->number, actor->round);
    tr_bytes value = {memory, size_of(actor->round)};
    if (tr__store_put_state(batch, (uint32_t)actor->round, value) != TR_OK ||
        tr__store_kv_put(batch, (tr_bytes){"k", 1}, value) != TR_OK ||
        tr__store_event_append(batch, actor->round - 1, value) != TR_OK ||
        tr__store_event_trim(batch, actor->round > 5 ? actor->round - 5 : 0) != TR_OK ||
        tr__store_submit(batch, on_done, actor) != TR_OK)
        say_wrong("cannot submit");
}

static bool is_value(tr_bytes bytes, int actor, uint64_t round)
{
    char value[VALUE];
    fill(value, actor, round);
    return bytes.size == size_of(round) && memcmp(bytes.data, value, bytes.size) == 0;
}

static bool visit(void *context, const struct store_row *row)
{
    *(uint64_t *)context = row->id;
    return true;
}

static uint64_t find(struct store_reader *reader, int actor)
{
    char memory[16];
    struct store_state state;
    tr_bytes value;
    tr_bytes key = key_of(actor, memory);
    uint64_t last = 0;
    tr_status status = tr__store_read_state(reader, "k", key, &state);
    if (status == TR_NOT_FOUND)
        return 0;
    if (status != TR_OK || !is_value(state.bytes, actor, state.version))
        say_wrong(status ? tr_status_name(status) : "a state is not what was written");
    status = tr__store_read_kv(reader, "k", key, (tr_bytes){"k", 1}, &value);
    if (status != TR_OK || !is_value(value, actor, state.version))
        say_wrong(status ? tr_status_name(status) : "a value is not of the round of its state");
    status = tr__store_list_events(reader, "k", key, 0, UINT64_MAX, 0, visit, &last);
    if (status != TR_OK || last != state.version || state.sequence != state.version)
        say_wrong(status ? tr_status_name(status) : "events are not of the round of their state");
    return state.version;
}

int main(int argc, char **argv)
{
    static struct actor actors[ACTORS];
    struct store_options options = {
        .source = {.platform = tr_platform_real()},
        .path = argc > 1 ? argv[1] : NULL,
        .program = "worker",
        .log_pages = 200,
        .is_sync_off = argc > 2 && strcmp(argv[2], "sync-off") == 0,
    };
    struct store *store;
    struct store_reader *reader;
    tr_error error;
    if (tr__store_open(&options, &store, &error) != TR_OK)
        say_wrong(error.text);
    if (tr__store_reader_new(store, &reader) != TR_OK)
        say_wrong("no reader");
    for (int i = 0; i < ACTORS; i++) {
        char memory[16];
        tr_bytes key = key_of(i, memory);
        actors[i] = (struct actor){.number = i, .round = find(reader, i)};
        say('f', i, actors[i].round);
        if (tr__store_enter(store, "k", key, NULL, NULL, &actors[i].entry) != TR_OK)
            say_wrong("cannot enter");
    }
    for (int i = 0; i < ACTORS; i++)
        submit(&actors[i]);
    for (;;)
        (void)pause();
}
