/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Walks over all slots, in steps. Only the worker of an actor knows the actor's asks. So each step
 * asks the workers of the actors that can have asks. Stuck workers are not asked.
 */
#include "observe/asks.h"

#include <troupe/why.h>

#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "observe/actors.h"

enum {
    ASKS_SLOTS = 4096, /* slots that one step reads */
    ASKS_ASKED = 16,   /* actors about which one step asks workers */
    /* At most this many actors are asked about, in all steps together. This takes about a second. */
    ASKS_MOST = 20000,
    ASKS_LISTED = 1000, /* rows of an answer if the request names no limit */
};

struct asks {
    uint32_t slot; /* slot that the next step reads first */
    uint32_t looked;
    uint32_t listed;
    uint32_t not_asked; /* number of actors that were left out because their workers are stuck */
    tr_actor_report report;
    tr_why_report why;
};

static void asks_free(struct visitor *visitor, void *work)
{
    source_resize(visitor->observer->source, work, 0);
}

/* Finds the answer for which an actor has waited longest. Returns NULL if the actor waits for no
 * answer. Sets *count to how many of the actor's turns wait. */
static const tr_reason *wait_find(struct visitor *visitor, struct asks *asks, tr_ref actor,
                                  uint32_t *count)
{
    const tr_reason *oldest = NULL;
    *count = 0;
    if (tr_client_actor_why(visitor->observer->client, actor, &asks->why) != TR_OK)
        return NULL;
    for (size_t i = 0; i < asks->why.count; i++) {
        const tr_reason *reason = &asks->why.reasons[i];
        bool is_wait = reason->kind == TR_WHY_TURN_WAITS || reason->kind == TR_WHY_BARRIER;
        if (!is_wait || !reason->who.bits)
            continue;
        ++*count;
        if (!oldest || reason->age_ns > oldest->age_ns)
            oldest = reason;
    }
    return oldest;
}

static void wait_write(struct visitor *visitor, const tr_reason *oldest)
{
    struct json_line *line = &visitor->output;
    tr_actor_info other;
    bool is_known = tr__observer_find(visitor->observer, oldest->who, &other);
    tr__json_string(line, "of", is_known ? other.path : NULL);
    tr__json_signed(line, "for_ms", oldest->age_ns < 0 ? -1 : oldest->age_ns / TR_MILLISECOND);
    tr__json_string(line, "where", oldest->where);
    tr__json_string(line, "why", oldest->text);
}

/* Asks the worker of an actor about the actor. If the actor waits for an answer or owes one, writes
 * a row. */
static void actor_look(struct visitor *visitor, struct asks *asks,
                       const struct actor_glance *glance)
{
    struct observer *observer = visitor->observer;
    struct json_line *line = &visitor->output;
    const tr_actor_report *report = &asks->report;
    tr_worker_info running;
    tr_actor_info info;
    tr_ref actor = tr_ref_from_bits(glance->ref);
    uint32_t waits = 0;
    asks->looked++;
    if (tr__observer_is_stuck(observer, (int)glance->owner, &running)) {
        asks->not_asked++;
        return;
    }
    tr_status status = tr_actor_show(observer->client, actor, &asks->report);
    asks->not_asked += status == TR_TIMEOUT;
    if (status != TR_OK)
        return;
    const tr_reason *oldest =
        report->turns_waiting ? wait_find(visitor, asks, actor, &waits) : NULL;
    waits = report->asks > waits ? report->asks : waits;
    if ((!waits && !report->replies_owed) || !tr__actor_describe(observer->system, glance, &info))
        return;
    asks->listed++;
    tr__visitor_begin(visitor, visitor->request->id, true);
    tr__json_string(line, "path", info.path);
    tr__json_ref(line, "ref", actor);
    tr__json_string(line, "behavior", info.behavior);
    tr__json_unsigned(line, "asks", waits);
    tr__json_unsigned(line, "replies_owed", report->replies_owed);
    tr__json_unsigned(line, "replies_late", report->replies_late);
    if (oldest)
        wait_write(visitor, oldest);
    tr__visitor_end(visitor);
}

static bool asks_step(struct visitor *visitor)
{
    struct asks *asks = visitor->work;
    struct tr_system *system = visitor->observer->system;
    const struct control_request *request = visitor->request;
    uint32_t made = atom32_load(&system->slots->made, ATOM_ACQUIRE); /* pairs with fresh_range */
    uint32_t limit = request->limit ? request->limit : ASKS_LISTED;
    uint32_t last = asks->slot + ASKS_SLOTS < made ? asks->slot + ASKS_SLOTS : made;
    uint32_t asked = asks->looked + ASKS_ASKED;
    while (asks->slot < last && asks->looked < asked && asks->listed < limit) {
        struct actor_glance glance;
        if (tr__actor_glance(system, asks->slot++, &glance) && glance.has_extra &&
            glance.owner < system->worker_count)
            actor_look(visitor, asks, &glance);
    }
    bool is_over = asks->slot >= made;
    if (!is_over && asks->listed < limit && asks->looked < ASKS_MOST)
        return false;
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(&visitor->output, "count", asks->listed);
    tr__json_unsigned(&visitor->output, "not_asked", asks->not_asked);
    tr__json_bool(&visitor->output, "more", !is_over);
    tr__visitor_end(visitor);
    return true;
}

void tr__verb_asks(struct visitor *visitor, const struct control_request *request)
{
    const struct memory_source *source = visitor->observer->source;
    struct asks *asks = source_resize(source, NULL, sizeof *asks);
    if (!asks) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the looks");
        return;
    }
    asks->slot = 1;
    asks->looked = asks->listed = asks->not_asked = 0;
    tr__visitor_steps(visitor, JOB_STEPS, asks_step, asks, asks_free);
}
