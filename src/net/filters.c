/* SPDX-License-Identifier: Apache-2.0 */
#include "net/filters.h"

#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/turn/park.h"
#include "base/assert.h"
#include "net/chain.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/input.h"
#include "net/output.h"
#include "net/rare.h"
#include "net/secure.h"
#include "net/tls.h"
#include "net/user_filter.h"
#include "net/wait.h"
#include "net/work.h"

static const struct memory_source *source_of(const struct channel *channel)
{
    return &channel->worker->system->source;
}

/* ---- Chains. ---- */

/*
 * Returns the chain of a channel. If there is none yet, makes it, and puts the present filter of
 * the channel into it as the first one. Returns NULL if there is no memory.
 */
static struct chain *chain_of(struct channel *channel)
{
    struct channel_rare *rare = tr__rare_of(channel);
    if (!rare)
        return NULL;
    struct channel_filter *filter = &rare->filter;
    if (filter->table == &tr__chain_filter)
        return filter->state;
    struct chain *chain = tr__chain_new(source_of(channel));
    if (!chain)
        return NULL;
    if (filter->table && channel->state == CHANNEL_OPEN)
        tr__chain_adopt(chain, filter->table, filter->state);
    else if (filter->table && tr__chain_add(chain, filter->table, filter->state) != TR_OK)
        TR_NOT_REACHED("a new chain has space");
    filter->table = &tr__chain_filter;
    filter->state = chain;
    return chain;
}

/* Adds a filter of the program to a channel, next to the framing. The filter has not started. */
static tr_status user_put(struct channel *channel, const tr_filter *table)
{
    struct chain *chain = chain_of(channel);
    struct user_filter *state = chain ? tr__user_filter_new(source_of(channel), table) : NULL;
    if (!state)
        return TR_NO_MEMORY;
    tr_status status = tr__chain_add(chain, &tr__user_filter, state);
    if (status != TR_OK)
        tr__user_filter.free(state);
    return status;
}

tr_status tr__filters_attach(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const tr_endpoint *options = &channel->endpoint->options;
    tr_status status = TR_OK;
    if (options->kind == TR_ENDPOINT_TLS && !options->starts_plain) {
        struct channel_rare *rare = tr__rare_of(channel);
        status = rare ? tr__secure_begin(channel, &rare->filter.state) : TR_NO_MEMORY;
        if (status == TR_OK)
            rare->filter.table = &tr__tls_filter;
    }
    for (size_t i = 0; i < TR_FILTERS_MAX && options->filters.filters[i] && status == TR_OK; i++)
        status = user_put(channel, options->filters.filters[i]);
    return status;
}

void *tr__filters_find(const struct channel *channel, const struct filter *table)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct channel_filter *filter = &channel->rare->filter;
    if (filter->table == table)
        return filter->state;
    return filter->table == &tr__chain_filter
               ? tr__chain_find(filter->state, table, NULL, NULL, NULL)
               : NULL;
}

const char *tr__filters_text(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct channel_filter *filter = &channel->rare->filter;
    const char *text = filter->table ? filter->table->text(filter->state) : NULL;
    return text && text[0] ? text : NULL;
}

/* ---- While the channel is open. ---- */

/* Ends a channel because a filter has failed. */
static tr_status fail(struct channel *channel, tr_status status)
{
    if (channel->state == CHANNEL_ENDED)
        return channel->status;
    tr__channel_end(channel, status, NULL);
    return status;
}

/*
 * Finds a channel of this turn, and checks that filters may be added to it or removed from it now.
 */
static tr_status changeable(struct tr_self *self, tr_channel handle, struct channel **found)
{
    tr_status status = tr__channel_of(self, handle, found);
    if (status != TR_OK)
        return status;
    const struct channel *channel = *found;
    if (channel->kind != CHANNEL_STREAM)
        return TR_INVALID_ARGUMENT;
    if (channel->state == CHANNEL_ENDED || channel->state == CHANNEL_LINGERING)
        return channel->status == TR_OK ? TR_CLOSED : channel->status;
    /*
     * Refuse if output waits for a commit. That output would pass a filter that is added only now,
     * after the output was written.
     */
    bool is_busy = !waits_are_empty(&channel->readers) || channel->rare->exchanges ||
                   channel->work->output.held ||
                   channel_has(channel, CHANNEL_SHAKES | CHANNEL_FINISHING);
    return channel->state == CHANNEL_OPEN && !is_busy ? TR_OK : TR_INVALID_TRANSITION;
}

/*
 * Moves the unread input to the newest filter, because bytes that have come before the filter was
 * added must pass it too.
 */
static tr_status input_to_filter(struct channel *channel, struct chain *chain)
{
    tr__input_settle(channel);
    tr_status status = tr__chain_feed(chain, net_buffer_bytes(&channel->work->input.buffer));
    if (status != TR_OK)
        return status;
    if (work_is_there(channel)) {
        channel->work->input.buffer.begin = channel->work->input.buffer.end;
        channel->work->input.seen = 0;
        channel->work->input.needs = 0;
        tr__input_settle(channel); /* this frees the memory of the input */
    }
    if (channel_has(channel, CHANNEL_INPUT_OVER)) {
        /*
         * let the channel find the end of the input again, behind the bytes that the filter makes
         */
        tr__chain_end(chain);
        channel->flags &= ~(uint32_t)CHANNEL_INPUT_OVER;
    }
    channel->flags |= CHANNEL_READABLE;
    return TR_OK;
}

/* Begins a filter that was put on an open channel. */
static tr_status begin(struct channel *channel, struct chain *chain)
{
    struct channel_filter *filter = &channel->rare->filter;
    tr_status status = input_to_filter(channel, chain);
    if (status == TR_OK)
        status = filter->table->begin(filter->state, &filter->out);
    if (status != TR_OK)
        return fail(channel, status);
    if (!filter->table->is_open(filter->state)) {
        channel->flags |= CHANNEL_SHAKES;
        channel->deadline_ns =
            timer_deadline(channel->worker->loop.now_ns, channel->endpoint->options.connect_ns);
        tr__channel_arm(channel);
    }
    tr__output_touch(channel);
    return TR_OK;
}

void tr__filters_shake(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    tr_status status = TR_OK;
    while (status == TR_OK && channel_has(channel, CHANNEL_SHAKES) &&
           channel_has(channel, CHANNEL_READABLE) && !channel->work->input.borrower)
        status = tr__input_peek(channel);
    if (status == TR_CLOSED)
        tr__channel_hang_up(channel);
    else if (status != TR_OK && status != TR_WOULD_BLOCK)
        (void)fail(channel, status);
}

/* ---- Verbs. ---- */

static bool is_full(const struct channel *channel)
{
    uint32_t count = channel->rare->filter.table == &tr__chain_filter
                         ? tr__chain_count(channel->rare->filter.state, &tr__user_filter)
                         : 0;
    return count >= TR_FILTERS_MAX;
}

tr_status tr_add_filter(tr_self *self, tr_channel handle, const tr_filter *table)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = changeable(self, handle, &channel);
    if (status == TR_OK && !tr__user_filter_is_valid(table))
        status = TR_INVALID_ARGUMENT;
    if (status == TR_OK && is_full(channel))
        status = TR_LIMIT;
    if (status != TR_OK)
        return status;
    struct chain *chain = chain_of(channel);
    if (!chain)
        return TR_NO_MEMORY;
    /* what was written before must not pass the new filter, so pass it to the present filters now */
    status = tr__output_pass(channel, SIZE_MAX);
    if (status != TR_OK)
        return fail(channel, status);
    status = user_put(channel, table);
    return status == TR_OK ? begin(channel, chain) : status;
}

tr_status tr_remove_filter(tr_self *self, tr_channel handle, const tr_filter *table)
{
    TURN_VERB(self);
    struct channel *channel;
    uint32_t place;
    tr_status status = changeable(self, handle, &channel);
    if (status != TR_OK)
        return status;
    struct channel_filter *filter = &channel->rare->filter;
    struct chain *chain = filter->table == &tr__chain_filter ? filter->state : NULL;
    if (!chain || !tr__chain_find(chain, &tr__user_filter, tr__user_filter_is_of, table, &place))
        return TR_NOT_FOUND;
    status = tr__output_pass(channel, SIZE_MAX);
    tr__input_settle(channel);
    if (status == TR_OK && !work_of(channel))
        status = TR_NO_MEMORY;
    if (status == TR_OK)
        status = tr__chain_remove(chain, place, &channel->work->input.buffer, &filter->out);
    if (status != TR_OK)
        return fail(channel, status);
    if (tr__chain_filter.has_more(chain))
        channel->flags |= CHANNEL_READABLE;
    channel->work->input.seen = 0;
    tr__output_touch(channel);
    return TR_OK;
}

/*
 * Adds TLS to a channel, next to the framing. If the state of TLS cannot be made, the channel stays
 * as it was. Any later failure ends the channel.
 */
static tr_status secure_put(struct channel *channel)
{
    void *state;
    struct chain *chain = chain_of(channel);
    tr_status status = chain ? tr__secure_begin(channel, &state) : TR_NO_MEMORY;
    if (status != TR_OK)
        return status;
    status = tr__output_pass(channel, SIZE_MAX);
    if (status == TR_OK)
        status = tr__chain_add(chain, &tr__tls_filter, state);
    if (status != TR_OK) {
        tr__tls_filter.free(state);
        return fail(channel, status);
    }
    return begin(channel, chain);
}

/* Waits until all filters of a channel are open. */
static tr_status shaken(struct tr_self *self, tr_channel handle, struct channel *channel)
{
    tr_status status = TR_OK;
    for (bool has_waited = false; status == TR_OK; has_waited = true) {
        tr__filters_shake(channel);
        if (channel->state != CHANNEL_OPEN)
            return channel->status == TR_OK ? TR_CLOSED : channel->status;
        if (!channel_has(channel, CHANNEL_SHAKES))
            break;
        status = tr__channel_park(self, channel, &channel->readers, has_waited, NULL);
        if (tr__channel_of(self, handle, &channel) != TR_OK)
            return status == TR_OK ? TR_CLOSED : status;
    }
    /*
     * wake the next turn too, because the bytes that have woken this turn may be for the next one
     */
    tr__waits_wake_one(&channel->readers);
    tr__channel_call(channel);
    return status;
}

tr_status tr_start_tls(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = turn_may_park(self);
    if (status == TR_OK)
        status = changeable(self, handle, &channel);
    if (status == TR_OK &&
        (!channel->endpoint->options.starts_plain || tr__filters_find(channel, &tr__tls_filter)))
        status = TR_INVALID_TRANSITION;
    if (status == TR_OK)
        status = secure_put(channel);
    if (status == TR_OK)
        channel->is_secure = true;
    return status == TR_OK ? shaken(self, handle, channel) : status;
}
