/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Picks the member of a group that gets a message, on the sender's thread, and sends the message to
 * that member.
 */
#include "actor/mail/group_pick.h"

#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/mail/capacity.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/mail/route.h"
#include "actor/mail/kind.h"
#include "actor/mail/address.h"

/* Reads a word of the board. Returns false if the tenant is gone. */
static bool board_word_read(const struct group_walk *walk, const atom64 *place, uint64_t *value)
{
    bool is_there = board_read(&walk->group->board, walk->ref, place, value);
    return is_there || !walk->ref;
}

/*
 * Returns the position of the cursor, which is below `count`, and advances the cursor. Only for the
 * cursor of a worker: no other thread writes it. Needs no division.
 */
static uint32_t next_of(atom32 *cursor, uint32_t count)
{
    uint32_t turn = atom32_load(cursor, ATOM_RELAXED);
    turn = turn < count ? turn : 0;
    atom32_store(cursor, turn + 1, ATOM_RELAXED);
    return turn;
}

/*
 * Returns the position of the next member, for members that are picked one after the other. Each
 * worker has a cursor of its own for this. All other threads share one cursor.
 */
static uint32_t turn_take(struct group_address *group, uint32_t worker, uint32_t count)
{
    uint32_t workers = group->system->worker_count;
    if (worker < workers)
        return next_of(&group->cursors[worker].next, count);
    return atom32_fetch_add(&group->cursors[workers].next, 1, ATOM_RELAXED) % count;
}

/*
 * Plans which members on the sender's worker are tried first. With N workers, every Nth member is
 * on the same worker. Returns false if the tenant is gone.
 */
static bool plan_near(struct group_walk *walk, uint32_t worker_count)
{
    struct group_address *group = walk->group;
    uint64_t base;
    uint64_t members;
    if (!board_word_read(walk, &group->base, &base) ||
        !board_word_read(walk, &group->member_count, &members))
        return false;
    uint32_t first = (walk->worker + worker_count - (uint32_t)base) % worker_count;
    if (first >= members)
        return true;
    walk->near_step = worker_count;
    walk->near_left = ((uint32_t)members - first - 1) / worker_count + 1;
    uint32_t turn = next_of(&group->cursors[walk->worker].next_near, walk->near_left);
    walk->near = first + turn * worker_count;
    return true;
}

static tr_status plan(struct tr_system *system, struct group_walk *walk,
                      const struct group_letter *letter)
{
    struct group_address *group = walk->group;
    uint64_t routes;
    uint64_t count;
    if (!board_word_read(walk, &group->routes, &routes) ||
        !board_word_read(walk, &group->turn_count, &count))
        return TR_STOPPED;
    if (routes) {
        walk->is_router = true;
        walk->left = 1;
        walk->score = UINT64_MAX;
        const tr_route *table = (const tr_route *)(uintptr_t)routes;
        bool has_key =
            tr__route_hash(table, system->names->key, letter->type, letter->data, &walk->hash);
        return has_key ? TR_OK : TR_UNHANDLED;
    }
    if (!count)
        return TR_STOPPED;
    walk->left = (uint32_t)count;
    bool may_be_near = letter->is_ask && walk->worker < system->worker_count;
    return may_be_near && !plan_near(walk, system_open_workers(system)) ? TR_STOPPED : TR_OK;
}

tr_status tr__group_begin(struct tr_system *system, const struct worker *worker, uint64_t ref,
                          const struct group_letter *letter, struct group_walk *walk)
{
    *walk = (struct group_walk){.slots = system->slots,
                                .group = tr__group_find(system, ref),
                                .ref = ref,
                                .worker = worker ? worker->index : UINT32_MAX};
    if (!walk->group)
        return TR_STOPPED;
    switch (board_enter(&walk->group->board, ref, &walk->stay)) {
    case BOARD_STRANGE:
        return TR_STOPPED;
    case BOARD_HOLDS:
        walk->is_held = true;
        walk->left = 1;
        return TR_OK;
    case BOARD_OPEN:
        break;
    }
    return plan(system, walk, letter);
}

static struct cell *next_near(struct group_walk *walk)
{
    uint64_t members;
    while (walk->near_left) {
        walk->near_left--;
        if (!board_word_read(walk, &walk->group->member_count, &members))
            return NULL;
        if (walk->near >= members)
            walk->near %= walk->near_step;
        if (!board_word_read(walk, &walk->group->members[walk->near], &walk->member))
            return NULL;
        walk->near += walk->near_step;
        struct cell *cell = slots_find(walk->slots, walk->member);
        /* the member may have moved to another worker */
        if (cell && cell_owner(cell) == walk->worker)
            return cell;
    }
    return NULL;
}

/*
 * Returns the next member for a key of a router. The first member is the one that has the key. The
 * second is the member that would have the key if the first were gone, and so on.
 */
static struct cell *next_for_key(struct group_walk *walk)
{
    const struct group_address *group = walk->group;
    uint64_t count;
    uint64_t members;
    if (!board_word_read(walk, &group->key_count, &count) ||
        !board_word_read(walk, &group->member_count, &members))
        return NULL;
    uint64_t place = walk->hash & (count - 1);
    if (walk->left) {
        walk->left = 0;
        if (!board_word_read(walk, &group->keys[place], &walk->member))
            return NULL;
        struct cell *cell = slots_find(walk->slots, walk->member);
        if (cell)
            return cell;
    }
    for (;;) {
        uint64_t best = 0;
        for (uint32_t i = 0; i < members; i++) {
            uint64_t member;
            uint64_t score = group_score(place, i);
            if (score >= walk->score || score < best)
                continue;
            if (!board_word_read(walk, &group->members[i], &member))
                return NULL;
            if (!member)
                continue;
            best = score;
            walk->member = member;
        }
        if (!best)
            return NULL;
        walk->score = best;
        struct cell *cell = slots_find(walk->slots, walk->member);
        if (cell)
            return cell;
    }
}

struct cell *tr__group_next(struct group_walk *walk)
{
    struct group_address *group = walk->group;
    if (walk->is_held) {
        if (!walk->left--)
            return NULL;
        walk->member = tr__group_behind(walk->slots, walk->ref);
        return walk->member == walk->ref ? NULL : slots_find(walk->slots, walk->member);
    }
    if (walk->is_router)
        return next_for_key(walk);
    struct cell *near = next_near(walk);
    if (near)
        return near;
    while (walk->left) {
        uint64_t count;
        walk->left--;
        if (!board_word_read(walk, &group->turn_count, &count) || !count)
            return NULL;
        if (!walk->has_turn)
            walk->turn = turn_take(group, walk->worker, (uint32_t)count);
        walk->has_turn = true;
        walk->turn = walk->turn < count ? walk->turn : 0;
        if (!board_word_read(walk, &group->turns[walk->turn++], &walk->member))
            return NULL;
        struct cell *cell = slots_find(walk->slots, walk->member);
        if (cell)
            return cell;
    }
    return NULL;
}

void tr__group_give_up(struct group_walk *walk)
{
    if (walk->is_held)
        board_leave(&walk->group->board, walk->stay);
}

struct group_walk tr__group_all(struct tr_system *system, uint64_t ref)
{
    struct group_walk walk = {
        .slots = system->slots, .group = tr__group_find(system, ref), .ref = ref};
    uint64_t members;
    if (walk.group && board_word_read(&walk, &walk.group->member_count, &members))
        walk.left = (uint32_t)members;
    return walk;
}

bool tr__group_each(struct group_walk *walk, uint64_t *member)
{
    while (walk->turn < walk->left) {
        if (!board_word_read(walk, &walk->group->members[walk->turn++], member))
            return false;
        if (*member && slots_find(walk->slots, *member))
            return true;
    }
    return false;
}

tr_status tr__group_choose(struct group_address *group, const struct worker *worker,
                           const struct group_letter *letter, uint64_t *member)
{
    struct tr_system *system = group->system;
    struct group_walk walk = {.slots = system->slots, .group = group, .worker = worker->index};
    tr_status status = plan(system, &walk, letter);
    if (status != TR_OK)
        return status;
    *member = tr__group_next(&walk) ? walk.member : 0;
    return *member ? TR_OK : TR_STOPPED;
}

/*
 * Picks a member of the group *to, and sends the envelope to it. `worker` is NULL on a thread that
 * is no worker.
 */
static tr_status send_through(struct tr_system *system, struct worker *worker,
                              struct envelope *envelope, struct cell **cell, uint64_t *to)
{
    struct group_walk walk;
    struct group_letter letter = {
        envelope->type, envelope_data(envelope), envelope->kind == ENVELOPE_ASK};
    tr_status status = tr__group_begin(system, worker, *to, &letter, &walk);
    if (status != TR_OK)
        return status;
    status = TR_STOPPED;
    const struct cell *running = worker ? worker_running(worker) : NULL;
    struct cell *member;
    while ((member = tr__group_next(&walk))) {
        mail_redirect(envelope, walk.member);
        tr_status one = TR_MAILBOX_FULL;
        if (!worker)
            one = tr__mail_send_outside(system, member, envelope);
        /* a member for which an earlier turn of this actor waits counts as full */
        else if (!running || !tr__line_has(running, walk.member))
            one = tr__mail_send(worker, member, envelope);
        if (one == TR_STOPPED)
            continue;
        /*
         * If all members are full, the caller gets the first member that was tried, because it was
         * the turn of that member.
         */
        if (one == TR_OK || status == TR_STOPPED) {
            status = one;
            *cell = member;
            *to = walk.member;
        }
        if (one == TR_OK || walk.is_router)
            break;
    }
    if (status != TR_OK) {
        tr__group_give_up(&walk);
        mail_redirect(envelope, *to);
    }
    return status;
}

tr_status tr__group_send(struct worker *worker, struct envelope *envelope, struct cell **cell,
                         uint64_t *to)
{
    return send_through(worker->system, worker, envelope, cell, to);
}

tr_status tr__group_send_outside(struct tr_system *system, struct envelope *envelope,
                                 struct cell **cell, uint64_t *to)
{
    return send_through(system, NULL, envelope, cell, to);
}
