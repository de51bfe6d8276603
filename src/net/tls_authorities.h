/* SPDX-License-Identifier: Apache-2.0 */
/** The authorities whose certificates an endpoint trusts. */
#ifndef NET_TLS_AUTHORITIES_H
#define NET_TLS_AUTHORITIES_H

#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <troupe/platform.h>

/** The size of a digest: the largest session id context that OpenSSL takes. */
enum { TLS_AUTHORITIES_DIGEST = 32 };

struct tls_authorities {
    X509_STORE *store;
    /* the names of the authorities in a file; a listener sends them to its clients */
    STACK_OF(X509_NAME) * names;
    /* a digest of the authorities: sets with different authorities have different digests */
    unsigned char digest[TLS_AUTHORITIES_DIGEST];
};

/**
 * Reads the authorities in a file. If `path` is a directory, OpenSSL later finds the authorities in
 * it by their names. If `path` is NULL, uses the authorities that the operating system trusts.
 * TR_TLS_FAILED: the authorities cannot be used, and `why` says which file and why. Also fails with
 * TR_NO_MEMORY. Waits for the disk.
 */
TR_MUST_CHECK tr_status tr__tls_authorities_read(const tr_platform *platform, const char *path,
                                                 struct tls_authorities *authorities, char *why,
                                                 size_t why_size);
/** Frees what tr__tls_authorities_read has made. `authorities` may be all zero. */
void tr__tls_authorities_deinit(struct tls_authorities *authorities);

#endif
