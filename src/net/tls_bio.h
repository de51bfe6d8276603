/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The input and output of OpenSSL. OpenSSL reads the bytes that the filter has got, and writes to
 * the buffer `out` of the filter. No bytes are kept between two calls of the filter, so an idle
 * connection needs no buffers.
 */
#ifndef NET_TLS_BIO_H
#define NET_TLS_BIO_H

#include "net/buffer.h"

#include <openssl/bio.h>

/** The input and output of a BIO during one call of the filter. */
struct tls_pipe {
    tr_bytes input; /* received bytes that OpenSSL has not taken yet */
    struct net_buffer *out;
    bool is_out_of_memory; /* `out` could not grow */
};

/**
 * Makes the table of functions for BIOs, which must outlive the BIOs. Returns NULL if there is no
 * memory. BIO_meth_free frees it.
 */
BIO_METHOD *tr__tls_bio_method(void);

/**
 * Makes a BIO that reads from a pipe and writes to it. The pipe must outlive the BIO. Returns NULL
 * if there is no memory.
 */
BIO *tr__tls_bio_new(const BIO_METHOD *method, struct tls_pipe *pipe);

#endif
