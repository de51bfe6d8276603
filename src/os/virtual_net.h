/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The network of the virtual platform: what all its sockets share. The network has the descriptors
 * and addresses of its sockets, and the list of everything that is on its way (struct
 * virtual_transit), in the order of arrival.
 *
 * Nothing arrives by itself. A transit arrives when a function of the network is called and the
 * clock has reached the transit's time. Streams are in os/virtual_stream.h, datagrams in
 * os/virtual_datagram.h, events in os/virtual_io.h, the functions of the table in
 * os/virtual_socket.h.
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_NET_H
#define OS_VIRTUAL_NET_H

#include "base/list.h"
#include "base/rng.h"

#include <troupe/platform.h>

enum {
    /* the first descriptor; each new socket gets the next number, and no number is used twice */
    VIRTUAL_FIRST_FD = 1000,
    /* the first port for ":0" and for connections; the dynamic ports of IANA begin here */
    VIRTUAL_FIRST_PORT = 49152,
    VIRTUAL_BUCKETS = 1024,
    VIRTUAL_PATH_MAX = 108, /* bytes of a path with its NUL; sun_path of Linux has the same size */
    VIRTUAL_BACKLOG = 128,  /* the backlog of a listener that sets none */
    VIRTUAL_WINDOW = 64 * 1024,
    VIRTUAL_DATAGRAM_MAX = 65507 /* the largest UDP datagram over IPv4, in bytes */
};
/** A value of piece_max: the seed chooses the size of each piece. */
#define VIRTUAL_PIECE_RANDOM SIZE_MAX

struct virtual_net;

/** The conditions of the network. All zero: no delay, no cut pieces, no losses. */
struct virtual_weather {
    tr_time delay_ns;  /* how long something takes from one end to the other */
    tr_time jitter_ns; /* a random time up to this one is added to delay_ns */
    /* the largest number of bytes that one receive returns; 0: all that have arrived */
    size_t piece_max;
    /* the largest number of bytes that are on the way or unread in one direction; 0: VIRTUAL_WINDOW */
    size_t window;
    size_t datagram_max; /* the largest datagram, in bytes; 0: VIRTUAL_DATAGRAM_MAX */
    double loses;        /* the share of UDP datagrams that are lost, 0 to 1 */
    /* the share of datagrams with an additional delay, so that later ones overtake them */
    double reorders;
};

/** Calls that can be made to fail. */
enum virtual_call {
    VIRTUAL_CALL_OPEN,
    VIRTUAL_CALL_OUTCOME,
    VIRTUAL_CALL_ACCEPT,
    VIRTUAL_CALL_RECEIVE,
    VIRTUAL_CALL_SEND,
    VIRTUAL_CALL_RECEIVE_MANY,
    VIRTUAL_CALL_SEND_MANY,
    VIRTUAL_CALL_ADDRESS,
    VIRTUAL_CALL_WATCH,
    VIRTUAL_CALL_RESOLVE,
    VIRTUAL_CALL_START,
    VIRTUAL_CALL_SIGNALS,
    VIRTUAL_CALL_FILE_OPEN,
    VIRTUAL_CALL_FILE_READ,
    VIRTUAL_CALLS
};

/** A failure that a test has asked for: the n-th call from now fails with this status. */
struct virtual_failure {
    uint64_t in; /* which call from now fails: 1 is the next one; 0: none */
    tr_status status;
};

/**
 * Something on its way. A transit is a member of a struct of its sender, and is lent to the network until it arrives.
 */
struct virtual_transit {
    struct list link; /* in virtual_net.transits; after the arrival in a list of its receiver */
    tr_time due_ns;
    void (*arrive)(struct virtual_net *net, struct virtual_transit *transit);
};

/** The address or the path of a socket. */
struct virtual_place {
    /*
     * The address; its member `path` is NULL. If its family is TR_FAMILY_UNIX, only the member
     * `path` below counts.
     */
    tr_address address;
    char path[VIRTUAL_PATH_MAX]; /* "": no name */
};

enum virtual_kind { VIRTUAL_LISTENER, VIRTUAL_STREAM, VIRTUAL_DATAGRAM };

/**
 * The members that all sockets have. This struct is the first member of the struct of each kind.
 */
struct virtual_socket {
    struct virtual_net *net;
    struct virtual_socket *next; /* the next socket in its bucket */
    struct list bound;           /* in virtual_net.bound: listeners, and datagram sockets */
    struct list watches;         /* list of the watches of this socket; see os/virtual_io.h */
    enum virtual_kind kind;
    int fd;       /* the descriptor; 0: the socket has none */
    bool is_peer; /* the socket belongs to the test, and not to the system that is tested */
    bool reuses_port;
    bool only_v6;
    struct virtual_place local;
    struct virtual_place remote; /* family TR_FAMILY_NONE: the socket has no other side */
};

/** A name that a test has given to addresses. */
struct virtual_name;

struct virtual_net {
    const tr_platform *platform; /* the platform whose clock and memory the network uses */
    struct rng rng;
    struct virtual_weather weather;
    struct virtual_failure failures[VIRTUAL_CALLS];
    struct list transits; /* earliest first */
    struct list bound;    /* oldest first */
    struct list names;    /* the names of os/virtual_names.h */
    struct list programs; /* the programs of os/virtual_process.h */
    struct list children; /* the children of os/virtual_process.h, oldest first */
    struct list takers;   /* the takers of os/virtual_signal.h */
    int64_t last_pid;
    tr_time arriving_ns; /* while a transit arrives: the time at which it arrives */
    bool is_settling;
    int last_fd;
    uint16_t last_port;
    size_t open_count; /* how many descriptors the system has open */
    /* a hash of everything that has happened on the network, to compare two runs */
    uint64_t trace;
    struct virtual_socket *buckets[VIRTUAL_BUCKETS]; /* by descriptor */
};

/** Makes an empty network. The platform is lent. */
void tr__virtual_net_init(struct virtual_net *net, const tr_platform *platform, uint64_t seed);
/** Allocates memory of the platform. Returns NULL if the platform refuses to give memory. */
void *tr__virtual_net_new(struct virtual_net *net, size_t size);
void tr__virtual_net_free(struct virtual_net *net, void *memory);
/** Mixes a number into the hash `trace`. */
void tr__virtual_net_trace(struct virtual_net *net, uint64_t value);

/** Returns the current time: while a transit arrives, its time of arrival, otherwise the time of the clock. */
tr_time tr__virtual_net_now(const struct virtual_net *net);
/** Returns when something arrives that is sent now: after the delay and a random jitter. */
tr_time tr__virtual_net_due(struct virtual_net *net);
/**
 * Sends a transit, which arrives at due_ns. A transit that is due now arrives before this function
 * returns, unless another transit is just arriving.
 */
void tr__virtual_net_post(struct virtual_net *net, struct virtual_transit *transit, tr_time due_ns);
/** Lets all transits arrive that are due. */
void tr__virtual_net_settle(struct virtual_net *net);
/** Returns the time at which the next transit arrives. TR_NEVER: nothing is on its way. */
tr_time tr__virtual_net_next_ns(struct virtual_net *net);

/** Makes the n-th call of this kind from now fail with a status. n = 0: no call fails. */
void tr__virtual_net_fail(struct virtual_net *net, enum virtual_call call, uint64_t n,
                          tr_status status);
/** Counts a call. Returns TR_OK, or the status with which a test wants this call to fail. */
tr_status tr__virtual_net_call(struct virtual_net *net, enum virtual_call call);

/** Fills in the members that every socket needs. */
void tr__virtual_socket_init(struct virtual_net *net, struct virtual_socket *socket,
                             enum virtual_kind kind);
/** Gives a socket a new descriptor. */
void tr__virtual_socket_number(struct virtual_socket *socket, bool is_peer);
/** Removes the descriptor and the address of a socket. */
void tr__virtual_socket_release(struct virtual_socket *socket);
/**
 * Returns the socket that has a descriptor of the system. Returns NULL if there is no such socket.
 */
struct virtual_socket *tr__virtual_socket_find(const struct virtual_net *net, int fd);

/**
 * Copies an address or a path into a place. Fails with TR_ADDRESS_INVALID. TR_NOT_SUPPORTED: the
 * path names an inherited descriptor.
 */
tr_status tr__virtual_place(struct virtual_place *place, const tr_address *address,
                            const char *path);
/** Gives a socket its address. Port 0: chooses a free port. TR_ADDRESS_IN_USE; TR_LIMIT: no port is free. */
tr_status tr__virtual_bind(struct virtual_socket *socket, const struct virtual_place *place);
/**
 * Returns the socket of this kind that gets what is sent to a place. Returns NULL if there is no
 * such socket.
 */
struct virtual_socket *tr__virtual_bound(struct virtual_net *net, enum virtual_kind kind,
                                         const struct virtual_place *place);
/** Returns a port that no bound socket of this kind has. Returns 0 if all ports are in use. */
uint16_t tr__virtual_free_port(struct virtual_net *net, enum virtual_kind kind);
/**
 * If an address stands for every address of the machine, replaces it by the loopback address of its family, as connect
 * does in Linux.
 */
void tr__virtual_place_loopback(struct virtual_place *place);

#endif
