/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The keys that a listener encrypts session tickets with. All its workers share the keys, and a
 * reload of certificates does not change them. So a client can resume its session at any worker,
 * and after a reload.
 *
 * A new key is made each hour. The two before it are still accepted.
 */
#ifndef NET_TLS_TICKETS_H
#define NET_TLS_TICKETS_H

#include "os/lock.h"

#include <openssl/ssl.h>
#include <troupe/platform.h>

#define TLS_TICKET_ROTATE_NS TR_HOUR
enum {
    TLS_TICKET_KEYS = 3,         /* the current key, and the older ones that are still accepted */
    TLS_TICKET_LIFETIME_S = 7200 /* of a ticket; its key is accepted at least as long */
};
_Static_assert(TLS_TICKET_LIFETIME_S *TR_SECOND <= (TLS_TICKET_KEYS - 1) * TLS_TICKET_ROTATE_NS,
               "a ticket that is still valid has a key");

struct tls_ticket_key {
    unsigned char name[16]; /* is sent with the ticket */
    unsigned char cipher[32];
    unsigned char mac[32];
};

struct tls_tickets {
    const tr_platform *platform;
    struct lock lock;
    struct tls_ticket_key keys[TLS_TICKET_KEYS]; /* under the lock; the newest first */
    tr_time made;                                /* under the lock: when the newest key was made */
};

/** Makes the first keys. TR_TLS_FAILED: there is no randomness. */
TR_MUST_CHECK tr_status tr__tls_tickets_init(struct tls_tickets *tickets,
                                             const tr_platform *platform);
/** Wipes the keys. */
void tr__tls_tickets_deinit(struct tls_tickets *tickets);

/** Has OpenSSL use the tickets. SSL_CTX_set_app_data must be the tickets. False: out of memory. */
bool tr__tls_tickets_use(struct tls_tickets *tickets, SSL_CTX *context);

#endif
