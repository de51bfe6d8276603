/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The keys with which a listener encrypts session tickets. All workers share the keys of a
 * listener, and a reload of certificates does not change them. So a client can resume its session
 * on any worker, even after a reload.
 *
 * A new key is made each hour. The two keys before it are still accepted.
 */
#ifndef NET_TLS_TICKETS_H
#define NET_TLS_TICKETS_H

#include "os/lock.h"

#include <openssl/ssl.h>
#include <troupe/platform.h>

#define TLS_TICKET_ROTATE_NS TR_HOUR
enum {
    TLS_TICKET_KEYS = 3, /* the current key, and two older ones that are still accepted */
    /* lifetime of a ticket in seconds; the key of the ticket is accepted for at least this long */
    TLS_TICKET_LIFETIME_S = 7200
};
_Static_assert(TLS_TICKET_LIFETIME_S *TR_SECOND <= (TLS_TICKET_KEYS - 1) * TLS_TICKET_ROTATE_NS,
               "a ticket that is still valid has a key");

struct tls_ticket_key {
    unsigned char name[16]; /* name of the key, which is sent with each ticket */
    unsigned char cipher[32];
    unsigned char mac[32];
};

struct tls_tickets {
    const tr_platform *platform;
    struct lock lock;
    /* TLS_TICKET_KEYS keys, newest first, in the secure heap; under the lock */
    struct tls_ticket_key *keys;
    tr_time made; /* when the newest key was made; under the lock */
};

/** Makes the first keys. Fails with TR_NO_MEMORY, or with TR_TLS_FAILED if OpenSSL has no random numbers. */
TR_MUST_CHECK tr_status tr__tls_tickets_init(struct tls_tickets *tickets,
                                             const tr_platform *platform);
/** Wipes and frees the keys. `tickets` may be all zero. */
void tr__tls_tickets_deinit(struct tls_tickets *tickets);

/**
 * Makes OpenSSL use the tickets. The caller must have set `tickets` with SSL_CTX_set_app_data.
 * Returns false if out of memory.
 */
bool tr__tls_tickets_use(struct tls_tickets *tickets, SSL_CTX *context);

#endif
