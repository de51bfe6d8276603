/* SPDX-License-Identifier: Apache-2.0 */
/**
 * RSA keys whose secret parts are only in the secure heap of OpenSSL.
 *
 * A key of a provider of OpenSSL 3 keeps its two primes in ordinary memory after the first signature,
 * to be quicker, and no setting changes that. A hidden key is a public key for OpenSSL, as that of a
 * device is. Behind it is the key with the secret parts, which makes the signatures and keeps
 * nothing.
 */
#ifndef NET_TLS_RSA_H
#define NET_TLS_RSA_H

#include <openssl/evp.h>
#include <stdbool.h>

/** Returns whether tr__tls_rsa_hide has made this key. */
bool tr__tls_rsa_is_hidden(const EVP_PKEY *key);

/**
 * Replaces an RSA key by a hidden one, and frees it. Keys of other kinds stay as they are. Returns false, and leaves the
 * key as it is, if memory is missing.
 */
bool tr__tls_rsa_hide(EVP_PKEY **key);

/** Returns a copy of a hidden key. NULL: out of memory. */
EVP_PKEY *tr__tls_rsa_copy(const EVP_PKEY *key);

#endif
