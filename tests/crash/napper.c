/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is killed over and over: durable actors that are asked without end, and fall asleep all the time.
 *
 *     napper DIRECTORY [sync-off]
 *
 * Round n of an actor puts n into its state and under a key; each third one sends it to sleep, where both get
 * the number of naps as well. Whenever it wakes the two must agree. The output is that of worker.c, whose
 * rules tests/crash/run knows: "f ACTOR ROUND" is the answer of an actor that was asleep when the process began.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>
#include <unistd.h>

enum { ACTORS = 8, WRONG = 3, NAP_EACH = 3 };

TR_MESSAGE(counted, (u64, rounds));
TR_REQUEST(count, counted);
TR_REQUEST(look, counted);
TR_ACTOR(napper, count, look);
TR_MESSAGE(napper_state, (u64, rounds), (u64, naps));

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

static tr_next on_awake(tr_self *self, struct napper_state *napper, const struct tr_awake *message)
{
    tr_bytes copy;
    (void)message;
    bool is_there = tr_kv_get(self, (tr_bytes){"copy", 4}, &copy);
    if (is_there != (napper->rounds || napper->naps) ||
        (is_there && (copy.size != sizeof *napper || memcmp(copy.data, napper, copy.size) != 0)))
        say_wrong("a state and a key of the same stretch do not agree");
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

static void must(tr_status status)
{
    if (status != TR_OK)
        say_wrong(tr_status_name(status));
}

static napper_ref find(tr_client *client, int actor)
{
    char key[16];
    napper_ref ref;
    snprintf(key, sizeof key, "%d", actor);
    must(tr_try_durable(client, &ref, napper, key));
    return ref;
}

int main(int argc, char **argv)
{
    tr_system *system;
    tr_client *client;
    const struct counted *counted;
    count_ask asks[ACTORS];
    const tr_system_options options = {.size = sizeof options,
                                       .name = "napper",
                                       .workers = 1,
                                       .durable = TR_DURABLES(napper),
                                       .store = argc > 1 ? argv[1] : NULL};
    if (argc > 2 && strcmp(argv[2], "sync-off") == 0)
        (void)setenv("TROUPE_HOLD_SYNC_OFF", "1", 1); /* for hold.c */
    must(tr_system_new(&options, &system));
    must(tr_system_start(system));
    must(tr_client_new(system, &client));
    for (int i = 0; i < ACTORS; i++) {
        must(tr_try_await(client, tr_ask(client, find(client, i), look), &counted));
        say('f', i, counted->rounds);
    }
    for (int i = 0; i < ACTORS; i++)
        asks[i] = tr_ask(client, find(client, i), count);
    for (;;) {
        for (int i = 0; i < ACTORS; i++) {
            must(tr_try_await(client, asks[i], &counted));
            say('a', i, counted->rounds);
            asks[i] = tr_ask(client, find(client, i), count);
        }
    }
}
