/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What TLS needs for one endpoint: its options, its certificates and the keys of its session
 * tickets. All connections of a listener, or of a client to one server, share a context, on all
 * workers. The users of a context are counted.
 *
 *     struct tls_context *context;
 *     char why[TLS_WHY_SIZE];
 *     if (tr__tls_context_new(platform, endpoint, true, &context, why, sizeof why) != TR_OK)
 *         the log gets `why`: "/etc/shop/a.key: not the key of the certificate in /etc/shop/a.pem"
 *
 * Reading the files takes time: for a client with the authorities of the operating system, some 100
 * ms. See docs/design/tls.md.
 */
#ifndef NET_TLS_CONTEXT_H
#define NET_TLS_CONTEXT_H

#include <troupe/net.h>
#include <troupe/platform.h>

enum { TLS_WHY_SIZE = 512 };

struct tls_context;
struct tls_set;

/**
 * Reads certificates and keys. Makes copies of the endpoint's options that it needs. TR_TLS_FAILED:
 * an option or a file cannot be used; `why` says which one and why. Also fails with TR_NO_MEMORY.
 * TR_NOT_SUPPORTED: built without TLS. Any thread. Waits for the disk.
 */
TR_MUST_CHECK tr_status tr__tls_context_new(const tr_platform *platform,
                                            const tr_endpoint *endpoint, bool is_server,
                                            struct tls_context **context, char *why,
                                            size_t why_size);
/** Any thread. */
void tr__tls_context_retain(struct tls_context *context);
/** Removes a user of the context; the last one frees it. NULL is allowed. Any thread. */
void tr__tls_context_release(struct tls_context *context);

/**
 * Reads the same files again. Connections that begin later use the new contents of the files;
 * channels that were opened before keep the old certificates. Returns the errors of
 * tr__tls_context_new; after an error nothing has changed. Any thread. Waits for the disk.
 */
TR_MUST_CHECK tr_status tr__tls_context_reload(struct tls_context *context, char *why,
                                               size_t why_size);

/** Whether this context fits an endpoint, so that its connections can use the context. Any thread. */
bool tr__tls_context_is_for(const struct tls_context *context, const tr_endpoint *endpoint,
                            bool is_server);

/** Returns the newest set of certificates, and retains it. For tls.c. Any thread. */
struct tls_set *tr__tls_context_set(struct tls_context *context);

#endif
