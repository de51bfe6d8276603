/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times what a message costs through a group, a router and a topic, beside a plain one.
 *
 *     cmake --build build --target micro_crowd && build/micro/crowd [workers]
 *
 * One actor sends a burst and then lets the others handle it. The times are CPU time of the sender's
 * thread for one call, of the burst in the middle and of the best one, so that a busy machine matters
 * little; the handling is not in it. With one worker all are on it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <troupe/troupe.h>

enum { BURST = 1000, ROUNDS = 500, MEMBERS = 4 };

TR_MESSAGE(word, (u64, n), (u64, a), (u64, b));
TR_MESSAGE(page, (u64, n), (array(u8, 4088), text));
TR_MESSAGE(next_round);
TR_MESSAGE(done, (f64, median_ns), (f64, best_ns));
TR_MESSAGE(plan, (i32, what), (i32, count), (ref, reply_to));
TR_TOPIC(news, word, page);
TR_ACTOR(sink, word, page);
TR_ROUTES(sink, TR_ROUTE_BY(word, n));
TR_ACTOR(source, next_round, plan);

static tr_next on_word(uint64_t *sum, const struct word *message)
{
    *sum += message->n;
    return TR_SAME;
}
static tr_next on_page(uint64_t *sum, const struct page *message)
{
    *sum += message->n;
    return TR_SAME;
}
static tr_next sink_set_up(tr_self *self)
{
    if (strncmp(tr_path(self), "/user/source/reader", 19) == 0)
        tr_subscribe(self, tr_topic_open(self, news, "news"));
    return TR_SAME;
}
TR_BEHAVIOR(sink, uint64_t, TR_SETUP(sink_set_up), TR_ON(word, on_word), TR_ON(page, on_page));

enum { PLAIN, GROUP, ROUTER, PUBLISH_WORD, PUBLISH_PAGE, TELL_EACH_WORD, TELL_EACH_PAGE };
static const char *const names[] = {"tell to one actor",
                                    "tell through a group of 4",
                                    "tell through a router of 4",
                                    "publish 24 bytes",
                                    "publish 4 KiB",
                                    "tell each 24 bytes",
                                    "tell each 4 KiB"};

struct source {
    struct plan plan;
    sink_ref to;
    sink_ref *each;
    news_topic news;
    int rounds;
    double took_ns[ROUNDS];
};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int burst_of(const struct plan *plan)
{
    return plan->what <= ROUTER ? BURST : plan->count > 100 ? 4 : BURST / plan->count / 4 + 1;
}

static void burst(tr_self *self, struct source *source)
{
    static const struct page text;
    int count = burst_of(&source->plan);
    for (int i = 0; i < count; i++) {
        switch (source->plan.what) {
        case PUBLISH_WORD:
            tr_publish(self, source->news, word, .n = (uint64_t)i);
            break;
        case PUBLISH_PAGE:
            tr_publish_copy(self, source->news, page, &text);
            break;
        case TELL_EACH_WORD:
            for (int j = 0; j < source->plan.count; j++)
                tr_tell(self, source->each[j], word, .n = (uint64_t)i);
            break;
        case TELL_EACH_PAGE:
            for (int j = 0; j < source->plan.count; j++)
                tr_tell_copy(self, source->each[j], page, &text);
            break;
        default:
            tr_tell(self, source->to, word, .n = (uint64_t)i);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return difference < 0 ? -1 : difference > 0;
}

static tr_next on_round(tr_self *self, struct source *source)
{
    if (source->rounds == ROUNDS) {
        double messages = burst_of(&source->plan);
        qsort(source->took_ns, ROUNDS, sizeof source->took_ns[0], by_size);
        tr_tell(self,
                source->plan.reply_to,
                done,
                .median_ns = source->took_ns[ROUNDS / 2] / messages,
                .best_ns = source->took_ns[0] / messages);
        return TR_STOP;
    }
    double before_ns = now_ns();
    burst(self, source);
    source->took_ns[source->rounds++] = now_ns() - before_ns;
    tr_timer_once(self, NULL, 0, next_round); /* after the others */
    return TR_SAME;
}

static tr_next on_plan(tr_self *self, struct source *source, const struct plan *message)
{
    int workers = tr_system_workers(tr_system_of(self));
    source->plan = *message;
    if (message->what == PLAIN)
        source->to = tr_spawn_at(self, workers - 1, sink, NULL);
    else if (message->what == GROUP)
        source->to = tr_spawn_group(self, sink, NULL, MEMBERS);
    else if (message->what == ROUTER)
        source->to = tr_spawn_router(self, sink, NULL, MEMBERS);
    source->news = tr_topic_open(self, news, "news");
    source->each = tr_alloc(self, (size_t)message->count * sizeof *source->each);
    for (int i = 0; i < message->count && message->what > ROUTER; i++) {
        bool reads = message->what == PUBLISH_WORD || message->what == PUBLISH_PAGE;
        char *name = tr_format(self, "%s%d", reads ? "reader" : "sink", i);
        source->each[i] = tr_spawn_at(self, i % workers, sink, name);
    }
    tr_sleep(self, 50 * TR_MILLISECOND); /* those elsewhere are set up */
    tr_tell(self, tr_me(self), next_round);
    return TR_SAME;
}
TR_BEHAVIOR(source, struct source, TR_ON(next_round, on_round), TR_ON(plan, on_plan));

static void measure(int workers, int what, int count)
{
    tr_system *system;
    tr_client *client;
    source_ref source;
    const tr_system_options options = {.size = sizeof options, .workers = workers};
    if (tr_system_new(&options, &system) != TR_OK || tr_system_start(system) != TR_OK ||
        tr_client_new(system, &client) != TR_OK ||
        tr_try_spawn(client, &source, source, "source") != TR_OK)
        exit(1);
    tr_tell(client, source, plan, .what = what, .count = count, .reply_to = tr_client_ref(client));
    const struct done *done = tr_receive(client, done, TR_MINUTE);
    if (!done)
        exit(2);
    printf("%d workers  %-28s %5d receivers  %9.1f ns, at best %9.1f ns\n",
           workers,
           names[what],
           count,
           done->median_ns,
           done->best_ns);
    tr_client_free(client);
    tr_system_shutdown(system, 10 * TR_SECOND);
    if (tr_system_wait(system) != TR_OK)
        exit(3);
    tr_system_free(system);
}

int main(int argc, char **argv)
{
    int workers = argc > 1 ? atoi(argv[1]) : 1;
    for (int what = PLAIN; what <= ROUTER; what++)
        measure(workers, what, what == PLAIN ? 1 : MEMBERS);
    for (int what = PUBLISH_WORD; what <= TELL_EACH_PAGE; what++) {
        for (int count = 1; count <= 1000; count *= count == 1 ? 10 : 100)
            measure(workers, what, count);
    }
    return 0;
}
