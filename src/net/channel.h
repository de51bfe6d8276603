/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A channel: the record of one socket, and what its states are.
 *
 * A channel belongs to the actor `cell`, on the worker `worker`, and only that worker touches it. The exceptions
 * are `bits` and `owner`, which any worker may read to refuse a verb on the channel of another actor.
 *
 * States
 *     DIALING    it is being opened: a name is looked up, it connects, TLS shakes hands. What is written waits
 *     OPEN
 *     LINGERING  its actor has closed it or has ended. It sends what is left, reads and drops, then closes
 *     ENDED      the socket is closed. What was received may still be read; then the actor gets tr_closed
 *     FREE       the slot has no channel
 * Only channel_change writes the state.
 *
 * Events of the operating system set READABLE, WRITABLE and HUNG_UP; a call that would block clears the first two.
 */
#ifndef NET_CHANNEL_H
#define NET_CHANNEL_H

#include <troupe/net.h>

#include "actor/cell/channel.h"
#include "actor/cell/slots.h"
#include "actor/cell/worker.h"
#include "base/list.h"
#include "net/buffer.h"
#include "net/endpoint.h"
#include "os/atomic.h"

struct area;
struct exchange;
struct filter;
struct out_page;
struct process;
struct channel_timers;
struct pieces;
struct protocol_streams;

enum channel_state {
    CHANNEL_FREE,
    CHANNEL_DIALING,
    CHANNEL_OPEN,
    CHANNEL_LINGERING,
    CHANNEL_ENDED,
    CHANNEL_STATES
};

enum channel_kind {
    CHANNEL_STREAM,
    CHANNEL_LISTENER, /* its actor gets tr__acceptable: net/listener.c */
    CHANNEL_DATAGRAM,
    CHANNEL_ATTEMPT, /* a connect on behalf of another channel: net/dial.c */
    CHANNEL_EXIT,    /* the end of a child process: net/process.h */
    CHANNEL_SIGNALS  /* its actor gets tr_signal: net/signals.c */
};

enum channel_flag {
    CHANNEL_READABLE = 1 << 0, /* a receive may give something */
    CHANNEL_WRITABLE = 1 << 1, /* a send may take something */
    CHANNEL_HUNG_UP = 1 << 2, /* the other side has ended: a receive gives the rest, then the end */
    CHANNEL_INPUT_OVER = 1 << 3, /* a receive has given the end */
    /* the program writes nothing more; the end is sent after the output */
    CHANNEL_FINISHING = 1 << 4,
    CHANNEL_FINISHED = 1 << 5,    /* the end was sent */
    CHANNEL_ACCEPTED = 1 << 6,    /* accepted by a listener: its actor is a session */
    CHANNEL_HANDED_OVER = 1 << 7, /* handed over by another actor */
    /* made by tr_dial, and its turn that connects has not begun yet */
    CHANNEL_DIALED = 1 << 8,
    CHANNEL_OPENS = 1 << 9,       /* the actor is to get tr_opened */
    CHANNEL_DRAINS = 1 << 10,     /* the actor is to get tr_drained when there is capacity */
    CHANNEL_IN_TURN = 1 << 11,    /* a turn handles one of its messages */
    CHANNEL_DIRTY = 1 << 12,      /* it is in net_worker.dirty */
    CHANNEL_WAITS_OPEN = 1 << 13, /* a turn in tr_connect waits for its handshake */
    CHANNEL_CLOSES = 1 << 14,     /* the actor is to get tr_closed */
    CHANNEL_WATCHED = 1 << 15,    /* the loop watches its descriptor */
    CHANNEL_PAUSED = 1 << 16,     /* of a listener: it accepts nothing now */
    CHANNEL_END_HELD = 1 << 17,   /* the end behind the output waits for a commit: net/held.h */
    CHANNEL_CLOSE_HELD = 1 << 18, /* tr_close or tr_reset waits for a commit: net/held.h */
    CHANNEL_SHAKES = 1 << 19,     /* a filter was added to the open channel; its handshake lasts */
    CHANNEL_UNASKED = 1 << 20,    /* the first piece that has come belongs to no exchange */
    CHANNEL_ALONE = 1 << 21,      /* an exchange is under way alone, or a turn waits for that */
    CHANNEL_FILE = 1 << 22,       /* a turn writes a file to the channel; other writes wait */
    CHANNEL_GONE = 1 << 23,       /* tr_closed was handled, and a turn still has bytes of it */
    CHANNEL_STARVED = 1 << 24,    /* memory was missing: the channel is looked at again soon */
    CHANNEL_COUNTED = 1 << 25,    /* it counts as a session of endpoint->listener */
    CHANNEL_PEER_V4 = 1 << 26,    /* peer.v4 is set */
    CHANNEL_PEER_FAR = 1 << 27,   /* peer.far is set */
    CHANNEL_ANSWERED =
        1 << 28, /* of a protocol: a whole answer was written, which a failure does not cut */
    CHANNEL_IN_PART = 1 << 29,       /* of a protocol: a piece has begun to come */
    CHANNEL_CLOSES_OPENED = 1 << 30, /* it was closed with output while it was being opened */
    CHANNEL_TAKEN = 1u << 31         /* accepted by tr_accept: its actor is no session */
};

/** Bytes that have come and were not read. */
struct channel_input {
    struct net_buffer buffer; /* in `area`, if that is not NULL, else memory of its own */
    struct area *area;
    uint32_t seen; /* how many of the unread bytes were searched, and had no end of a piece */
    /* set by tr_unread without a framing: a piece is looked for when more bytes than this are there */
    uint32_t needs;
    uint8_t how;   /* enum cut_how of the last look */
    bool is_empty; /* the last piece that was taken has no bytes, but may have an end or a length */
    /* where the last piece that was taken begins, in buffer.data; UINT32_MAX: none */
    uint32_t piece;
    uint32_t nul; /* where a NUL was written behind that piece; UINT32_MAX: nowhere */
    unsigned char under_nul;
    struct tr_self *borrower;      /* the turn that has bytes of the last piece, or NULL */
    struct channel *borrowed_next; /* in tr_self.borrowed */
};

/** Bytes that were written and not sent. */
struct channel_output {
    struct out_page *first;
    struct out_page *last;
    size_t size; /* bytes of all pages */
    size_t held; /* how many of these wait for a commit: net/held.h */
    /* bytes after the held ones that are not held themselves; sent when nothing is held */
    size_t behind;
    tr_time since_ns; /* when the last byte was sent, or the first one written after that */
};

/** What stands between the socket and the input and output; net/filter.h. */
struct channel_filter {
    const struct filter *table; /* NULL: none */
    void *state;
    struct net_buffer raw; /* bytes that came and that the filter has not taken yet */
    struct net_buffer out; /* bytes that the filter has made and that were not sent yet */
};

/**
 * What a channel needs while it has bytes, in or out. A channel without bytes has tr__no_work, which is only read;
 * net/work.h.
 */
struct channel_work {
    struct channel_input input;
    struct channel_output output;
};

/** What only some channels need. The others have tr__no_rare, which is only read; net/rare.h. */
struct channel_rare {
    struct channel *channel;
    struct channel_filter filter;
    struct list shaking;         /* link in net_worker.shaking */
    tr_time within_ns;           /* tr_channel_within; 0: no limit */
    struct exchange *exchanges;  /* under way, the oldest first: net/exchange.c */
    struct exchange *looks;      /* asks of tr_readable and tr_writable */
    struct pieces *pieces;       /* pieces that are handled at once: net/pieces.c; NULL: none */
    uint32_t exchange_count;     /* of `exchanges` */
    struct datagrams *datagrams; /* datagrams that have come: net/datagram.c; NULL: none */
    uint64_t datagrams_lost;     /* how many the kernel has dropped, by its own count */
    uint64_t datagrams_refused;  /* errors that came back for datagrams that were sent */
    /* peer address by the kernel; set only with connections_per_peer_max */
    tr_address accepted_from;
    /* the process that this channel is a part of: net/process.h; NULL: none */
    struct process *process;
    /* timers that end with the channel: net/channel_timers.h; NULL: none */
    struct channel_timers *timers;
    char *text;    /* text for tr_closed; NULL: none */
    void *session; /* of a protocol: what it keeps between pieces; NULL: nothing */
    struct protocol_streams
        *streams; /* of a protocol that reads outside of turns; NULL: it does not */
};

/** Turns that wait for a channel: a ring. */
struct channel_waits {
    struct channel_wait *first; /* the wait that began first; NULL: none */
};

struct channel_timer;

/** The address of the other side, where it is known without asking the kernel; net/peer.h. */
union channel_peer {
    struct {
        uint8_t host[4];
        uint16_t port;
    } v4;            /* CHANNEL_PEER_V4 */
    tr_address *far; /* CHANNEL_PEER_FAR: memory of its own */
};

/**
 * All memory that an idle connection has in net; what a channel needs only at times is behind pointers. The members
 * down to `request` are those that the handling of a message needs.
 */
struct channel {
    /* Any worker may read the next two members, also while the slot gets its next channel. */
    atom64 bits;  /* of the tr_channel; without a slot number: free, and this was its generation */
    atom64 owner; /* ref of the actor; 0: none */
    struct worker *worker;
    struct cell *cell; /* NULL: none, it lingers */
    int fd;
    uint32_t flags;
    uint8_t kind;
    uint8_t state;
    uint16_t
        listener_worker; /* of a session that is counted: which of the counts of its listener */
    tr_status status;    /* why it has ended, or why it lingers */

    /* the event that is queued for the actor, or that a turn handles; NULL: none */
    struct envelope *event;
    struct channel_work *work;
    struct channel_rare *rare;
    struct endpoint *endpoint;
    struct channel_waits readers;
    struct channel_waits writers;
    struct list listed;          /* link in net_worker.dirty, or else in net_worker.starved */
    tr_time deadline_ns;         /* when dialing or lingering must end; TR_NEVER: no deadline */
    struct channel_timer *timer; /* in net_worker.wheel; NULL: it has no deadline; net/deadline.h */
    void *request; /* of a protocol: what its turn handles, in memory of that turn; NULL: none */

    struct list link; /* link in cell's channels, in net_worker.lingering, or in the free list */
    union channel_peer peer;
    union {
        uint32_t drop_left; /* bytes that it still reads and drops while it lingers */
        uint32_t next_free; /* of a free slot: the next one; 0: none */
    };
    /* For net/glance.h. */
    bool is_secure;         /* what is sent and received passes TLS */
    uint8_t secure_flags;   /* enum secure_flag; 0 until the handshake has ended */
    uint16_t secure_cipher; /* number of the cipher in TLS */
};
static_assert(sizeof(struct channel) == 168, "an idle connection has one");

/** A turn that waits for a channel. It is on the stack of that turn. */
struct channel_wait {
    struct list link; /* the ring */
    struct tr_self *self;
};

/** The channels of an actor. */
struct net_cell {
    struct cell_channels base; /* must be first */
    struct list channels;      /* of struct channel, oldest first */
    uint64_t peer; /* bits of the channel for which a listener has made the actor; 0: none */
};

static_assert(sizeof(struct net_cell) == SLOTS_CHANNELS_SIZE, "it is a place beside the cell");

static inline struct net_cell *net_cell_of(const struct cell *cell)
{
    bool has_channels = cell->flags & CELL_CHANNELS;
    return has_channels ? (struct net_cell *)(void *)slots_channels(cell) : NULL;
}

static inline bool channel_has(const struct channel *channel, uint32_t flags)
{
    return channel->flags & flags;
}

static inline bool waits_are_empty(const struct channel_waits *waits)
{
    return !waits->first;
}

static inline uint64_t channel_bits(const struct channel *channel)
{
    return atom64_load(&channel->bits, ATOM_RELAXED);
}

/**
 * Whether the calling thread acts for the worker of this channel, and that worker owns the actor of
 * the channel, if it has one: the condition of "Owner only" in src/net.
 */
static inline bool channel_is_mine(const struct channel *channel)
{
    return channel->cell ? cell_is_mine(channel->worker, channel->cell)
                         : worker_is_mine(channel->worker);
}

/** Changes the state. Asserts that the change is legal. Owner only. */
void tr__channel_change(struct channel *channel, enum channel_state state);

/** Makes a channel of an actor. The channel retains the endpoint. TR_LIMIT, TR_NO_MEMORY. Owner only. */
TR_MUST_CHECK tr_status tr__channel_new(struct worker *worker, struct cell *cell,
                                        enum channel_kind kind, struct endpoint *endpoint,
                                        struct channel **made);
/** Watches the descriptor of a channel. TR_LIMIT, TR_NO_MEMORY, TR_INVALID_ARGUMENT. Owner only. */
TR_MUST_CHECK tr_status tr__channel_watch(struct channel *channel, int fd);
/** Takes the descriptor from a channel, which no longer watches it. Owner only. */
int tr__channel_take_fd(struct channel *channel);

/** Closes the socket of a channel, if it is open. Owner only. */
void tr__channel_close_socket(struct channel *channel, bool resets);

/** Whether the behavior of an actor allows channels. Owner only. */
bool tr__cell_may_have_channels(const struct cell *cell);
/** Gives a channel to an actor of its worker. TR_NO_MEMORY, TR_NOT_A_CHANNEL_ACTOR. Owner only. */
TR_MUST_CHECK tr_status tr__channel_adopt(struct channel *channel, struct cell *cell);

/** Takes a channel from its actor. It is in no list afterwards. Owner only. */
void tr__channel_disown(struct channel *channel);

/** Takes the event from a channel. An event that is queued is dropped when its turn comes. Owner only. */
void tr__channel_forget_event(struct channel *channel);

/** Finds a channel of the actor of this turn. TR_CLOSED, TR_NOT_OWNER, TR_NOT_A_CHANNEL_ACTOR. Owner only. */
TR_MUST_CHECK tr_status tr__channel_of(const struct tr_self *self, tr_channel handle,
                                       struct channel **found);

/**
 * Queues an event for the actor of a channel, if the channel has something for the actor and no event is queued yet.
 * Owner only.
 */
void tr__channel_call(struct channel *channel);
/** Whether the actor of a channel has a handler for a message. Owner only. */
bool tr__channel_handles(const struct channel *channel, const tr_type *type);
/** Queues this event for the actor of a channel that has no event queued. Owner only. */
void tr__channel_queue(struct channel *channel, struct envelope *event);

/** Frees a channel, wherever it is. Nothing is sent, nobody is notified. Owner only. */
void tr__channel_free(struct channel *channel);

/** Handles the readiness `what` of the socket of a channel. Owner only. */
void tr__channel_ready(struct channel *channel, uint32_t what);

#endif
