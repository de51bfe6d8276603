/* SPDX-License-Identifier: Apache-2.0 */
/**
 * RSA keys whose secret parts are only in the secure heap of OpenSSL.
 *
 * To be quicker, a key of OpenSSL 3's own kind keeps copies of its two primes in ordinary memory after the first
 * signature, and no setting changes that. So this file makes hidden keys. For OpenSSL a hidden key has only a public
 * part, like the key of a hardware device. Behind it is a second key with the secret parts, which makes the signatures
 * and keeps no copies.
 */
#ifndef NET_TLS_RSA_H
#define NET_TLS_RSA_H

#include <openssl/evp.h>
#include <stdbool.h>

/** Returns whether tr__tls_rsa_hide has made this key. */
bool tr__tls_rsa_is_hidden(const EVP_PKEY *key);

/**
 * Replaces an RSA key by a hidden key, and frees the RSA key. Does nothing to keys of other kinds. If memory is
 * missing, returns false, and the key stays as it was.
 */
bool tr__tls_rsa_hide(EVP_PKEY **key);

/** Returns a copy of a hidden key. Returns NULL if there is no memory. */
EVP_PKEY *tr__tls_rsa_copy(const EVP_PKEY *key);

#endif
