/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The certificates of an endpoint, as one reading of the files has found them. A reload makes a new
 * set for later connections. A connection keeps the set with which it began.
 *
 * Each worker makes an SSL_CTX of its own when it first needs one. OpenSSL locks an SSL_CTX when it
 * is used, so workers that shared one would wait for one another.
 */
#ifndef NET_TLS_SET_H
#define NET_TLS_SET_H

#include "net/tls_authorities.h"
#include "net/tls_config.h"
#include "net/tls_credential.h"
#include "net/tls_tickets.h"

#include <troupe/limits.h>

/**
 * How many sessions a client keeps, to resume them. It keeps several, because each ticket of TLS
 * 1.3 is used only once.
 */
enum { TLS_SESSIONS_MAX = 4 };

/** The part of a set that belongs to one worker. Only that worker uses it. */
struct tls_worker {
    struct tls_set *set;
    SSL_CTX *context;
    struct tls_credential credentials[]; /* copies of the set's credentials, in the same order */
};

struct tls_set {
    atom32 refs;
    const struct tls_config *config; /* borrowed; it outlives the set */
    struct tls_tickets *tickets;     /* borrowed; they outlive the set */
    BIO_METHOD *method;
    /* the authorities by which the other side is verified; all zero: it is not verified */
    struct tls_authorities authorities;
    struct lock lock;
    /* of a client: sessions that can be resumed, the newest last; under the lock */
    SSL_SESSION *sessions[TLS_SESSIONS_MAX];
    int sessions_count; /* under the lock */
    /* the parts of the workers; each worker writes its own element; freed with the set */
    struct tls_worker *workers[TR_WORKERS_MAX];
    /* one credential for each of config->hosts; they do not change */
    struct tls_credential credentials[];
};

/**
 * Reads the files, and checks that OpenSSL accepts them. TR_TLS_FAILED: a file cannot be used;
 * `why` says which one and why. Also fails with TR_NO_MEMORY. Waits for the disk.
 */
TR_MUST_CHECK tr_status tr__tls_set_new(const struct tls_config *config,
                                        struct tls_tickets *tickets, struct tls_set **set,
                                        char *why, size_t why_size);
void tr__tls_set_retain(struct tls_set *set);
void tr__tls_set_release(struct tls_set *set);

/**
 * Returns the record of a worker, and makes it if needed. Returns NULL if there is no memory. Only
 * on that worker.
 */
struct tls_worker *tr__tls_set_worker(struct tls_set *set, unsigned worker);

/**
 * Returns a session of an earlier connection that a new connection can resume. Returns NULL if
 * there is none. Any thread.
 */
SSL_SESSION *tr__tls_set_session(struct tls_set *set);

#endif
