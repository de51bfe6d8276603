/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program under load, for bench/operate/run to look into while it works.
 *
 *     load bank SECONDS [BEFORE]
 *                             20 tellers move money between 1,000 accounts by two asks; prints how many moves. Those of the first
 *                             BEFORE seconds do not count; when they are over, it prints "counting"
 *     load million COUNT      that many actors, which do nothing, until it is stopped
 *     load commits SECONDS    1,000 durable actors commit one message after the other; prints how many
 *     load fill COUNT         stores that many actors of 1 MiB, and ends
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>
#include <unistd.h>

enum { TELLERS = 20, ACCOUNTS = 1000, WRITERS = 1000, FILL_BYTES = 1024 * 1024 };

static _Atomic uint64_t counts[WRITERS];

/* ---- The bank. ---- */

TR_MESSAGE(balance, (i64, cents));
TR_REQUEST(change, balance, (i64, cents));
TR_MESSAGE(ball);
TR_MESSAGE(begin);
TR_MESSAGE(over);
TR_MESSAGE(move_on, (u32, number));
TR_ACTOR(account, change);
TR_ACTOR(teller, move_on);
TR_ACTOR(idler, ball);

static account_ref accounts[ACCOUNTS];

static tr_next on_change(tr_self *self, struct balance *state, const struct change *message)
{
    state->cents += message->cents;
    return tr_reply(self, balance, .cents = state->cents);
}
TR_BEHAVIOR(account, struct balance, TR_ON(change, on_change));

static tr_next on_move_on(tr_self *self, const struct move_on *message)
{
    account_ref from = accounts[tr_random(self) % ACCOUNTS];
    account_ref to = accounts[tr_random(self) % ACCOUNTS];
    (void)tr_await(self, tr_ask(self, from, change, .cents = -1));
    (void)tr_await(self, tr_ask(self, to, change, .cents = 1));
    atomic_fetch_add_explicit(&counts[message->number], 1, memory_order_relaxed);
    tr_tell(self, teller_ref_of(tr_me(self)), move_on, .number = message->number);
    return TR_SAME;
}
TR_BEHAVIOR(teller, void, TR_ON(move_on, on_move_on));

static void bank_begin(tr_self *self)
{
    for (uint32_t i = 0; i < ACCOUNTS; i++)
        accounts[i] = tr_spawn(self, account, NULL);
    for (uint32_t i = 0; i < TELLERS; i++)
        tr_tell(self, tr_spawn(self, teller, NULL), move_on, .number = i);
}

static tr_next on_nothing(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(idler, void, TR_ON(ball, on_nothing));

TR_MESSAGE(writer_state, (u64, count), (bytes, filler));
TR_MESSAGE(write_on, (u32, number));
TR_REQUEST(fill, tr_done);
TR_ACTOR(writer, write_on, fill);

static tr_next on_write_on(tr_self *self, struct writer_state *state,
                           const struct write_on *message)
{
    atomic_fetch_add_explicit(&counts[message->number], state->count > 0, memory_order_relaxed);
    state->count++;
    tr_tell(self, writer_ref_of(tr_me(self)), write_on, .number = message->number);
    return TR_SAME;
}

static tr_next on_fill(tr_self *self, struct writer_state *state)
{
    char *bytes = tr_alloc(self, FILL_BYTES);
    memset(bytes, 'x', FILL_BYTES);
    state->filler = (tr_bytes){bytes, FILL_BYTES};
    return tr_reply(self, tr_done);
}
TR_BEHAVIOR(writer, struct writer_state, TR_ON(write_on, on_write_on), TR_ON(fill, on_fill));
TR_DURABLE(writer, writer_state, .idle_ns = TR_SECOND);

static writer_ref writer_of(tr_self *self, unsigned number)
{
    char key[32];
    snprintf(key, sizeof key, "writer-%u", number);
    return tr_durable(self, writer, key);
}

static uint64_t counted_before;

static uint64_t counts_sum(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < WRITERS; i++)
        sum += atomic_load(&counts[i]);
    return sum;
}

static tr_next on_begin(void)
{
    counted_before = counts_sum();
    printf("counting\n");
    fflush(stdout);
    return TR_SAME;
}

static tr_next on_over(tr_self *self)
{
    printf("%llu\n", (unsigned long long)(counts_sum() - counted_before));
    fflush(stdout);
    (void)self;
    (void)kill(getpid(), SIGTERM);
    return TR_SAME;
}

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    const char *what = args->argv.count > 1 ? args->argv.items[1] : "";
    unsigned number = args->argv.count > 2 ? (unsigned)atoi(args->argv.items[2]) : 0;
    unsigned before = args->argv.count > 3 ? (unsigned)atoi(args->argv.items[3]) : 0;
    bool is_bank = strcmp(what, "bank") == 0;
    bool is_commits = strcmp(what, "commits") == 0;
    if (is_bank)
        bank_begin(self);
    for (uint32_t i = 0; is_commits && i < WRITERS; i++)
        tr_tell(self, writer_of(self, i), write_on, .number = i);
    for (unsigned i = 0; strcmp(what, "million") == 0 && i < number; i++)
        (void)tr_spawn(self, idler, NULL);
    for (unsigned i = 0; strcmp(what, "fill") == 0 && i < number; i++)
        (void)tr_await(self, tr_ask(self, writer_of(self, WRITERS + i), fill));
    if (before)
        tr_timer_once(self, "begin", before * TR_SECOND, begin);
    if (is_bank || is_commits)
        tr_timer_once(self, "over", (before + number) * TR_SECOND, over);
    else if (strcmp(what, "million") != 0)
        (void)kill(getpid(), SIGTERM);
    printf("ready\n");
    fflush(stdout);
    return TR_SAME;
}
TR_BEHAVIOR(load, void, TR_ON(tr_args, on_args), TR_ON(begin, on_begin), TR_ON(over, on_over));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, load, .durable = TR_DURABLES(writer));
}
