/* SPDX-License-Identifier: Apache-2.0 */
/** A certificate with its key, and the certificates between it and its authority. */
#ifndef NET_TLS_CREDENTIAL_H
#define NET_TLS_CREDENTIAL_H

#include <openssl/x509.h>
#include <troupe/platform.h>

struct tls_credential {
    X509 *certificate;
    STACK_OF(X509) * chain; /* certificates of intermediate authorities, which are sent too */
    EVP_PKEY *key;
};

/**
 * Reads two PEM files; one file may have both. TR_TLS_FAILED: they cannot be used, and `why` says which file and why.
 * TR_NO_MEMORY. Waits for the disk.
 */
TR_MUST_CHECK tr_status tr__tls_credential_read(const tr_platform *platform,
                                                const char *certificate, const char *key,
                                                struct tls_credential *credential, char *why,
                                                size_t why_size);

/**
 * Makes a copy with a key of its own, because OpenSSL locks a key while it uses it. Fails with
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__tls_credential_copy(const struct tls_credential *from,
                                                struct tls_credential *to);
/** Frees the parts of a credential, which may be all zero. */
void tr__tls_credential_deinit(struct tls_credential *credential);

#endif
