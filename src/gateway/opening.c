/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/opening.h"

#include <stdio.h>
#include <string.h>

#include "durable/connection_gone.h"
#include "http/events.h"

static void on_opened(struct ordered_ask *ask, tr_status status, const void *reply,
                      const tr_error *why)
{
    struct opening *opening = (struct opening *)(void *)ask;
    opening->status = status;
    if (status == TR_OK)
        opening->reply = *(const struct tr_durable_connection *)reply;
    else if (why)
        opening->why = *why;
}

/*
 * Reads the number of the last event from a text. If the text is no number, uses a number that no
 * event has, so that the client learns that it may have missed events (a gap).
 */
static void read_last(const char *text, struct tr_durable_connect *wish)
{
    int size = 0;
    unsigned long long number = 0;
    wish->has_last = text;
    if (text && sscanf(text, "%19llu%n", &number, &size) == 1 && !text[size])
        wish->last = number;
    else if (text)
        wish->last = UINT64_MAX;
}

bool tr__opening_ask(struct visit *visit, struct opening *opening, const char *last)
{
    *opening = (struct opening){.channel = tr__http_events_token(visit->request)};
    struct tr_durable_connect wish = {
        .channel = opening->channel, .caller = visit->caller, .query = visit->request->head.query};
    read_last(last, &wish);
    opening->status = TR_CANCELLED;
    opening->ask = (struct ordered_ask){.kind = visit->exposed->kind,
                                        .key = {visit->key, strlen(visit->key)},
                                        .type = &tr_type_tr_durable_connect,
                                        .message = &wish,
                                        .on_outcome = on_opened};
    tr__ask_in_order(visit->self, &opening->ask);
    if (opening->status == TR_OK)
        return true;
    /*
     * The ask has failed, but the actor may still accept the connection, and would then send events
     * to this channel. So no other request may follow on the channel, and the actor is notified
     * that the connection is not wanted.
     */
    if (opening->status != TR_REFUSED) {
        visit->request->keeps = false;
        tr__connection_unwanted(visit->self->worker,
                                visit->exposed->kind,
                                (tr_bytes){visit->key, strlen(visit->key)},
                                tr_me(visit->self).bits,
                                opening->channel);
    }
    struct problem problem = tr__problem_of_ask(opening->status, &opening->why);
    tr__visit_fail(visit, &problem);
    return false;
}

void tr__opening_undo(const struct visit *visit, const struct opening *opening, int code)
{
    tr__connection_gone(visit->self->worker,
                        visit->exposed->kind,
                        (tr_bytes){visit->key, strlen(visit->key)},
                        opening->reply.number,
                        code);
}
