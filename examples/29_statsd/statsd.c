/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counters by UDP, as statsd has them: "hits:1|c". A collector on each worker has a socket of its own on the same port, so
 * that the kernel spreads the senders. Once a second each collector sends its counters to an actor that prints the sums. Try
 * it: echo 'hits:3|c' | nc -u -w0 localhost 8125
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(counted, (str, name), (i64, value));
TR_ACTOR(sums, counted, tr_args);
TR_MESSAGE(flush);
TR_MESSAGE(open_collector, (ref_of(sums), sums), (str, address));
TR_ACTOR(collector, flush, tr_datagram);

enum { NAMES_MAX = 512 };

struct collector {
    sums_ref sums;
    uint32_t count;
    uint64_t lost; /* lines that are none of ours, and names beyond NAMES_MAX */
    struct {
        char name[56];
        int64_t value;
    } counters[NAMES_MAX];
};

static tr_next set_up(tr_self *self, struct collector *collector,
                      const struct open_collector *message)
{
    collector->sums = message->sums;
    tr_channel channel =
        tr_bind(self, TR_UDP(message->address, .reuses_port = true, .frame_max = 1472));
    const char *address = tr_address_text(self, tr_channel_address(self, channel));
    printf("worker %d is listening at %s\n", tr_worker(self), address);
    fflush(stdout);
    tr_timer_fixed_rate(self, "flush", TR_SECOND, flush);
    return TR_SAME;
}

static void count(struct collector *collector, const char *line, size_t size)
{
    const char *colon = memchr(line, ':', size);
    const char *bar = colon ? memchr(colon, '|', size - (size_t)(colon - line)) : NULL;
    size_t length = colon ? (size_t)(colon - line) : 0;
    uint32_t i = 0;
    if (!bar || !length || length >= sizeof collector->counters[0].name) {
        collector->lost++;
        return;
    }
    while (i < collector->count && (strlen(collector->counters[i].name) != length ||
                                    memcmp(collector->counters[i].name, line, length) != 0))
        i++;
    if (i == NAMES_MAX) {
        collector->lost++;
        return;
    }
    if (i == collector->count)
        memcpy(collector->counters[collector->count++].name, line, length);
    int64_t value = strtoll(colon + 1, NULL, 10); /* which ends at the bar */
    if (__builtin_add_overflow(collector->counters[i].value, value, &value))
        collector->lost++;
    else
        collector->counters[i].value = value;
}

/* All that have come, in one call. A datagram may have several lines. */
static tr_next on_datagrams(struct collector *collector, const struct tr_datagram *const *datagrams,
                            size_t datagram_count)
{
    for (size_t i = 0; i < datagram_count; i++) {
        const char *at = datagrams[i]->bytes.data;
        const char *end = at + datagrams[i]->bytes.size;
        while (at < end) {
            const char *line_end = memchr(at, '\n', (size_t)(end - at));
            line_end = line_end ? line_end : end;
            count(collector, at, (size_t)(line_end - at));
            at = line_end + 1;
        }
    }
    return TR_SAME;
}

static tr_next on_flush(tr_self *self, struct collector *collector)
{
    for (uint32_t i = 0; i < collector->count; i++) {
        if (collector->counters[i].value)
            tr_tell(self,
                    collector->sums,
                    counted,
                    .name = collector->counters[i].name,
                    .value = collector->counters[i].value);
        collector->counters[i].value = 0;
    }
    return TR_SAME;
}

TR_BEHAVIOR(collector, struct collector, TR_SETUP_WITH(open_collector, set_up),
            TR_ON_BATCH(tr_datagram, on_datagrams), TR_ON(flush, on_flush));

static tr_next on_counted(const struct counted *message)
{
    printf("%s %" PRId64 "\n", message->name, message->value);
    fflush(stdout);
    return TR_SAME;
}

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    const char *address = message->argv.count > 1 ? message->argv.items[1] : ":8125";
    tr_spawn_group(self,
                   collector,
                   "collectors",
                   TR_ONE_PER_WORKER,
                   open_collector,
                   .sums = sums_ref_of(tr_me(self)),
                   .address = address);
    return TR_SAME;
}

TR_BEHAVIOR(sums, void, TR_ON(tr_args, on_args), TR_ON(counted, on_counted));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, sums);
}
