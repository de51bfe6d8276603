/* SPDX-License-Identifier: Apache-2.0 */
/** OpenSSL itself as the other end of a TLS filter, over memory BIOs: for what our own filter never does. */
#ifndef TROUPE_TESTS_SUPPORT_TLS_RAW_H
#define TROUPE_TESTS_SUPPORT_TLS_RAW_H

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "support/tls_pair.h"

struct tls_raw {
    SSL_CTX *context;
    SSL *ssl;
    BIO *in;  /* what it reads */
    BIO *out; /* what it has written */
};

/** Makes a client that verifies nothing, or a server with a certificate. Its context can be changed before tls_raw_begin. */
static inline void tls_raw_init(struct tls_raw *raw, const char *certificate, const char *key)
{
    *raw = (struct tls_raw){
        .context = SSL_CTX_new(certificate ? TLS_server_method() : TLS_client_method())};
    ck_assert_ptr_nonnull(raw->context);
    if (certificate) {
        ck_assert_int_eq(SSL_CTX_use_certificate_chain_file(raw->context, certificate), 1);
        ck_assert_int_eq(SSL_CTX_use_PrivateKey_file(raw->context, key, SSL_FILETYPE_PEM), 1);
    }
}

static inline void tls_raw_begin(struct tls_raw *raw, bool is_server)
{
    raw->ssl = SSL_new(raw->context);
    raw->in = BIO_new(BIO_s_mem());
    raw->out = BIO_new(BIO_s_mem());
    SSL_set_bio(raw->ssl, raw->in, raw->out);
    if (is_server)
        SSL_set_accept_state(raw->ssl);
    else
        SSL_set_connect_state(raw->ssl);
}

static inline void tls_raw_deinit(struct tls_raw *raw)
{
    SSL_free(raw->ssl);
    SSL_CTX_free(raw->context);
}

/** Moves bytes between OpenSSL and a filter until there are none. */
static inline void tls_raw_settle(struct tls_raw *raw, struct tls_end *end)
{
    char data[4096];
    for (bool has_moved = true; has_moved;) {
        int size;
        has_moved = false;
        ERR_clear_error();
        if (!SSL_is_init_finished(raw->ssl))
            (void)SSL_do_handshake(raw->ssl);
        while ((size = BIO_read(raw->out, data, sizeof data)) > 0) {
            (void)tls_end_give(end, (tr_bytes){data, (size_t)size});
            has_moved = true;
        }
        tr_bytes bytes = net_buffer_bytes(&end->out);
        if (bytes.size > 0) {
            ck_assert_int_eq(BIO_write(raw->in, bytes.data, (int)bytes.size), (int)bytes.size);
            net_buffer_consume(&end->out, bytes.size);
            has_moved = true;
        }
    }
}

#endif
