/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PEM files. A file is read as a whole, then searched for certificates and keys. Its bytes are
 * wiped before they are freed.
 */
#ifndef NET_TLS_PEM_H
#define NET_TLS_PEM_H

#include <openssl/x509.h>
#include <troupe/platform.h>

/**
 * The largest PEM file, in bytes. The bundle of authorities of an operating system has some 220 KiB.
 */
enum { TLS_PEM_MAX = 16 * 1024 * 1024 };

struct tls_pem {
    const tr_platform *platform;
    const char *path; /* borrowed */
    void *data;
    size_t size;
};

/**
 * Reads a file. TR_NOT_SUPPORTED: the path leads to a directory, or to something else that is no
 * regular file. TR_TLS_FAILED: the file cannot be read; `why` says why. Also fails with
 * TR_NO_MEMORY. Waits for the disk.
 */
TR_MUST_CHECK tr_status tr__tls_pem_read(const tr_platform *platform, const char *path,
                                         struct tls_pem *pem, char *why, size_t why_size);
/** Wipes and frees the bytes of a file. `pem` may be all zero. */
void tr__tls_pem_deinit(struct tls_pem *pem);

/**
 * Sets *certificates to all certificates of the file, in their order. There is at least one. Fails
 * with TR_TLS_FAILED, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__tls_pem_certificates(const struct tls_pem *pem,
                                                 STACK_OF(X509) * *certificates, char *why,
                                                 size_t why_size);
/**
 * Sets *key to the first private key of the file. TR_TLS_FAILED: the file has no key, or the key
 * needs a password. Also fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__tls_pem_key(const struct tls_pem *pem, EVP_PKEY **key, char *why,
                                        size_t why_size);

#endif
