/* SPDX-License-Identifier: Apache-2.0 */
#include "net/chain.h"

#include <string.h>

#include "base/assert.h"

enum {
    LINKS_MAX = TR_FILTERS_MAX +
                1, /* the largest number of filters of a chain: TLS, and those of the program */
    /* how many bytes of input one call passes to a filter; few, because a filter may expand them */
    SLICE = 4096
};

struct link {
    const struct filter *table;
    void *state;
    /* bytes that have come for the filter, and that the filter has not taken yet */
    struct net_buffer raw;
};

struct chain {
    const struct memory_source *source;
    uint32_t count;
    uint32_t begun;  /* how many filters have begun: links[0] to links[begun - 1] */
    uint32_t live;   /* index of the first filter whose input has not ended */
    uint32_t failed; /* index of the filter that has returned the last error */
    /* the last call has stopped because of rule 3 of chain.h, so bytes still wait for a filter */
    bool is_held;
    bool is_over; /* the filter with index `live` gets no more bytes */
    struct link links[LINKS_MAX];
};

struct chain *tr__chain_new(const struct memory_source *source)
{
    struct chain *chain = source_resize(source, NULL, sizeof *chain);
    if (chain)
        *chain = (struct chain){.source = source};
    return chain;
}

tr_status tr__chain_add(struct chain *chain, const struct filter *table, void *state)
{
    if (chain->count == LINKS_MAX)
        return TR_LIMIT;
    chain->links[chain->count++] =
        (struct link){.table = table, .state = state, .raw = NET_BUFFER(chain->source)};
    return TR_OK;
}

void tr__chain_adopt(struct chain *chain, const struct filter *table, void *state)
{
    TR_ASSERT(!chain->count);
    chain->links[0] =
        (struct link){.table = table, .state = state, .raw = NET_BUFFER(chain->source)};
    chain->count = chain->begun = 1;
}

tr_status tr__chain_feed(struct chain *chain, tr_bytes bytes)
{
    TR_ASSERT(chain->count > 0);
    chain->is_held |= bytes.size > 0;
    return tr__net_buffer_append(&chain->links[chain->count - 1].raw, bytes.data, bytes.size);
}

void tr__chain_end(struct chain *chain)
{
    chain->is_over = true;
}

uint32_t tr__chain_count(const struct chain *chain, const struct filter *table)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < chain->count; i++)
        count += chain->links[i].table == table;
    return count;
}

void *tr__chain_find(const struct chain *chain, const struct filter *table,
                     bool (*is_it)(const void *state, const void *what), const void *what,
                     uint32_t *place)
{
    for (uint32_t i = chain->count; i-- > 0;) {
        const struct link *link = &chain->links[i];
        if (link->table != table || (is_it && !is_it(link->state, what)))
            continue;
        if (place)
            *place = i;
        return link->state;
    }
    return NULL;
}

/* ---- Output: from the actor to the other side. ---- */

static tr_status failed(struct chain *chain, uint32_t i, tr_status status)
{
    chain->failed = i;
    return status;
}

/*
 * Passes bytes through the filters below filter number `from`. That filter has made the bytes; if
 * there is no such filter, the actor has.
 */
static tr_status descend(struct chain *chain, uint32_t from, tr_bytes bytes, struct net_buffer *out)
{
    struct net_buffer made[2] = {NET_BUFFER(chain->source), NET_BUFFER(chain->source)};
    tr_status status = from ? TR_OK : tr__net_buffer_append(out, bytes.data, bytes.size);
    for (uint32_t i = from; i-- > 0 && bytes.size && status == TR_OK;) {
        struct link *link = &chain->links[i];
        struct net_buffer *to = i ? &made[i & 1] : out;
        tr__net_buffer_free(&made[i & 1]);
        status = link->table->outbound(link->state, bytes, to);
        if (status != TR_OK)
            chain->failed = i;
        bytes = net_buffer_bytes(to);
    }
    tr__net_buffer_free(&made[0]);
    tr__net_buffer_free(&made[1]);
    return status;
}

/*
 * Passes the bytes that filter number `i` has made for the other side through the filters below it,
 * and frees the buffer of the bytes.
 */
static tr_status descend_made(struct chain *chain, uint32_t i, struct net_buffer *made,
                              struct net_buffer *out)
{
    tr_status status = descend(chain, i, net_buffer_bytes(made), out);
    tr__net_buffer_free(made);
    return status;
}

/* Begins the filters that rule 1 of chain.h allows to begin: all filters below them are open. */
static tr_status advance(struct chain *chain, struct net_buffer *out)
{
    while (chain->begun < chain->count) {
        uint32_t i = chain->begun;
        if (i && !chain->links[i - 1].table->is_open(chain->links[i - 1].state))
            return TR_OK;
        struct net_buffer made = NET_BUFFER(chain->source);
        chain->begun++;
        tr_status status = chain->links[i].table->begin(chain->links[i].state, &made);
        tr_status sent = descend_made(chain, i, &made, out);
        if (status != TR_OK)
            return failed(chain, i, status);
        if (sent != TR_OK)
            return sent;
    }
    return TR_OK;
}

/* ---- Input: from the other side to the actor. ---- */

/* Gives filter number `i` the first `size` of the bytes that wait for it. Sets *taken to the number
 * of bytes that the filter has taken. 0: the filter needs more bytes. */
static tr_status link_step(struct chain *chain, uint32_t i, size_t size, size_t *taken,
                           struct net_buffer *to, struct net_buffer *out)
{
    struct link *link = &chain->links[i];
    struct net_buffer made = NET_BUFFER(chain->source);
    tr_bytes bytes = {net_buffer_bytes(&link->raw).data, size};
    *taken = 0;
    tr_status status = link->table->inbound(link->state, bytes, taken, to, &made);
    TR_ASSERT(*taken <= size);
    net_buffer_consume(&link->raw, *taken);
    tr_status sent = descend_made(chain, i, &made, out);
    if (status != TR_OK)
        return failed(chain, i, status);
    return sent;
}

/*
 * Passes the bytes that wait for filter number `i` to that filter, as many as rule 3 of chain.h
 * allows. Returns TR_CLOSED if the filter has ended in order.
 */
static tr_status link_run(struct chain *chain, uint32_t i, struct net_buffer *in,
                          struct net_buffer *out)
{
    struct net_buffer *raw = &chain->links[i].raw;
    struct net_buffer *to = i + 1 < chain->count ? &chain->links[i + 1].raw : in;
    size_t limit = to == in ? net_buffer_size(in) + CHAIN_HELD : CHAIN_HELD;
    size_t slice = SLICE;
    tr_status status = TR_OK;
    while (net_buffer_size(raw) && status == TR_OK) {
        size_t there = net_buffer_size(raw), taken;
        if (net_buffer_size(to) >= limit) {
            chain->is_held = true;
            return TR_OK;
        }
        size_t size = slice < there ? slice : there;
        status = link_step(chain, i, size, &taken, to, out);
        if (status != TR_OK || taken) {
            slice = SLICE;
            continue;
        }
        if (size == there)
            return there < TR_FILTER_HELD_MAX ? TR_OK : failed(chain, i, TR_TOO_LARGE);
        slice = there; /* offer all bytes: the filter may need more than SLICE bytes at once */
    }
    if (!net_buffer_size(raw))
        tr__net_buffer_free(raw);
    return status;
}

/*
 * Call when the first filter gets no more input and no bytes wait for a filter. Asks filter number
 * `live` and the filters above it whether the input may end now. Returns TR_CLOSED if it may.
 */
static tr_status end_of_input(struct chain *chain)
{
    for (uint32_t i = chain->live; i < chain->count; i++) {
        const struct link *link = &chain->links[i];
        tr_status status = link->table->input_end(link->state);
        bool is_whole =
            i < chain->begun && !net_buffer_size(&link->raw) && link->table->is_open(link->state);
        /*
         * TR_OK says that the filter does not know. Then the end is in order if no bytes are left.
         */
        if (status == TR_OK)
            status = is_whole ? TR_CLOSED : TR_RESET;
        if (status != TR_CLOSED)
            return failed(chain, i, status);
    }
    return TR_CLOSED;
}

static tr_status chain_run(struct chain *chain, struct net_buffer *in, struct net_buffer *out)
{
    tr_status status;
    uint32_t begun;
    chain->is_held = false;
    do {
        begun = chain->begun;
        for (uint32_t i = chain->live; i < begun; i++) {
            status = link_run(chain, i, in, out);
            if (status == TR_CLOSED) {
                chain->live = i + 1;
                chain->is_over = true;
            } else if (status != TR_OK) {
                return status;
            }
        }
        status = advance(chain, out);
        if (status != TR_OK)
            return status;
    } while (begun < chain->begun);
    return chain->is_over && !chain->is_held ? end_of_input(chain) : TR_OK;
}

/* ---- The filter. ---- */

static tr_status chain_begin(void *state, struct net_buffer *out)
{
    return advance(state, out);
}

static tr_status chain_inbound(void *state, tr_bytes bytes, size_t *taken, struct net_buffer *in,
                               struct net_buffer *out)
{
    struct chain *chain = state;
    *taken = bytes.size;
    if (!chain->live) {
        struct net_buffer *first = chain->count ? &chain->links[0].raw : in;
        tr_status status = tr__net_buffer_append(first, bytes.data, bytes.size);
        if (status != TR_OK)
            return failed(chain, 0, status);
    }
    return chain_run(chain, in, out);
}

static tr_status chain_outbound(void *state, tr_bytes bytes, struct net_buffer *out)
{
    struct chain *chain = state;
    return descend(chain, chain->count, bytes, out);
}

/*
 * Ends the output of filter number `i`, and passes the bytes that the filter appends for that
 * through the filters below it.
 */
static tr_status link_finish(struct chain *chain, uint32_t i, struct net_buffer *out)
{
    struct net_buffer made = NET_BUFFER(chain->source);
    tr_status status = chain->links[i].table->finish(chain->links[i].state, &made);
    tr_status sent = descend_made(chain, i, &made, out);
    return status == TR_OK ? sent : failed(chain, i, status);
}

static tr_status chain_finish(void *state, struct net_buffer *out)
{
    struct chain *chain = state;
    tr_status status = TR_OK;
    for (uint32_t i = chain->begun; i-- > 0 && status == TR_OK;)
        status = link_finish(chain, i, out);
    return status;
}

static tr_status chain_input_end(void *state)
{
    struct chain *chain = state;
    chain->is_over = true;
    return end_of_input(chain);
}

static bool chain_is_open(const void *state)
{
    const struct chain *chain = state;
    for (uint32_t i = 0; i < chain->begun; i++) {
        if (!chain->links[i].table->is_open(chain->links[i].state))
            return false;
    }
    return chain->begun == chain->count;
}

static bool chain_has_more(const void *state)
{
    const struct chain *chain = state;
    return chain->is_held || chain->is_over;
}

static const char *chain_text(const void *state)
{
    const struct chain *chain = state;
    const struct link *link = &chain->links[chain->failed];
    return chain->failed < chain->count ? link->table->text(link->state) : "";
}

static size_t chain_bytes(const void *state)
{
    const struct chain *chain = state;
    size_t bytes = sizeof *chain;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct link *link = &chain->links[i];
        bytes += link->raw.capacity;
        if (link->table->bytes)
            bytes += link->table->bytes(link->state);
    }
    return bytes;
}

static void link_free(struct link *link)
{
    link->table->free(link->state);
    tr__net_buffer_free(&link->raw);
}

static void chain_free(void *state)
{
    struct chain *chain = state;
    for (uint32_t i = chain->count; i-- > 0;)
        link_free(&chain->links[i]);
    source_resize(chain->source, chain, 0);
}

const struct filter tr__chain_filter = {
    .name = "chain",
    .begin = chain_begin,
    .inbound = chain_inbound,
    .outbound = chain_outbound,
    .finish = chain_finish,
    .input_end = chain_input_end,
    .is_open = chain_is_open,
    .has_more = chain_has_more,
    .text = chain_text,
    .bytes = chain_bytes,
    .free = chain_free,
};

tr_status tr__chain_remove(struct chain *chain, uint32_t place, struct net_buffer *in,
                           struct net_buffer *out)
{
    TR_ASSERT(place < chain->begun);
    struct net_buffer *raw = &chain->links[place].raw;
    struct net_buffer *to = place + 1 < chain->count ? &chain->links[place + 1].raw : in;
    tr_status status = tr__net_buffer_append(to, net_buffer_bytes(raw).data, net_buffer_size(raw));
    if (status == TR_OK)
        status = link_finish(chain, place, out);
    if (status != TR_OK)
        return failed(chain, place, status);
    chain->is_held |= net_buffer_size(to) && to != in;
    link_free(&chain->links[place]);
    chain->count--;
    chain->begun--;
    chain->live -= chain->live > place;
    memmove(&chain->links[place],
            &chain->links[place + 1],
            (chain->count - place) * sizeof chain->links[0]);
    return TR_OK;
}
