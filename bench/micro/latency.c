/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How long an ask takes at 10, 50 and 90 % of what the asker and the asked can do, on one worker and from
 * one worker to another; bench/peers has the same in Go and Erlang.
 *
 *     cmake --build build --target micro_latency && build/micro/latency [latency_local | latency_cross]
 *
 * The schedule is open: asks are due at random moments (exponentially distributed intervals), whether or not
 * earlier ones are answered, and the time counts from the moment that an ask was due, not from when it was
 * sent. A delay shows in the numbers. The asker looks at the clock, sends what is due, and lets the others
 * run: a pendulum gives its message back when it is its turn. So nothing ever sleeps. What asker and asked
 * can do is measured before, the median of five, in the same way: only that an ask is due at any time. One line
 * of JSON for each load, with nanoseconds.
 *
 * At most 1,024 asks are on their way, in Go and Erlang as well; what is due beyond that waits with the asker,
 * and its time counts. Without this bound a stall of a few milliseconds does not pass: the asks that became due
 * meanwhile are tens of thousands, several times what the caches hold, so that each takes two to four
 * times as long as at the load that was measured before, and more become due than are answered. That is
 * the cache's share of a flood and not the latency of a load.
 */
#include "stage.h"

#include <math.h>

TR_MESSAGE(answer, (u64, due_ns));
TR_REQUEST(question, answer, (u64, due_ns));
TR_ACTOR(oracle, question);
TR_MESSAGE(look);
TR_MESSAGE(load_is, (ref_of(oracle), oracle), (ref, pendulum), (f64, rate));
TR_ACTOR(asker, load_is, look);
TR_ACTOR(pendulum, look);

enum { WAITING_MAX = 1024, SENDS_MAX = 64, FINE = 64, BUCKETS = 64 * FINE };
enum { TRIALS = 5 };
static const double TRIAL_NS = 2e8; /* of what can be done at most */
static const double LEVEL_NS = 1e9;

static uint64_t buckets[BUCKETS]; /* 64 for each power of two */
static uint64_t answered;

static void count(uint64_t ns)
{
    int shift = ns < FINE ? 0 : 63 - __builtin_clzll(ns) - 5;
    buckets[(uint64_t)shift * (FINE / 2) + (ns >> shift)]++;
    answered++;
}

/* The time within which so many of all are answered: the upper end of its bucket. */
static uint64_t percentile(double share)
{
    uint64_t left = (uint64_t)(share * (double)answered);
    uint64_t i = 0;
    while (i < BUCKETS - 1 && buckets[i] <= left)
        left -= buckets[i++];
    if (i < FINE)
        return i;
    uint64_t shift = i / (FINE / 2) - 1;
    return (i - shift * (FINE / 2) + 1) << shift;
}

static tr_next on_question(tr_self *self, const struct question *message)
{
    return tr_reply(self, answer, .due_ns = message->due_ns);
}
TR_BEHAVIOR(oracle, void, TR_ON(question, on_question), TR_OPTIONS(.is_pinned = true));

static tr_next on_swing(tr_self *self)
{
    return tr_reply(self, look);
}
TR_BEHAVIOR(pendulum, void, TR_ON(look, on_swing), TR_OPTIONS(.is_pinned = true));

struct asker {
    oracle_ref oracle;
    pendulum_ref pendulum;
    uint64_t waiting;
    double mean_ns; /* between two asks; 0: as many as can be */
    double due_ns;  /* the next one */
    double end_ns;
    uint64_t random;
};

static tr_next on_answer(struct asker *asker, const question_answer *answer)
{
    require(answer->status == TR_OK, "an ask failed");
    count((uint64_t)(now_ns() - (double)answer->reply->due_ns));
    asker->waiting--;
    return TR_SAME;
}
TR_THEN(answered_is, question, struct asker, on_answer);

static void ask(tr_self *self, struct asker *asker, double due_ns)
{
    asker->waiting++;
    tr_ask_then(self, answered_is, NULL, asker->oracle, question, .due_ns = (uint64_t)due_ns);
}

static void send_due(tr_self *self, struct asker *asker, double now)
{
    for (int i = 0; i < SENDS_MAX && asker->waiting < WAITING_MAX; i++) {
        if (asker->due_ns > now || asker->due_ns >= asker->end_ns)
            return;
        ask(self, asker, asker->due_ns);
        asker->random = asker->random * 6364136223846793005u + 1442695040888963407u;
        double share = ((double)(asker->random >> 11) + 0.5) / 9007199254740992.0;
        asker->due_ns -= log(share) * asker->mean_ns;
    }
}

static tr_next on_look(tr_self *self, struct asker *asker)
{
    double now = now_ns();
    if (asker->mean_ns <= 0)
        asker->due_ns = now;
    send_due(self, asker, now);
    if (asker->waiting == 0 && asker->due_ns >= asker->end_ns)
        tr_tell(self, tr_client_ref(client), done);
    else
        tr_tell(self, asker->pendulum, look);
    return TR_SAME;
}

static tr_next on_load_is(tr_self *self, struct asker *asker, const struct load_is *message)
{
    asker->oracle = message->oracle;
    asker->pendulum = pendulum_ref_of(message->pendulum);
    asker->mean_ns = message->rate > 0 ? 1e9 / message->rate : 0;
    asker->due_ns = now_ns();
    asker->end_ns = asker->due_ns + (message->rate > 0 ? LEVEL_NS : TRIAL_NS);
    asker->random = 1;
    tr_tell(self, tr_me(self), look);
    return TR_SAME;
}
TR_BEHAVIOR(asker, struct asker, TR_ON(load_is, on_load_is), TR_ON(look, on_look),
            TR_OPTIONS(.is_pinned = true));

/* Asks a second. */
static double level(asker_ref asker, oracle_ref oracle, pendulum_ref pendulum, double rate)
{
    memset(buckets, 0, sizeof buckets);
    answered = 0;
    double from = now_ns();
    MUST(tr_tell(
        client, asker, load_is, .oracle = oracle, .pendulum = tr_any(pendulum), .rate = rate));
    wait_done();
    return (double)answered * 1e9 / (now_ns() - from);
}

static void measure(const char *name, int workers)
{
    static const int loads[] = {10, 50, 90};
    asker_ref asker;
    oracle_ref oracle;
    pendulum_ref pendulum;
    begin(workers, TR_BALANCE_OFF, TR_SECOND);
    MUST(tr_try_spawn_at(client, &oracle, workers - 1, oracle, NULL));
    MUST(tr_try_spawn_at(client, &asker, 0, asker, NULL));
    MUST(tr_try_spawn_at(client, &pendulum, 0, pendulum, NULL));
    double trials[TRIALS];
    for (int i = 0; i < TRIALS; i++)
        trials[i] = level(asker, oracle, pendulum, 0);
    double capacity = median(trials, TRIALS);
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        double rate = level(asker, oracle, pendulum, capacity * loads[i] / 100);
        printf(
            "{\"peer\":\"troupe\",\"workload\":\"%s\",\"load\":%d,\"capacity\":%.0f,\"rate\":%.0f,"
            "\"p50\":%llu,\"p99\":%llu,\"p999\":%llu}\n",
            name,
            loads[i],
            capacity,
            rate,
            (unsigned long long)percentile(0.5),
            (unsigned long long)percentile(0.99),
            (unsigned long long)percentile(0.999));
        fflush(stdout);
    }
    end();
}

static void latency_local(void)
{
    measure("latency_local", 1);
}

static void latency_cross(void)
{
    measure("latency_cross", 2);
}

int main(int argc, char **argv)
{
    static const struct part parts[] = {{"latency_local", latency_local},
                                        {"latency_cross", latency_cross}};
    return run_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
