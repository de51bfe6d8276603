/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/otlp.h"

#include <stdio.h>
#include <string.h>
#include <troupe/http_client.h>
#include <troupe/pool.h>

#include "actor/cell/client.h"
#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "actor/turn/follow_turn.h"
#include "http/head.h"
#include "http/url.h"
#include "observe/otlp_json.h"
#include "observe/spans.h"

enum {
    OTLP_PAGE = 64,   /* records that are read at once */
    OTLP_PAGES = 256, /* the largest number of pages of records that one tick reads */
    OTLP_BATCH = 256, /* one HTTP request of the export sends at most this many spans */
};
#define OTLP_TICK_NS (100 * TR_MILLISECOND)
#define OTLP_POST_NS (1 * TR_SECOND)
#define OTLP_AGAIN_NS (5 * TR_SECOND) /* delay until the next HTTP POST after one that has failed */
#define OTLP_SAY_NS (60 * TR_SECOND)
#define OTLP_WITHIN_NS (10 * TR_SECOND)

bool tr__otlp_is_built(void)
{
    return tr__http_is_built();
}

bool tr__otlp_url(const char *url, char *to, size_t size)
{
    struct http_url parsed;
    if (tr__http_url_read(url, &parsed) != TR_OK || parsed.is_websocket)
        return false;
    const char *host = strstr(url, "://");
    const char *path = host ? strpbrk(host + 3, "/?") : NULL;
    if (path && *path == '?')
        return false;
    int length = snprintf(to, size, "%s%s", url, !path ? "/v1/traces" : path[1] ? "" : "v1/traces");
    return length > 0 && (size_t)length < size;
}

TR_MESSAGE(tr_otlp_open, (str, app), (str, url));
TR_MESSAGE(tr_otlp_tick);
TR_ACTOR(tr_otlp);

struct tr_otlp {
    const struct memory_source *source;
    struct spans *spans;
    struct follow_event *events; /* OTLP_PAGE */
    uint64_t after;              /* number of the last record that was read */
    uint64_t missed;             /* how many records were replaced before they were read */
    bool is_posting;
    tr_time post_ns;  /* when the next HTTP POST may be sent */
    tr_time said_ns;  /* when the log last said that spans were dropped; 0: never */
    uint64_t said;    /* how many spans and records had been dropped at that time */
    uint64_t dropped; /* spans */
    char app[TR_NAME_MAX + 1];
    char url[512];
    char why[240]; /* why the last HTTP POST failed */
};

static void otlp_free(void *data)
{
    struct tr_otlp *otlp = data;
    tr__spans_free(otlp->source, otlp->spans);
    source_resize(otlp->source, otlp->events, 0);
}

static tr_next on_open(tr_self *self, struct tr_otlp *otlp, const struct tr_otlp_open *message)
{
    /* The timer and the HTTP POSTs inherit this causal id. With this id they are not followed. */
    self->causal = FOLLOW_UNSAMPLED | tr_random(self) >> 24;
    otlp->source = &self->worker->system->source;
    (void)snprintf(otlp->app, sizeof otlp->app, "%s", message->app);
    (void)snprintf(otlp->url, sizeof otlp->url, "%s", message->url);
    tr_at_end(self, otlp, otlp_free);
    otlp->spans = tr__spans_new(otlp->source);
    otlp->events = source_resize(otlp->source, NULL, OTLP_PAGE * sizeof *otlp->events);
    if (!otlp->spans || !otlp->events)
        return tr_fail(self, TR_NO_MEMORY, "out of memory for spans");
    otlp->after = atom64_load(&self->worker->system->follow->number, ATOM_RELAXED);
    tr_timer_fixed_delay(self, "tick", OTLP_TICK_NS, tr_otlp_tick);
    tr_log_info(self, "spans go to %s", otlp->url);
    return TR_SAME;
}

/* Reads the records that were written since the last tick. */
static void collect(struct tr_otlp *otlp, struct tr_system *system)
{
    size_t count = OTLP_PAGE;
    for (int page = 0; count == OTLP_PAGE && page < OTLP_PAGES; page++) {
        uint64_t gone;
        count = tr__follow_read(system, otlp->after, otlp->events, OTLP_PAGE, &gone);
        otlp->missed += gone;
        for (size_t i = 0; i < count; i++)
            tr__spans_add(otlp->spans, &otlp->events[i]);
        if (count)
            otlp->after = otlp->events[count - 1].number;
    }
    tr__spans_tick(otlp->spans);
}

/* Counts the spans that were dropped, and reports them in the log. */
static void count_drops(struct tr_self *self, struct tr_otlp *otlp)
{
    struct follow_export *export = follow_export_of(self->worker->system->follow);
    uint64_t drops = otlp->spans->dropped;
    otlp->spans->dropped = 0;
    otlp->dropped += drops;
    (void)atom64_fetch_add(&export->dropped, drops, ATOM_RELAXED);
    tr_time now_ns = tr_now(self);
    bool is_new = otlp->dropped + otlp->missed > otlp->said || otlp->why[0];
    if (!is_new || (otlp->said_ns && now_ns - otlp->said_ns < OTLP_SAY_NS))
        return;
    otlp->said_ns = now_ns;
    otlp->said = otlp->dropped + otlp->missed;
    tr_log_warn(self,
                "the export to %s: %llu spans and %llu records were dropped so far%s%s",
                otlp->url,
                (unsigned long long)otlp->dropped,
                (unsigned long long)otlp->missed,
                otlp->why[0] ? "; the last post has failed: " : "",
                otlp->why);
    otlp->why[0] = '\0';
}

/*
 * Removes the spans of an export from the table, after the collector has accepted or refused the
 * HTTP POST that contained them. `turns` are the turns of these spans.
 */
static void batch_remove(struct tr_otlp *otlp, const uint64_t *turns, size_t count)
{
    struct span *span = tr__spans_first(otlp->spans);
    for (size_t i = 0; i < count && span; i++) {
        /*
         * Some of these spans may have been dropped while the POST was on its way. Find the next
         * one that is still there.
         */
        while (i < count && span->turn != turns[i])
            i++;
        if (i == count)
            return;
        struct span *next = tr__spans_next(otlp->spans, span);
        tr__spans_remove(otlp->spans, span);
        span = next;
    }
}

/*
 * Whether an HTTP POST must be repeated after this answer. The specification of OTLP names these
 * codes.
 */
static bool is_temporary(int status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

static void post(struct tr_self *self, struct tr_otlp *otlp)
{
    struct tr_system *system = self->worker->system;
    struct follow_export *export = follow_export_of(system->follow);
    uint64_t turns[OTLP_BATCH];
    size_t count = 0;
    struct json_line text;
    tr__json_line_init(&text, &system->source);
    tr__otlp_begin(&text, otlp->app);
    for (struct span *span = tr__spans_first(otlp->spans); span && count < OTLP_BATCH;
         span = tr__spans_next(otlp->spans, span)) {
        tr__otlp_span(&text, system, export, span);
        turns[count++] = span->turn;
    }
    tr__otlp_end(&text);
    if (!count || text.has_failed) {
        tr__json_line_free(&text);
        return;
    }
    const struct tr_http_answer *answer;
    otlp->is_posting = true;
    tr_http_call_ask asked = tr_http_ask(self,
                                         otlp->url,
                                         .method = "POST",
                                         .type = "application/json",
                                         .body = (tr_bytes){text.data, text.length},
                                         .within_ns = OTLP_WITHIN_NS);
    tr__json_line_free(&text); /* the request has a copy of the text */
    tr_status status = tr_try_await(self, asked, &answer);
    otlp->is_posting = false;
    int code = status == TR_OK ? answer->status : 0;
    bool is_done = code / 100 == 2;
    if (code && !is_temporary(code))
        batch_remove(otlp, turns, count);
    (void)atom64_fetch_add(&export->sent, is_done ? count : 0, ATOM_RELAXED);
    otlp->post_ns = tr_now(self) + (is_done ? 0 : OTLP_AGAIN_NS);
    if (is_done)
        return;
    if (code)
        (void)snprintf(otlp->why, sizeof otlp->why, "status %d", code);
    else
        (void)snprintf(otlp->why, sizeof otlp->why, "%s", tr_ask_error(self, asked)->text);
    if (code && !is_temporary(code))
        otlp->spans->dropped += count;
}

static tr_next on_tick(tr_self *self, struct tr_otlp *otlp)
{
    collect(otlp, self->worker->system);
    if (!otlp->is_posting && tr_now(self) >= otlp->post_ns && tr__spans_first(otlp->spans)) {
        otlp->post_ns = tr_now(self) + OTLP_POST_NS;
        do
            post(self, otlp);
        while (tr_now(self) >= otlp->post_ns && otlp->spans->ended_count >= OTLP_BATCH);
        if (otlp->post_ns < tr_now(self) + OTLP_POST_NS)
            otlp->post_ns = tr_now(self) + OTLP_POST_NS;
    }
    count_drops(self, otlp);
    return TR_SAME;
}

/*
 * Handles the stop of the actor. A turn cannot wait here, so there is no last HTTP POST, and spans
 * that were not sent are lost.
 */
static tr_next on_post_stop(tr_self *self, struct tr_otlp *otlp)
{
    collect(otlp, self->worker->system);
    otlp->spans->dropped += otlp->spans->ended_count;
    otlp->said_ns = 0;
    count_drops(self, otlp);
    return TR_SAME;
}

TR_BEHAVIOR(tr_otlp, struct tr_otlp, TR_SETUP_WITH(tr_otlp_open, on_open),
            TR_ON(tr_otlp_tick, on_tick), TR_ON(tr_post_stop, on_post_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

tr_status tr__otlp_start(tr_client *client, const char *app, const char *url, uint32_t every,
                         tr_ref *actor)
{
    tr_otlp_ref otlp;
    struct tr_system *system = client->system;
    tr_status status = tr__follow_export_make(system, every);
    if (status == TR_OK)
        status = tr__follow_open(system);
    if (status == TR_OK)
        status =
            tr_try_pool_spawn(client, &otlp, tr_otlp, "otlp", tr_otlp_open, .app = app, .url = url);
    if (status == TR_OK)
        *actor = tr_ref_from_bits(otlp.bits);
    return status;
}
