/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times what several workers are for: load that begins on one of them, a pair that talks across,
 * and the look-up of actors by name.
 *
 *     cmake --build build --target micro_workers && build/micro/workers [skewed | chatty | lookup]
 */
#include "stage.h"

#include <stdatomic.h>

/* ---- skewed: all on one worker, which has much more to do than it can. ---- */

TR_MESSAGE(grind, (u64, left)); /* 0: until it is over */
TR_MESSAGE(mill_is, (u64, number));
TR_ACTOR(mill, grind);

enum { MILLS = 64, SKEWED_ROUNDS = 3, MILL_TURNS = 40 };
static const double STEADY_NS = 4e8;

static struct {
    _Alignas(64) atomic_uint_fast64_t ground; /* microseconds of work */
} mills[MILLS];
static atomic_bool mills_rest;
static double rounds_per_us;

struct mill {
    uint64_t number;
    uint64_t cost_us;
};

static tr_next set_up_mill(struct mill *mill, const struct mill_is *message)
{
    mill->number = message->number;
    mill->cost_us = 10 + message->number * 29 % MILLS * 190 / (MILLS - 1);
    return TR_SAME;
}

/* Counted work and not time: a thread that was preempted has done nothing meanwhile. */
static void work(uint64_t us)
{
    uint64_t bits = us | 1;
    for (uint64_t i = (uint64_t)((double)us * rounds_per_us); i; i--) {
        bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407u;
        __asm__ __volatile__("" : "+r"(bits));
    }
}

static void calibrate(void)
{
    rounds_per_us = 1000;
    double best = 1e18;
    for (int i = 0; i < 50; i++) {
        double from = now_ns();
        work(1000);
        double took = now_ns() - from;
        best = took < best ? took : best;
    }
    rounds_per_us *= 1e6 / best;
}

static tr_next on_grind(tr_self *self, struct mill *mill, const struct grind *message)
{
    work(mill->cost_us);
    atomic_fetch_add_explicit(&mills[mill->number].ground, mill->cost_us, memory_order_relaxed);
    if (message->left == 1)
        tr_tell(self, tr_client_ref(client), done);
    else if (message->left)
        tr_tell(self, tr_me(self), grind, .left = message->left - 1);
    else if (!atomic_load_explicit(&mills_rest, memory_order_relaxed))
        tr_tell(self, tr_me(self), grind);
    return TR_SAME;
}
TR_BEHAVIOR(mill, struct mill, TR_SETUP_WITH(mill_is, set_up_mill), TR_ON(grind, on_grind));

/*
 * Starts the mills; they grind so many times, or until the time is up. Work done for each second.
 */
static double grind_all(int workers, tr_balance balance, uint64_t turns, double *moves,
                        double *cpus)
{
    uint64_t sum = 0;
    mill_ref refs[MILLS];
    begin(workers, balance, 0);
    atomic_store(&mills_rest, false);
    for (uint64_t i = 0; i < MILLS; i++) {
        atomic_store(&mills[i].ground, 0);
        MUST(tr_try_spawn_at(client, &refs[i], 0, mill, NULL, mill_is, .number = i));
    }
    for (int i = 0; i < MILLS; i++)
        MUST(tr_spawn_wait(client, refs[i], TR_MINUTE, NULL));
    double from = now_ns();
    double cpu_from = cpu_used_ns();
    for (int i = 0; i < MILLS; i++)
        MUST(tr_tell(client, refs[i], grind, .left = turns));
    if (turns) {
        for (int i = 0; i < MILLS; i++)
            wait_done();
    } else {
        const struct timespec time = {.tv_nsec = (long)STEADY_NS};
        nanosleep(&time, NULL);
    }
    for (int i = 0; i < MILLS; i++)
        sum += atomic_load(&mills[i].ground);
    double took = now_ns() - from;
    *cpus = (cpu_used_ns() - cpu_from) / took;
    atomic_store(&mills_rest, true);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    *moves = (double)counters.moves;
    end();
    return (double)sum * 1e9 / took;
}

static void skewed(void)
{
    static const struct {
        const char *name;
        int workers;
        tr_balance balance;
    } plays[] = {{"1 worker", 1, TR_BALANCE_ON},
                 {"2 workers, no balance", 2, TR_BALANCE_OFF},
                 {"2 workers", 2, TR_BALANCE_ON},
                 {"4 workers", 4, TR_BALANCE_ON}};
    enum { PLAYS = sizeof plays / sizeof plays[0] };
    calibrate();
    for (int is_finite = 0; is_finite < 2; is_finite++) {
        double rates[PLAYS][SKEWED_ROUNDS];
        double moves[PLAYS][SKEWED_ROUNDS];
        double cpus[PLAYS][SKEWED_ROUNDS];
        for (int round = 0; round < SKEWED_ROUNDS; round++) {
            for (int i = 0; i < PLAYS; i++)
                rates[i][round] = grind_all(plays[i].workers,
                                            plays[i].balance,
                                            is_finite ? MILL_TURNS : 0,
                                            &moves[i][round],
                                            &cpus[i][round]);
        }
        const char *kind = is_finite ? "equal turns each, to the last" : "steady";
        double one = median(rates[0], SKEWED_ROUNDS);
        for (int i = 0; i < PLAYS; i++) {
            char name[128];
            double rate = median(rates[i], SKEWED_ROUNDS);
            snprintf(name, sizeof name, "skewed, %s, %s", kind, plays[i].name);
            print(name, rate / 1e6, "seconds of work a second");
            snprintf(name, sizeof name, "skewed, %s, %s, CPUs in use", kind, plays[i].name);
            print(name, median(cpus[i], SKEWED_ROUNDS), "of the machine's");
            snprintf(name, sizeof name, "skewed, %s, %s, ratio", kind, plays[i].name);
            if (i)
                print(name, rate / one, "times one worker");
            snprintf(name, sizeof name, "skewed, %s, %s, moves", kind, plays[i].name);
            if (i > 1)
                print(name, median(moves[i], SKEWED_ROUNDS), "actors");
        }
    }
}

/* ---- chatty: two that landed on two workers. ---- */

TR_MESSAGE(word, (i32, worker));
TR_MESSAGE(talk_to, (ref, who));
TR_ACTOR(chatter, word);
TR_ACTOR(listener, word);

enum { PAIRS = 21 };
static const double TALK_NS = 1e8;

static struct {
    double begin_ns;
    bool is_together;   /* they have been on one worker, */
    double together_ns; /* since then */
    uint64_t trips_before;
    uint64_t trips;
    uint64_t trips_apart; /* since */
} talk;

struct chatter {
    tr_ref partner;
};

static tr_next listener_word(tr_self *self)
{
    return tr_reply(self, word, .worker = tr_worker(self));
}
TR_BEHAVIOR(listener, void, TR_ON(word, listener_word));

static tr_next set_up_chatter(struct chatter *chatter, const struct talk_to *message)
{
    chatter->partner = message->who;
    return TR_SAME;
}

static tr_next chatter_word(tr_self *self, struct chatter *chatter, const struct word *message)
{
    bool is_together = message->worker == tr_worker(self);
    double now = 0;
    if (!talk.trips++)
        talk.begin_ns = now_ns();
    if (!talk.is_together && is_together) {
        talk.is_together = true;
        talk.together_ns = now_ns();
        talk.trips_before = talk.trips;
    }
    talk.trips_apart += talk.is_together && !is_together;
    if (talk.trips % 256 == 0)
        now = now_ns();
    if (now > talk.begin_ns + TALK_NS)
        tr_tell(self, tr_client_ref(client), done);
    else
        tr_tell(self, chatter->partner, word);
    return TR_SAME;
}
TR_BEHAVIOR(chatter, struct chatter, TR_SETUP_WITH(talk_to, set_up_chatter),
            TR_ON(word, chatter_word));

static void talk_once(tr_balance balance, bool is_near)
{
    listener_ref listener;
    chatter_ref chatter;
    memset(&talk, 0, sizeof talk);
    begin(2, balance, 0);
    MUST(tr_try_spawn_at(client, &listener, is_near ? 0 : 1, listener, NULL));
    MUST(tr_try_spawn_at(client, &chatter, 0, chatter, NULL, talk_to, .who = tr_any(listener)));
    MUST(tr_spawn_wait(client, listener, TR_MINUTE, NULL));
    MUST(tr_spawn_wait(client, chatter, TR_MINUTE, NULL));
    MUST(tr_tell(client, chatter, word, .worker = -1));
    wait_done();
    end();
}

static double talk_rate(uint64_t trips, double ns)
{
    return ns > 0 ? 2e9 * (double)trips / ns : 0;
}

static void chatty(void)
{
    double times[PAIRS];
    double after[PAIRS];
    uint64_t apart = 0;
    int never = 0;
    for (int i = 0; i < PAIRS; i++) {
        talk_once(TR_BALANCE_ON, false);
        never += !talk.is_together;
        times[i] = talk.is_together ? talk.together_ns - talk.begin_ns : 1e12;
        after[i] = talk_rate(talk.trips - talk.trips_before, TALK_NS - times[i]);
        apart += talk.trips_apart;
    }
    print("chatty, until together", median(times, PAIRS) / 1e6, "ms");
    print("chatty, until together, the longest", times[PAIRS - 1] / 1e6, "ms");
    print("chatty, pairs that never came together", never, "of 21");
    print("chatty, trips apart after that", (double)apart, "of all");
    talk_once(TR_BALANCE_OFF, false);
    print("chatty, before (no balance)", talk_rate(talk.trips, TALK_NS), "messages/s");
    print("chatty, after", median(after, PAIRS), "messages/s");
    talk_once(TR_BALANCE_OFF, true);
    print("chatty, spawned together", talk_rate(talk.trips, TALK_NS), "messages/s");
}

/* ---- lookup: by name, among 100,000. ---- */

TR_REQUEST(look, done, (u64, hot), (bool, in_pool));
TR_ACTOR(named);
TR_ACTOR(finder, look);

enum { NAMES = 100000, LOOKS = 300000, LOOK_ROUNDS = 7, HOT = 64 };
static char paths[NAMES][32]; /* "/user/order-17", of which the name is a part */
enum { NAME_AT = sizeof "/user/" - 1 };

TR_BEHAVIOR(named, void);

/* Looks, at the same `hot` names again and again. */
#define LOOK_AT(from, hot_, in_pool_)                                                              \
    do {                                                                                           \
        uint64_t found_ = 0;                                                                       \
        for (uint64_t i_ = 0; i_ < LOOKS; i_++) {                                                  \
            const char *path_ = paths[i_ * 7919 % (hot_)];                                         \
            found_ += !((in_pool_) ? tr_is_nobody(tr_pool_find(from, named, path_ + NAME_AT))      \
                                   : tr_is_nobody(tr_find(from, named, path_)));                   \
        }                                                                                          \
        require(found_ == LOOKS, "a name was not found");                                          \
    } while (0)

/* Time of the thread: other load of the machine does not count for a look-up. */
static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static tr_next on_look(tr_self *self, const struct look *message)
{
    double from = cpu_ns();
    LOOK_AT(self, message->hot, message->in_pool);
    return tr_reply(self, done, .value = (uint64_t)(cpu_ns() - from));
}
TR_BEHAVIOR(finder, void, TR_ON(look, on_look));

static void look_for(finder_ref finder, uint64_t hot, bool in_pool)
{
    double near[LOOK_ROUNDS];
    double far[LOOK_ROUNDS];
    char name[128];
    for (int i = 0; i < LOOK_ROUNDS; i++) {
        const struct done *reply;
        look_ask asked =
            tr_ask_within(client, TR_MINUTE, finder, look, .hot = hot, .in_pool = in_pool);
        MUST(tr_try_await(client, asked, &reply));
        near[i] = (double)reply->value / LOOKS;
        double from = cpu_ns();
        LOOK_AT(client, hot, in_pool);
        far[i] = (cpu_ns() - from) / LOOKS;
    }
    const char *verb = in_pool ? "tr_pool_find" : "tr_find";
    snprintf(name, sizeof name, "lookup, %s, %u of 100,000 names, handler", verb, (unsigned)hot);
    print(name, median(near, LOOK_ROUNDS), "ns");
    snprintf(name, sizeof name, "lookup, %s, %u of 100,000 names, client", verb, (unsigned)hot);
    print(name, median(far, LOOK_ROUNDS), "ns");
}

static void lookup(void)
{
    finder_ref finder;
    named_ref last = {0};
    begin(2, TR_BALANCE_ON, 0);
    for (int i = 0; i < NAMES; i++) {
        snprintf(paths[i], sizeof paths[i], "/user/order-%d", i);
        MUST(tr_try_pool_spawn(client, &last, named, paths[i] + NAME_AT));
    }
    MUST(tr_spawn_wait(client, last, TR_MINUTE, NULL));
    MUST(tr_try_spawn_at(client, &finder, 1, finder, NULL));
    look_for(finder, HOT, false);
    look_for(finder, HOT, true);
    look_for(finder, NAMES, false);
    look_for(finder, NAMES, true);
    end();
}

int main(int argc, char **argv)
{
    static const struct part parts[] = {{"skewed", skewed}, {"chatty", chatty}, {"lookup", lookup}};
    return run_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
