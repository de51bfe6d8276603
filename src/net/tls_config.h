/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What an endpoint says about TLS, checked and copied: it outlives the endpoint, so that certificates can
 * be read again. Constant after tr__tls_config_new.
 */
#ifndef NET_TLS_CONFIG_H
#define NET_TLS_CONFIG_H

#include <troupe/net.h>
#include <troupe/platform.h>

struct tls_config {
    const tr_platform *platform;
    bool is_server;
    bool insecure;
    tr_verify verify;
    const char *trusts;      /* NULL: what the system trusts, for clients */
    const char *server_name; /* of a client: the host to reach; "" if the address has no host */
    /* Protocols of ALPN, twice: as they are sent, each behind a byte with its length, and as text, each with
     * a NUL behind it. So the text of the one at alpn[i] is at protocols + i. */
    const unsigned char *alpn;
    const char *protocols;
    size_t alpn_size;
    size_t hosts_count;  /* 0 for a client without a certificate */
    tr_tls_host hosts[]; /* the first host is for clients that ask for a name of no other */
};

/**
 * Checks and copies the options. TR_TLS_FAILED: an option is missing, or has no meaning here, and `why` says which.
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__tls_config_new(const tr_platform *platform, const tr_endpoint *endpoint,
                                           bool is_server, struct tls_config **config, char *why,
                                           size_t why_size);
void tr__tls_config_free(struct tls_config *config);

/** Whether this endpoint would give an equal config. */
bool tr__tls_config_is_for(const struct tls_config *config, const tr_endpoint *endpoint,
                           bool is_server);

/**
 * Returns the index of the host for a name that a client asks for: the host with that name, else one with "*." instead
 * of its first label, else 0. Upper and lower case are equal.
 */
size_t tr__tls_config_host(const struct tls_config *config, const char *name);

#endif
