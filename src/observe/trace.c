/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "actor/cell/follow.h"
#include "actor/cell/system.h"
#include "actor/mail/kind.h"
#include "actor/turn/follow_turn.h"
#include "observe/slow_trees.h"

enum {
    TRACE_PAGE = 32,   /* records that are read at once */
    TRACE_LIMIT = 200, /* records of an answer if the request names no limit */
    /* The largest number of records of an answer. With this number the answer is smaller than
     * VISITOR_PAGE_MAX. */
    TRACE_LIMIT_MOST = 400
};

void tr__trace_leave(struct visitor *visitor)
{
    struct tr_system *system = visitor->observer->system;
    if (visitor->followed)
        tr__follow_unmark(system, visitor->followed);
    visitor->followed = 0;
    if (visitor->follows)
        tr__follow_close(system);
    visitor->follows = false;
}

uint64_t tr__causal_read(const char *text)
{
    uint64_t causal = 0;
    size_t length = 0;
    for (; text[length]; length++) {
        char digit = text[length];
        int value = digit >= '0' && digit <= '9'   ? digit - '0'
                    : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                    : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                                   : -1;
        if (value < 0 || length == 16)
            return 0;
        causal = causal << 4 | (uint64_t)value;
    }
    return causal;
}

void tr__causal_refuse(struct visitor *visitor, const struct control_request *request)
{
    tr__visitor_refuse(visitor,
                       request->id,
                       TR_INVALID_ARGUMENT,
                       "a causal id has up to 16 hexadecimal digits: \"%.40s\"",
                       request->causal);
}

tr_status tr__trace_join(struct visitor *visitor)
{
    tr_status status = visitor->follows ? TR_OK : tr__follow_open(visitor->observer->system);
    visitor->follows |= status == TR_OK;
    return status;
}

/* Begins to follow the actor or the causal id of the request. Returns false if the request was
 * refused. */
static bool follow(struct visitor *visitor, const struct control_request *request, uint64_t causal)
{
    struct tr_system *system = visitor->observer->system;
    bool has_path = request->path && *request->path;
    tr_ref actor = has_path ? tr__visitor_actor(visitor, request) : TR_NOBODY;
    if (has_path && !actor.bits)
        return false;
    tr_status status = tr__trace_join(visitor);
    if (status == TR_OK && actor.bits && actor.bits != visitor->followed) {
        if (visitor->followed)
            tr__follow_unmark(system, visitor->followed);
        status = tr__follow_mark(system, actor.bits);
        visitor->followed = status == TR_OK ? actor.bits : 0;
    }
    if (status == TR_OK && causal)
        tr__follow_causal(system->follow, causal);
    if (status == TR_LIMIT)
        tr__visitor_refuse(visitor,
                           request->id,
                           status,
                           "%d actors are followed, which is the most",
                           TR_FOLLOWED_MAX);
    else if (status != TR_OK)
        tr__visitor_refuse(visitor, request->id, status, "%s", tr_status_text(status));
    return status == TR_OK;
}

static void event_write(struct json_line *line, const struct follow_event *event)
{
    static const char *const whats[] = {[FOLLOW_BEGAN] = "began",
                                        [FOLLOW_ENDED] = "ended",
                                        [FOLLOW_SENT] = "sent",
                                        [FOLLOW_SPAWNED] = "spawned"};
    char causal[20];
    (void)snprintf(causal, sizeof causal, "%016" PRIx64, event->causal);
    tr__json_unsigned(line, "number", event->number);
    tr__json_string(line, "what", whats[event->what]);
    tr__json_signed(line, "time_ns", event->time_ns);
    tr__json_string(line, "causal", causal);
    tr__json_unsigned(line, "turn", event->turn);
    tr__json_string(line, "path", event->path);
    tr__json_ref(line, "ref", tr_ref_from_bits(event->actor));
    tr__json_unsigned(line, "worker", event->worker);
    if (event->other) {
        tr__json_ref(line, "other", tr_ref_from_bits(event->other));
        tr__json_string(line, "other_path", event->other_path[0] ? event->other_path : NULL);
    }
    if (event->type) {
        tr__json_string(line, "message", event->type->name);
        tr__json_string(line, "kind", tr__kind_text((enum envelope_kind)event->kind));
    }
    if (event->handler)
        tr__json_string(line, "handler", event->handler);
    if (event->behavior)
        tr__json_string(line, "behavior", event->behavior);
    if (event->count)
        tr__json_unsigned(line, "count", event->count);
    if (event->status != TR_OK)
        tr__json_string(line, "status", tr_status_name(event->status));
}

/* Writes a record as a part of the answer. */
static void part_write(struct visitor *visitor, const struct control_request *request,
                       const struct follow_event *event)
{
    tr__visitor_begin(visitor, request->id, true);
    event_write(&visitor->output, event);
    tr__visitor_end(visitor);
}

/*
 * Writes records of a slow turn that were copied, with numbers above *after. Moves *after to the
 * number of the last record that was read, and reduces *limit by the number of records that were
 * written.
 */
static void tree_write(struct visitor *visitor, const struct control_request *request,
                       const struct slow_tree *tree, uint64_t *after, size_t *limit)
{
    const struct follow_event *events[TRACE_LIMIT_MOST];
    size_t count = tr__slow_tree_read(visitor->observer, tree, *after, events, *limit);
    for (size_t i = 0; i < count; i++)
        part_write(visitor, request, events[i]);
    *limit -= count;
    *after = *limit ? tree->upto : events[count - 1]->number;
}

/* Writes records with numbers above `after`. Returns the number of the last record that was read. */
static uint64_t events_write(struct visitor *visitor, const struct control_request *request,
                             const struct slow_tree *tree, uint64_t *missed)
{
    struct tr_system *system = visitor->observer->system;
    uint64_t causal = request->causal ? tr__causal_read(request->causal) : 0;
    uint64_t after = request->after;
    size_t limit = request->limit ? request->limit : TRACE_LIMIT;
    limit = limit < TRACE_LIMIT_MOST ? limit : TRACE_LIMIT_MOST;
    /*
     * Records that were replaced since the tree was copied do not count as missed, because they
     * belong to other causal ids. If the tree lacks records, its member is_cut says so.
     */
    bool is_copied = tree && after < tree->upto;
    if (is_copied)
        tree_write(visitor, request, tree, &after, &limit);
    struct follow_event *events = source_resize(&system->source, NULL, TRACE_PAGE * sizeof *events);
    size_t count = events ? TRACE_PAGE : 0;
    while (count == TRACE_PAGE && limit) {
        uint64_t gone;
        count = tr__follow_read(system, after, events, TRACE_PAGE, &gone);
        *missed += is_copied ? 0 : gone;
        is_copied = false;
        for (size_t i = 0; i < count && limit; i++) {
            after = events[i].number;
            if (causal && events[i].causal != causal)
                continue;
            limit--;
            part_write(visitor, request, &events[i]);
        }
    }
    source_resize(&system->source, events, 0);
    return after;
}

void tr__verb_trace(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    struct json_line *line = &visitor->output;
    uint64_t causal = request->causal ? tr__causal_read(request->causal) : 0;
    uint64_t missed = 0;
    if (request->causal && !causal) {
        tr__causal_refuse(visitor, request);
        return;
    }
    if (!follow(visitor, request, causal))
        return;
    uint64_t newest = atom64_load(&system->follow->number, ATOM_RELAXED);
    uint64_t last = newest;
    struct slow_tree *tree = tr__slow_trees_find(visitor->observer, causal);
    if (tree)
        tree->listed_ns =
            /* the tree stays while a client reads pages of it */
            tr__observer_now(visitor->observer);
    if (request->after <= newest)
        last = events_write(visitor, request, tree, &missed);
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(line, "last", last);
    tr__json_bool(line, "more", last < newest);
    tr__json_unsigned(line, "missed", missed);
    tr__json_unsigned(line, "given_up", atom64_load(&system->follow->given_up, ATOM_RELAXED));
    if (tree && tree->is_cut)
        tr__json_bool(line, "cut", true);
    tr__json_signed(line, "now_ns", system->platform->mono_now(system->platform));
    tr__json_signed(line, "unix_ms", system->platform->wall_now(system->platform) / TR_MILLISECOND);
    tr__visitor_end(visitor);
}
