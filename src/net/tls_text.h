/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Texts for failures of OpenSSL. A text contains a reason of OpenSSL and names of hosts and files,
 * but never keys or bytes that were sent.
 */
#ifndef NET_TLS_TEXT_H
#define NET_TLS_TEXT_H

#include <openssl/ssl.h>
#include <stddef.h>
#include <troupe/status.h>

/**
 * Writes why a call of OpenSSL for a connection has failed, and empties OpenSSL's list of errors.
 * Returns TR_NO_MEMORY or TR_TLS_FAILED.
 */
tr_status tr__tls_text_of_connection(SSL *ssl, char *text, size_t size);

/**
 * Writes why a call of OpenSSL that belongs to no connection has failed: "<what>: <reason>".
 * Empties OpenSSL's list of errors. Returns TR_NO_MEMORY or TR_TLS_FAILED.
 */
tr_status tr__tls_text_of_call(const char *what, char *text, size_t size);

#endif
