/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/ttl.h"

#include <string.h>
#include <troupe/durable.h>

#include "actor/cell/cell.h"
#include "actor/mail/kind.h"
#include "durable/clock.h"
#include "durable/commit.h"
#include "durable/drive.h"
#include "durable/turn.h"
#include "durable/work.h"
#include "store/read.h"
#include "base/assert.h"

/* The bytes of the alarm say when the actor was used last, low byte first. */
enum { USE_SIZE = 8 };

static tr_time due_after(const struct durable_kind *kind, tr_time use_ns)
{
    return use_ns + kind->ttl_ns + kind->ttl_ns / TTL_PART;
}

static tr_time later_of(tr_time a, tr_time b)
{
    return a > b ? a : b;
}

bool tr__ttl_load(struct durable_actor *actor, const struct store_row *row)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    const unsigned char *bytes = row->bytes.data;
    if (strcmp(row->name, TTL_ALARM) != 0)
        return false;
    uint64_t use = 0;
    for (size_t i = 0; i < USE_SIZE && i < row->bytes.size; i++)
        use |= (uint64_t)bytes[i] << (8 * i);
    actor->ttl.stored_ns = (tr_time)use;
    actor->ttl.due_ns = row->due_wall_ns;
    return true;
}

void tr__ttl_use(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    const tr_platform *platform = worker->system->platform;
    if (actor->kind->ttl_ns)
        actor->ttl.used_ns = platform->wall_now(platform);
}

tr_time tr__ttl_due(const struct durable_actor *actor)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    return actor->ttl.due_ns ? actor->ttl.due_ns : TR_NEVER;
}

static tr_status ttl_put(struct durable_actor *actor, tr_time use_ns, tr_time due_ns)
{
    struct store_batch *batch = tr__commit_batch(actor);
    unsigned char *bytes = batch ? tr__store_batch_alloc(batch, USE_SIZE) : NULL;
    if (!bytes)
        return TR_NO_MEMORY;
    for (int i = 0; i < USE_SIZE; i++)
        bytes[i] = (unsigned char)((uint64_t)use_ns >> (8 * i));
    tr_status status = tr__store_alarm_set(batch, TTL_ALARM, due_ns, (tr_bytes){bytes, USE_SIZE});
    if (status != TR_OK)
        return status;
    actor->ttl.stored_ns = use_ns;
    actor->ttl.due_ns = due_ns;
    if (due_ns < actor->alarm_ns)
        actor->alarm_ns = due_ns;
    return TR_OK;
}

tr_status tr__ttl_close(struct durable_actor *actor, bool is_due)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    const struct durable_ttl *ttl = &actor->ttl;
    tr_time part_ns = actor->kind->ttl_ns / TTL_PART;
    if (!ttl->used_ns || actor->is_doomed || actor->is_destroy_wanted)
        return TR_OK;
    /* If nothing of the actor is stored, its use need not be stored, because there will be nothing
     * to destroy. */
    bool is_wanted =
        ttl->due_ns ? ttl->used_ns - ttl->stored_ns > part_ns : is_due || !actor->is_new;
    return is_wanted ? ttl_put(actor, ttl->used_ns, due_after(actor->kind, ttl->used_ns)) : TR_OK;
}

/* Whether a message of the application waits in this mailbox. */
static bool has_message(const struct envelope *last)
{
    const struct envelope *envelope = last;
    do {
        if (!envelope)
            return false;
        if (mail_takes_capacity(envelope) &&
            !tr_type_is_equal(envelope->type, &tr_type_tr_durable_due))
            return true;
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
    } while (envelope != last);
    return false;
}

/* Whether the actor is handling a message, or a message waits. */
static bool ttl_is_busy(struct worker *worker, struct durable_actor *actor)
{
    static const uint32_t busy = 1u << COUNTER_REQUESTS | 1u << COUNTER_LATERS |
                                 1u << COUNTER_STASH | 1u << COUNTER_KEEP_AWAKE |
                                 1u << COUNTER_CONNECTIONS;
    const struct cell *cell = actor->durable.cell;
    tr__work_look(worker, actor);
    return actor->machine.wake_locks.raised & busy || has_message(cell->notices) ||
           has_message(cell->cycle) || has_message(cell->extra->mail.held) ||
           has_message(cell->extra->mail.requests);
}

/* The actor is not destroyed yet, so moves its alarm to the time of the next check. If the kind no
 * longer has a time to live, removes the alarm. */
static tr_status ttl_move(struct durable_actor *actor, tr_time use_ns, tr_time now_ns)
{
    tr_time ttl_ns = actor->kind->ttl_ns;
    if (ttl_ns)
        return ttl_put(
            actor, use_ns, later_of(due_after(actor->kind, use_ns), now_ns + ttl_ns / TTL_PART));
    struct store_batch *batch = tr__commit_batch(actor);
    tr_status status = batch ? tr__store_alarm_clear(batch, TTL_ALARM) : TR_NO_MEMORY;
    if (status == TR_OK)
        actor->ttl.due_ns = 0;
    return status;
}

tr_next tr__ttl_turn(struct tr_self *self, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    const struct durable_kind *kind = actor->kind;
    tr_time now_ns = tr_wall_now(self);
    tr_time use_ns = later_of(actor->ttl.used_ns, actor->ttl.stored_ns);
    if (!actor->ttl.due_ns || actor->ttl.due_ns > now_ns) {
        if (actor->ttl.due_ns)
            tr__clock_tell(worker, kind->host, actor->ttl.due_ns);
        return tr__durable_skip(self);
    }
    bool is_over = kind->ttl_ns && due_after(kind, use_ns) <= now_ns && !ttl_is_busy(worker, actor);
    if (!tr__frame_begin(self, actor, "ttl", false))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for a turn");
    tr_status status = is_over ? tr_destroy(self) : ttl_move(actor, use_ns, now_ns);
    tr_next next = {TR_NEXT_SAME};
    if (status != TR_OK)
        next =
            tr_fail(self, status, "the time to live cannot be stored: %s", tr_status_text(status));
    next = tr__frame_done(self, actor, next, false);
    tr__frame_end(self, actor);
    tr__durable_drive(worker, actor, false);
    return next;
}
