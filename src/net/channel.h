/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A channel: the record of one socket, and its states.
 *
 * A channel belongs to the actor `cell`, on the worker `worker`, and only that worker touches it.
 * The exceptions are `bits` and `owner`, which any worker may read to refuse a verb on the channel
 * of another actor.
 *
 * States
 *     DIALING    the channel is being opened: name lookup, connect, handshake of TLS. Output waits until it is open
 *     OPEN
 *     LINGERING  its actor has closed it or has ended. It sends the rest of the output, drops input, then closes
 *     ENDED      the socket is closed. What was received may still be read; then the actor gets tr_closed
 *     FREE       the slot has no channel
 * Only channel_change writes the state.
 *
 * Events of the operating system set READABLE, WRITABLE and HUNG_UP; a call that would block clears
 * the first two.
 */
#ifndef NET_CHANNEL_H
#define NET_CHANNEL_H

#include <troupe/net.h>

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
    /* the socket of a listener, whose actor gets tr__acceptable; see net/listener.c */
    CHANNEL_LISTENER,
    CHANNEL_DATAGRAM,
    /* one attempt to connect to an address, made for another channel; see net/dial.c */
    CHANNEL_ATTEMPT,
    CHANNEL_EXIT, /* reports the end of a child process; see net/process.h */
    /* signals of the process, which its actor gets as tr_signal; see net/signals.c */
    CHANNEL_SIGNALS
};

enum channel_flag {
    CHANNEL_READABLE = 1 << 0, /* a receive may return bytes */
    CHANNEL_WRITABLE = 1 << 1, /* the kernel may take bytes */
    /* the other side has ended: a receive returns the remaining bytes, then the end of the input */
    CHANNEL_HUNG_UP = 1 << 2,
    CHANNEL_INPUT_OVER = 1 << 3, /* a receive has returned the end of the input */
    /* the program writes no more; after the bytes of the output, the end of the output is sent */
    CHANNEL_FINISHING = 1 << 4,
    CHANNEL_FINISHED = 1 << 5, /* the end of the output was sent */
    CHANNEL_ACCEPTED = 1 << 6, /* accepted by a listener; the actor of the channel is a session */
    CHANNEL_HANDED_OVER = 1 << 7, /* handed over by another actor */
    /* tr_dial has made the channel, and the turn that connects it has not started yet */
    CHANNEL_DIALED = 1 << 8,
    CHANNEL_OPENS = 1 << 9, /* the actor must still get tr_opened */
    /* the actor is to get tr_drained when the output has capacity again */
    CHANNEL_DRAINS = 1 << 10,
    CHANNEL_IN_TURN = 1 << 11,    /* a turn handles a message of the channel */
    CHANNEL_DIRTY = 1 << 12,      /* the channel is in net_worker.dirty */
    CHANNEL_WAITS_OPEN = 1 << 13, /* a turn in tr_connect waits for the handshake of the channel */
    CHANNEL_CLOSES = 1 << 14,     /* the actor must still get tr_closed */
    CHANNEL_WATCHED = 1 << 15,    /* the loop watches the descriptor of the channel */
    /* the channel is a listener that accepts no connections for now */
    CHANNEL_PAUSED = 1 << 16,
    CHANNEL_END_HELD = 1 << 17,   /* the end of the output waits for a commit; see net/held.h */
    CHANNEL_CLOSE_HELD = 1 << 18, /* tr_close or tr_reset waits for a commit; see net/held.h */
    /* a filter was added to the open channel, and the handshake of the filter is still running */
    CHANNEL_SHAKES = 1 << 19,
    CHANNEL_UNASKED = 1 << 20, /* the first piece that has come belongs to no exchange */
    /*
     * an exchange that must be the only one is running, or a turn waits to begin such an exchange
     */
    CHANNEL_ALONE = 1 << 21,
    CHANNEL_FILE = 1 << 22, /* a turn writes a file to the channel; other writes wait */
    CHANNEL_GONE = 1 << 23, /* tr_closed was handled, but a turn still uses bytes of the channel */
    /* memory was missing, or bytes wait, so the loop looks at the channel again soon */
    CHANNEL_STARVED = 1 << 24,
    CHANNEL_COUNTED = 1 << 25,  /* the channel is counted in the sessions of endpoint->listener */
    CHANNEL_PEER_V4 = 1 << 26,  /* peer.v4 is set */
    CHANNEL_PEER_FAR = 1 << 27, /* peer.far is set */
    /*
     * of a protocol: a whole answer was written, and the channel must send all of it, even if the
     * actor fails
     */
    CHANNEL_ANSWERED = 1 << 28,
    /* of a protocol: a part of a piece has come, and the rest is missing */
    CHANNEL_IN_PART = 1 << 29,
    /* the program has closed the channel while it was being opened, and its output is still to be
     * sent */
    CHANNEL_CLOSES_OPENED = 1 << 30,
    /* accepted by tr_accept, so the actor of the channel is not a session */
    CHANNEL_TAKEN = 1u << 31
};

/** Bytes that were received and not read yet. */
struct channel_input {
    /* the bytes; their memory is a part of `area`, or belongs to the channel if `area` is NULL */
    struct net_buffer buffer;
    struct area *area;
    /* the first `seen` unread bytes were searched, and no end of a piece was found in them */
    uint32_t seen;
    /*
     * Set by tr_unread on a channel without framing: no piece is taken until there are more unread
     * bytes than this.
     */
    uint32_t needs;
    uint8_t how;   /* enum cut_how: what kind of piece the last search was for */
    bool is_empty; /* the last piece is empty, and only its line end or its length has come */
    /* index in buffer.data where the piece begins that was taken last; UINT32_MAX: there is none */
    uint32_t piece;
    /* index of the NUL that was written behind that piece; UINT32_MAX: no NUL was written */
    uint32_t nul;
    unsigned char under_nul;
    struct tr_self *borrower;      /* the turn that uses bytes of the last piece; NULL: none */
    struct channel *borrowed_next; /* next in the list tr_self.borrowed */
};

/** Bytes that were written and not sent yet. */
struct channel_output {
    struct out_page *first;
    struct out_page *last;
    size_t size;   /* number of bytes in all pages */
    size_t memory; /* sum of out_page.memory */
    size_t held;   /* how many of these bytes wait for a commit; see net/held.h */
    /*
     * how many bytes were written behind held bytes, without being held themselves; they are sent
     * when no bytes are held any more
     */
    size_t behind;
    /*
     * When the last byte was sent. If no byte could be sent then: since when there is one again that
     * could be sent.
     */
    tr_time since_ns;
};

/** The filter or the chain of filters between the socket and the framing; see net/filter.h. */
struct channel_filter {
    const struct filter *table; /* NULL: none */
    void *state;
    /* bytes that have come for the filter, and that the filter has not taken yet */
    struct net_buffer raw;
    /* bytes that the filter has made for the other side, and that were not sent yet */
    struct net_buffer out;
};

/**
 * Members that a channel needs only while it has bytes that were received, or bytes that wait to be
 * sent. All channels without such bytes share tr__no_work, which is read only; see net/work.h.
 */
struct channel_work {
    struct channel_input input;
    struct channel_output output;
};

/**
 * Members that only some channels need. All other channels share tr__no_rare, which is read only;
 * see net/rare.h.
 */
struct channel_rare {
    struct channel *channel;
    struct channel_filter filter;
    struct list shaking;        /* link in net_worker.shaking */
    tr_time within_ns;          /* time limit that tr_channel_within has set; 0: none */
    struct exchange *exchanges; /* exchanges that are under way, oldest first; see net/exchange.c */
    /* the asks of tr_readable and tr_writable that are not answered yet */
    struct exchange *looks;
    /*
     * The record of the pieces, if several pieces of the channel are handled at a time; see
     * net/pieces.c. NULL: none.
     */
    struct pieces *pieces;
    uint32_t exchange_count;     /* length of the list `exchanges` */
    struct datagrams *datagrams; /* datagrams that were received; see net/datagram.c; NULL: none */
    uint64_t datagrams_lost;     /* number of datagrams that the kernel says it has dropped */
    uint64_t datagrams_refused;  /* number of sent datagrams for which an error came back */
    /*
     * address of the other side as the kernel reports it, without regard to a PROXY header; only if
     * connections_per_peer_max is set
     */
    tr_address accepted_from;
    /* the process to which this channel belongs, see net/process.h; NULL: none */
    struct process *process;
    /* timers that end with the channel, see net/channel_timers.h; NULL: none */
    struct channel_timers *timers;
    char *text; /* text for tr_closed; NULL: none */
    /* of a protocol that reads outside of turns: its data; NULL: the protocol reads in turns */
    struct protocol_streams *streams;
};

/** Turns that wait for a channel; the list is circular. */
struct channel_waits {
    struct channel_wait *first; /* the turn that has waited longest; NULL: none waits */
};

struct channel_timer;

/** The address of the other side, if it was noted; see net/peer.h. */
union channel_peer {
    struct {
        uint8_t host[4];
        uint16_t port;
    } v4;            /* CHANNEL_PEER_V4 */
    tr_address *far; /* if CHANNEL_PEER_FAR: the address, in memory of the channel */
};

/**
 * The record of a channel. What a channel needs only at times is behind pointers, so an idle
 * connection has no other memory of src/net. To handle a message, only the members up to `request`
 * are needed.
 */
struct channel {
    /* Any worker may read the next two members, even while the slot gets its next channel. */
    /*
     * The bits of the tr_channel: slot number and generation. If the slot number is 0, the slot is
     * free, and the generation is the last one of the slot.
     */
    atom64 bits;
    atom64 owner; /* ref of the actor; 0: none */
    struct worker *worker;
    struct cell *cell; /* actor of the channel; NULL: none, because the channel lingers */
    int fd;
    uint32_t flags;
    uint8_t kind;
    uint8_t state;
    /* if CHANNEL_COUNTED: index of the count of the listener in which the session is counted */
    uint16_t listener_worker;
    tr_status status; /* why the channel has ended, or why it lingers */

    /* the event that is queued for the actor, or that a turn handles now; NULL: none */
    struct envelope *event;
    struct channel_work *work;
    struct channel_rare *rare;
    struct endpoint *endpoint;
    struct channel_waits readers;
    struct channel_waits writers;
    struct list listed; /* link in net_worker.dirty or in net_worker.starved */
    /* when dialing or lingering must be over; TR_NEVER: there is no deadline */
    tr_time deadline_ns;
    /* timer in net_worker.wheel; NULL: there is no deadline; see net/deadline.h */
    struct channel_timer *timer;
    /*
     * of a protocol: the request that the running turn handles, in memory of that turn; NULL: none
     */
    void *request;
    /* of a protocol: its data between two pieces, such as the state of a WebSocket; NULL: none */
    void *session;

    struct list link; /* link in the list of its actor's channels, or in net_worker.lingering */
    union channel_peer peer;
    union {
        uint32_t drop_left; /* of a lingering channel: how many bytes it may still read and drop */
        uint32_t next_free; /* of a free slot: number of the next free slot; 0: none */
        /*
         * Of a channel that is neither free nor lingers: how many bytes it has added to
         * budget.channel_bytes; see net/charge.h.
         */
        uint32_t charged;
    };
    /* Other threads read the next members. See net/glance.h. */
    bool is_secure;         /* bytes that are sent and received pass TLS */
    uint8_t secure_flags;   /* bits of enum secure_flag; 0 until the handshake has ended */
    uint16_t secure_cipher; /* if TLS is used: number of the cipher */
};
static_assert(sizeof(struct channel) == 176, "an idle connection has one");

/** A turn that waits for a channel. This record is on the stack of that turn. */
struct channel_wait {
    struct list link; /* the ring */
    struct tr_self *self;
};

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
 * Whether the calling thread acts for the worker of this channel, and the actor of the channel, if
 * there is one, belongs to that worker. "Owner only" in src/net means that this must be so.
 */
static inline bool channel_is_mine(const struct channel *channel)
{
    return channel->cell ? cell_is_mine(channel->worker, channel->cell)
                         : worker_is_mine(channel->worker);
}

/** Changes the state. Asserts that this change is allowed. Owner only. */
void tr__channel_change(struct channel *channel, enum channel_state state);

/**
 * Makes a channel of an actor. The channel becomes a user of the endpoint. Fails with TR_LIMIT,
 * TR_NO_MEMORY. Owner only.
 */
TR_MUST_CHECK tr_status tr__channel_new(struct worker *worker, struct cell *cell,
                                        enum channel_kind kind, struct endpoint *endpoint,
                                        struct channel **made);
/**
 * Watches the descriptor of a channel. Fails with TR_LIMIT, TR_NO_MEMORY, TR_INVALID_ARGUMENT.
 * Owner only.
 */
TR_MUST_CHECK tr_status tr__channel_watch(struct channel *channel, int fd);
/** Takes the descriptor out of a channel, and ends the watch of the descriptor. Owner only. */
int tr__channel_take_fd(struct channel *channel);

/** Closes the socket of a channel, if it is open. Owner only. */
void tr__channel_close_socket(struct channel *channel, bool resets);

/** Whether the behavior of an actor allows channels. Owner only. */
bool tr__cell_may_have_channels(const struct cell *cell);
/**
 * Gives a channel to an actor of its worker. Fails with TR_NO_MEMORY, TR_NOT_A_CHANNEL_ACTOR. Owner
 * only.
 */
TR_MUST_CHECK tr_status tr__channel_adopt(struct channel *channel, struct cell *cell);

/** Takes a channel from its actor. The channel is in no list afterwards. Owner only. */
void tr__channel_disown(struct channel *channel);

/**
 * Separates a channel from its event. If the event is queued, it is dropped when its turn comes.
 * Owner only.
 */
void tr__channel_forget_event(struct channel *channel);

/**
 * Finds a channel that must belong to the actor of this turn. Fails with TR_CLOSED, TR_NOT_OWNER,
 * TR_NOT_A_CHANNEL_ACTOR. Owner only.
 */
TR_MUST_CHECK tr_status tr__channel_of(const struct tr_self *self, tr_channel handle,
                                       struct channel **found);

/**
 * Queues an event for the actor of a channel, if the actor has something to do for the channel and
 * no event of the channel is queued yet. Owner only.
 */
void tr__channel_call(struct channel *channel);
/** Whether the actor of a channel has a handler for a message. Owner only. */
bool tr__channel_handles(const struct channel *channel, const tr_type *type);
/**
 * Queues `event` for the actor of a channel. No other event of the channel may be queued. Owner
 * only.
 */
void tr__channel_queue(struct channel *channel, struct envelope *event);

/** Frees a channel in any state. Sends nothing and notifies no actor and no turn. Owner only. */
void tr__channel_free(struct channel *channel);

/**
 * Handles events of the socket of a channel: `what` has TR_IO_IN, TR_IO_OUT and TR_IO_END. Owner
 * only.
 */
void tr__channel_ready(struct channel *channel, uint32_t what);

#endif
