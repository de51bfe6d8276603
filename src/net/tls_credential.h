/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A certificate with its key, and the certificates of the authorities between this certificate and
 * its root authority.
 */
#ifndef NET_TLS_CREDENTIAL_H
#define NET_TLS_CREDENTIAL_H

#include <openssl/x509.h>
#include <troupe/platform.h>

struct tls_credential {
    X509 *certificate;
    /* certificates of intermediate authorities, which are sent together with the certificate */
    STACK_OF(X509) * chain;
    EVP_PKEY *key;
};

/**
 * Reads a certificate and its key from two PEM files, which may be the same file. TR_TLS_FAILED: a file cannot be used;
 * `why` says which one and why. Also fails with TR_NO_MEMORY. Waits for the disk.
 */
TR_MUST_CHECK tr_status tr__tls_credential_read(const tr_platform *platform,
                                                const char *certificate, const char *key,
                                                struct tls_credential *credential, char *why,
                                                size_t why_size);

/**
 * Makes a copy of a credential with a copy of its key. OpenSSL locks a key during each use, so
 * workers that shared a key would wait for one another. Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__tls_credential_copy(const struct tls_credential *from,
                                                struct tls_credential *to);
/** Frees the parts of a credential, which may be all zero. */
void tr__tls_credential_deinit(struct tls_credential *credential);

#endif
