/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The certificates of an endpoint as they were when they were last read: one generation. A
 * connection keeps its set. A reload makes a new set for later connections.
 *
 * Each worker makes an SSL_CTX of its own when it first needs one. OpenSSL locks what connections
 * share, so workers must not share an SSL_CTX.
 */
#ifndef NET_TLS_SET_H
#define NET_TLS_SET_H

#include "net/tls_authorities.h"
#include "net/tls_config.h"
#include "net/tls_credential.h"
#include "net/tls_tickets.h"

#include <troupe/limits.h>

/**
 * Sessions that a client keeps to resume them. There are several, because a ticket of TLS 1.3 is
 * used only once.
 */
enum { TLS_SESSIONS_MAX = 4 };

/** The part of a set that belongs to one worker. Only that worker uses it. */
struct tls_worker {
    struct tls_set *set;
    SSL_CTX *context;
    struct tls_credential credentials[]; /* copies of the credentials of the set */
};

struct tls_set {
    atom32 refs;
    const struct tls_config *config; /* borrowed; outlives the set */
    struct tls_tickets *tickets;     /* borrowed; outlives the set */
    BIO_METHOD *method;
    /* authorities to verify the other side; all zero: it is not verified */
    struct tls_authorities authorities;
    struct lock lock;
    /* of a client: sessions that can be resumed, the newest last; under the lock */
    SSL_SESSION *sessions[TLS_SESSIONS_MAX];
    int sessions_count; /* under the lock */
    struct tls_worker
        /* each element is written by its worker, and freed with the set */
        *workers[TR_WORKERS_MAX];
    struct tls_credential credentials[]; /* one for each of config->hosts; they do not change */
};

/**
 * Reads the files, and checks that OpenSSL accepts them. TR_TLS_FAILED: they cannot be used, and
 * `why` says which and why. TR_NO_MEMORY. Waits for the disk.
 */
TR_MUST_CHECK tr_status tr__tls_set_new(const struct tls_config *config,
                                        struct tls_tickets *tickets, struct tls_set **set,
                                        char *why, size_t why_size);
void tr__tls_set_retain(struct tls_set *set);
void tr__tls_set_release(struct tls_set *set);

/**
 * Returns the record of a worker, and makes it if needed. NULL: out of memory. Only on that worker.
 */
struct tls_worker *tr__tls_set_worker(struct tls_set *set, unsigned worker);

/** Returns a session of an earlier connection that can be resumed, or NULL. Any thread. */
SSL_SESSION *tr__tls_set_session(struct tls_set *set);

#endif
