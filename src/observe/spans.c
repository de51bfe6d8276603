/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/spans.h"

#include <string.h>

#include "actor/mail/kind.h"
#include "base/hash.h"

struct spans *tr__spans_new(const struct memory_source *source)
{
    struct spans *spans = source_resize(source, NULL, sizeof *spans);
    if (!spans)
        return NULL;
    memset(spans, 0, sizeof *spans);
    list_init(&spans->open);
    list_init(&spans->ended);
    list_init(&spans->unused);
    for (size_t i = 0; i < SPANS_BUCKETS; i++)
        list_init(&spans->buckets[i]);
    for (size_t i = 0; i < SPANS_MAX; i++)
        list_push_last(&spans->unused, &spans->all[i].link);
    for (size_t i = 0; i < SPANS_SENDS_MAX; i++)
        list_init(&spans->sends[i].link);
    return spans;
}

void tr__spans_free(const struct memory_source *source, struct spans *spans)
{
    source_resize(source, spans, 0);
}

static struct span *span_of(struct list *link)
{
    return LIST_OWNER(link, struct span, link);
}

static struct list *bucket_of(struct spans *spans, uint64_t causal, uint64_t receiver)
{
    return &spans->buckets[hash_mix(causal ^ hash_mix(receiver)) % SPANS_BUCKETS];
}

/* Finds the span of a turn that has not ended. Begins with the newest span, because that is most
 * likely the right one. */
static struct span *open_find(struct spans *spans, uint64_t turn)
{
    for (struct list *link = spans->open.previous; link != &spans->open; link = link->previous) {
        if (span_of(link)->turn == turn)
            return span_of(link);
    }
    return NULL;
}

/* Takes a span for a new turn. If no span is free, drops the oldest span. */
static struct span *span_take(struct spans *spans)
{
    struct list *link = list_first(&spans->unused);
    if (!link) {
        bool has_ended = !list_is_empty(&spans->ended);
        link = list_first(has_ended ? &spans->ended : &spans->open);
        spans->ended_count -= has_ended;
        spans->dropped++;
    }
    list_remove(link);
    return span_of(link);
}

static void send_add(struct spans *spans, const struct follow_event *event)
{
    if (event->status != TR_OK)
        return;
    struct span_send *send = &spans->sends[spans->sends_next++ % SPANS_SENDS_MAX];
    list_remove(&send->link);
    *send = (struct span_send){.turn = event->turn,
                               .causal = event->causal,
                               .receiver = event->other,
                               .type = event->type,
                               .time_ns = event->time_ns};
    list_push_last(bucket_of(spans, event->causal, event->other), &send->link);
}

static void span_begin(struct spans *spans, const struct follow_event *event)
{
    struct span *span = span_take(spans);
    *span = (struct span){.turn = event->turn,
                          .causal = event->causal,
                          .actor = event->actor,
                          .start_ns = event->time_ns,
                          .type = event->type,
                          .handler = event->handler,
                          .behavior = event->behavior,
                          .worker = event->worker,
                          .kind = event->kind};
    memcpy(span->path, event->path, sizeof span->path);
    list_push_last(&spans->open, &span->link);
}

static void span_end(struct spans *spans, const struct follow_event *event)
{
    struct span *span = open_find(spans, event->turn);
    if (!span)
        return; /* the span is missing, because the record of the turn's beginning was dropped */
    span->end_ns = event->time_ns;
    span->status = event->status;
    span->tick = spans->tick;
    list_remove(&span->link);
    list_push_last(&spans->ended, &span->link);
    spans->ended_count++;
}

/* Whether an event comes from a timer of the runtime, such as the timer for kept connections. Such a
 * timer has the causal id of the turn that has started it. So its turns would belong to that id
 * forever. */
static bool is_housekeeping(const struct follow_event *event)
{
    return event->kind == ENVELOPE_EVENT && event->type &&
           strncmp(event->type->name, "tr_", 3) == 0;
}

void tr__spans_add(struct spans *spans, const struct follow_event *event)
{
    switch ((enum follow_what)event->what) {
    case FOLLOW_BEGAN:
        if (!is_housekeeping(event))
            span_begin(spans, event);
        return;
    case FOLLOW_ENDED:
        span_end(spans, event);
        return;
    case FOLLOW_SENT:
        send_add(spans, event);
        return;
    case FOLLOW_SPAWNED:
    case FOLLOW_COUNT:
        return;
    }
}

void tr__spans_tick(struct spans *spans)
{
    spans->tick++;
}

/* Returns the parent of a turn that a timer has begun. The parent is an earlier turn of the same actor with the same
 * causal id. */
static uint64_t timer_parent(struct spans *spans, const struct span *span)
{
    const struct span *found = NULL;
    for (size_t i = 0; i < SPANS_MAX; i++) {
        const struct span *other = &spans->all[i];
        if (other->actor == span->actor && other->causal == span->causal &&
            other->start_ns < span->start_ns && (!found || other->start_ns > found->start_ns))
            found = other;
    }
    return found ? found->turn : 0;
}

/* Finds the turn that sent the message of a span. If several messages fit, takes the oldest one,
 * because messages between two actors do not overtake each other. */
static void span_link(struct spans *spans, struct span *span)
{
    struct list *bucket = bucket_of(spans, span->causal, span->actor);
    if (span->parent)
        return;
    for (struct list *link = bucket->next; link != bucket; link = link->next) {
        struct span_send *send = LIST_OWNER(link, struct span_send, link);
        if (send->causal != span->causal || send->receiver != span->actor ||
            send->type != span->type || send->time_ns > span->start_ns)
            continue;
        span->parent = send->turn;
        list_remove(&send->link);
        list_init(&send->link);
        return;
    }
    if (span->kind == ENVELOPE_EVENT)
        span->parent = timer_parent(spans, span);
}

static struct span *ready(struct spans *spans, struct list *link)
{
    if (link == &spans->ended || span_of(link)->tick == spans->tick)
        return NULL;
    span_link(spans, span_of(link));
    return span_of(link);
}

struct span *tr__spans_first(struct spans *spans)
{
    return ready(spans, spans->ended.next);
}

struct span *tr__spans_next(struct spans *spans, struct span *span)
{
    return ready(spans, span->link.next);
}

void tr__spans_remove(struct spans *spans, struct span *span)
{
    list_remove(&span->link);
    list_push_last(&spans->unused, &span->link);
    spans->ended_count--;
}
