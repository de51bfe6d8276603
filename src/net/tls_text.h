/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Texts for what goes wrong in OpenSSL. They are made of its reasons and of names of hosts and files, never of keys
 * or of bytes that were sent.
 */
#ifndef NET_TLS_TEXT_H
#define NET_TLS_TEXT_H

#include <openssl/ssl.h>
#include <stddef.h>
#include <troupe/status.h>

/**
 * Says why a call of OpenSSL for a connection has failed, and empties the queue of errors. Returns TR_NO_MEMORY or
 * TR_TLS_FAILED.
 */
tr_status tr__tls_text_of_connection(SSL *ssl, char *text, size_t size);

/**
 * Says why a call of OpenSSL has failed that has nothing to do with a connection: "<what>: <reason>". Empties the
 * queue of errors. Returns TR_NO_MEMORY or TR_TLS_FAILED.
 */
tr_status tr__tls_text_of_call(const char *what, char *text, size_t size);

#endif
