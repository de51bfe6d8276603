/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The options of an endpoint for TLS, checked and copied. The copy outlives the endpoint, so that
 * certificates can be read again. The copy does not change after tr__tls_config_new.
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
    /*
     * path of the authorities that are trusted; NULL: a client trusts those of the operating system
     */
    const char *trusts;
    /* for a client: the host that the client wants to reach; "" if the address has no host */
    const char *server_name;
    /*
     * The names of the protocols for ALPN, in two forms. In `alpn`, which is sent, each name is
     * behind a byte with the length of the name. In `protocols`, each name has a NUL behind it: the
     * name whose length is alpn[i] is at protocols + i.
     */
    const unsigned char *alpn;
    const char *protocols;
    size_t alpn_size;
    size_t hosts_count; /* number of `hosts`; 0 for a client without a certificate */
    /* the first host is used for clients that ask for a name that no host has */
    tr_tls_host hosts[];
};

/**
 * Checks and copies the options. TR_TLS_FAILED: an option is missing, or an option is set that
 * would have no effect; `why` says which. Also fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__tls_config_new(const tr_platform *platform, const tr_endpoint *endpoint,
                                           bool is_server, struct tls_config **config, char *why,
                                           size_t why_size);
void tr__tls_config_free(struct tls_config *config);

/**
 * Whether `config` is equal to what tr__tls_config_new would make of this endpoint, so that the
 * config can be used for the endpoint too.
 */
bool tr__tls_config_is_for(const struct tls_config *config, const tr_endpoint *endpoint,
                           bool is_server);

/**
 * Returns the index of the host for a name that a client asks for: the host with that name, else a
 * host whose name has "*" instead of the first label, else 0. Ignores upper and lower case.
 */
size_t tr__tls_config_host(const struct tls_config *config, const char *name);

#endif
