/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls.h"

#include "base/assert.h"
#include "net/tls_bio.h"
#include "net/tls_context.h"
#include "net/tls_set.h"
#include "net/tls_text.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

enum {
    RECORD_MAX = 16 * 1024, /* the largest plaintext of one record, in bytes */
    RECORD_EXTRA = 64,      /* the largest number of bytes that a record has beside its plaintext */
    /* the least space to read into, so that reading a few bytes needs only one call */
    READ_MIN = 256,
    TEXT_SIZE = 128,
    /* type of a record that has a part of a handshake; the type is the first byte of a record */
    RECORD_HANDSHAKE = 22,
    RECORD_ALERT = 21
};

struct tls {
    struct tls_context *context; /* retained */
    struct tls_set *set;         /* retained */
    SSL *ssl;
    /* the bytes that the current call of OpenSSL reads, and the buffer to which it writes */
    struct tls_pipe pipe;
    /* if this is not TR_OK, the connection has failed, and all further calls return it */
    tr_status status;
    bool is_open;
    bool has_input; /* the first byte of the input has come, and was checked */
    bool is_finished;
    /* the protocol that ALPN has chosen, in memory of set->config; NULL: none */
    const char *protocol;
    char *peer_name;
    char text[TEXT_SIZE];
};

/*
 * Empties OpenSSL's list of errors, to which other code on this thread may have added some. First
 * checks whether the list is empty, because that check is cheap and the list nearly always is.
 */
static void errors_forget(void)
{
    if (ERR_peek_error())
        ERR_clear_error();
}

/* ---- Ends. ---- */

static tr_status end(struct tls *tls, tr_status status, const char *text)
{
    (void)snprintf(tls->text, sizeof tls->text, "%s", text);
    tls->status = status;
    return status;
}

/* Makes the connection fail because a call of OpenSSL has failed. Returns the status. */
static tr_status fail(struct tls *tls)
{
    if (tls->pipe.is_out_of_memory) {
        ERR_clear_error();
        return end(tls, TR_NO_MEMORY, "out of memory for records");
    }
    tls->status = tr__tls_text_of_connection(tls->ssl, tls->text, sizeof tls->text);
    return tls->status;
}

/* ---- The handshake. ---- */

/* Copies the subject of the peer's certificate, if it was verified. */
static tr_status keep_peer_name(struct tls *tls)
{
    X509 *certificate = SSL_get0_peer_certificate(tls->ssl);
    if (!certificate || !tls->set->authorities.store ||
        SSL_get_verify_result(tls->ssl) != X509_V_OK)
        return TR_OK;
    const tr_platform *platform = tls->set->config->platform;
    BIO *bio = BIO_new(BIO_s_mem());
    char *printed = NULL;
    /* Use the format of RFC 2253, but do not escape UTF-8. */
    unsigned long flags = XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;
    bool is_printed =
        bio && X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, flags) >= 0;
    size_t size = is_printed ? (size_t)BIO_get_mem_data(bio, &printed) : 0;
    char *name = is_printed ? platform->resize(platform, NULL, size + 1) : NULL;
    if (name) {
        memcpy(name, printed, size);
        name[size] = '\0';
    }
    tls->peer_name = name;
    BIO_free(bio);
    return tls->peer_name ? TR_OK : end(tls, TR_NO_MEMORY, "out of memory for the peer's name");
}

/*
 * Finds the protocol that ALPN has chosen among the protocols of the config. Fails if the other
 * side has chosen a protocol that was not offered.
 */
static tr_status keep_protocol(struct tls *tls)
{
    const struct tls_config *config = tls->set->config;
    const unsigned char *chosen;
    unsigned size;
    SSL_get0_alpn_selected(tls->ssl, &chosen, &size);
    if (size == 0)
        return TR_OK;
    for (size_t i = 0; i < config->alpn_size; i += 1u + config->alpn[i]) {
        if (config->alpn[i] == size && memcmp(config->alpn + i + 1, chosen, size) == 0) {
            tls->protocol = config->protocols + i;
            return TR_OK;
        }
    }
    return end(tls, TR_TLS_FAILED, "the other side chose a protocol that was not offered (ALPN)");
}

/* Continues the handshake with the bytes that have come. */
static tr_status shake(struct tls *tls)
{
    ERR_clear_error();
    int result = SSL_do_handshake(tls->ssl);
    if (result != 1) {
        switch (SSL_get_error(tls->ssl, result)) {
        case SSL_ERROR_WANT_READ:
            return TR_OK;
        case SSL_ERROR_ZERO_RETURN:
            return end(tls, TR_TLS_FAILED, "the other side has closed during the handshake");
        default:
            return fail(tls);
        }
    }
    tr_status status = keep_protocol(tls);
    if (status == TR_OK)
        status = keep_peer_name(tls);
    tls->is_open = status == TR_OK;
    return status;
}

/*
 * Whether the first byte of the input can begin a TLS connection. OpenSSL would need five bytes to
 * find this out.
 */
static bool is_tls(const struct tls *tls)
{
    unsigned char first = *(const unsigned char *)tls->pipe.input.data;
    return first == RECORD_HANDSHAKE || (first == RECORD_ALERT && !tls->set->config->is_server);
}

/* ---- Making a state. ---- */

/* Makes OpenSSL compare the certificate of the listener with a name or an address. */
static tr_status expect_name(struct tls *tls, const char *name)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(tls->ssl);
    if (name[0] == '\0')
        return tls->set->config->insecure ? TR_OK : TR_INVALID_ARGUMENT;
    ERR_clear_error();
    if (X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1)
        return TR_OK;
    ERR_clear_error();
    if (strlen(name) > TLSEXT_MAXLEN_host_name)
        return TR_INVALID_ARGUMENT;
    if (SSL_set_tlsext_host_name(tls->ssl, name) != 1)
        return TR_NO_MEMORY;
    X509_VERIFY_PARAM_set_hostflags(
        param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return X509_VERIFY_PARAM_set1_host(param, name, 0) == 1 ? TR_OK : TR_NO_MEMORY;
}

static tr_status prepare_client(struct tls *tls, const char *server_name)
{
    const char *name = tls->set->config->server_name;
    SSL_SESSION *session = NULL;
    SSL_set_connect_state(tls->ssl);
    if (!server_name || strcmp(server_name, name) == 0) {
        /*
         * The kept session was verified for the server name of the config, so use it only for that
         * name.
         */
        session = tr__tls_set_session(tls->set);
        if (!SSL_set_app_data(tls->ssl, tls->set) ||
            (session && !SSL_set_session(tls->ssl, session)))
            /* the session could not be used, so the handshake will be a full one */
            ERR_clear_error();
    }
    SSL_SESSION_free(session);
    return expect_name(tls, server_name ? server_name : name);
}

static tr_status prepare(struct tls *tls, unsigned worker, const char *server_name)
{
    const tr_platform *platform = tls->set->config->platform;
    struct tls_worker *mine = tr__tls_set_worker(tls->set, worker);
    ERR_clear_error();
    tls->ssl = mine ? SSL_new(mine->context) : NULL;
    BIO *bio = tls->ssl ? tr__tls_bio_new(tls->set->method, &tls->pipe) : NULL;
    if (!bio)
        return TR_NO_MEMORY;
    SSL_set_bio(tls->ssl, bio, bio);
    X509_VERIFY_PARAM_set_time(SSL_get0_param(tls->ssl), platform->wall_now(platform) / TR_SECOND);
    if (!tls->set->config->is_server)
        return prepare_client(tls, server_name);
    SSL_set_accept_state(tls->ssl);
    return TR_OK;
}

static void tls_free(void *state)
{
    struct tls *tls = state;
    if (!tls)
        return;
    const tr_platform *platform = tls->set->config->platform;
    /*
     * Without this call, OpenSSL would forget the session of a connection that was reset, and a
     * client could not resume it.
     */
    if (tls->ssl && tls->is_open && tls->status != TR_TLS_FAILED)
        SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(tls->ssl);
    tr__tls_set_release(tls->set);
    tr__tls_context_release(tls->context);
    platform->resize(platform, tls->peer_name, 0);
    platform->resize(platform, tls, 0);
}

tr_status tr__tls_begin(struct tls_context *context, unsigned worker, const char *server_name,
                        void **state)
{
    struct tls_set *set = tr__tls_context_set(context);
    const tr_platform *platform = set->config->platform;
    struct tls *tls = platform->resize(platform, NULL, sizeof *tls);
    if (!tls) {
        tr__tls_set_release(set);
        return TR_NO_MEMORY;
    }
    *tls = (struct tls){.context = context, .set = set};
    tr__tls_context_retain(context);
    tr_status status = prepare(tls, worker, server_name);
    if (status == TR_OK)
        *state = tls;
    else
        tls_free(tls);
    return status;
}

/* ---- The filter. ---- */

static tr_status tls_begin(void *state, struct net_buffer *out)
{
    struct tls *tls = state;
    if (tls->set->config->is_server)
        return TR_OK;
    tls->pipe = (struct tls_pipe){.out = out};
    tr_status status = shake(tls);
    tls->pipe.out = NULL;
    return status;
}

/* Returns the most bytes that the received bytes can become when they are decrypted. */
static size_t read_size(const struct tls *tls)
{
    size_t size = tls->pipe.input.size;
    if (!size)
        size = (size_t)SSL_pending(tls->ssl);
    if (size < READ_MIN)
        size = READ_MIN;
    return size < RECORD_MAX ? size : RECORD_MAX;
}

/*
 * Decrypts everything that has come. A call of OpenSSL first allocates memory for a record, so a
 * call that finds no record costs nearly as much as one that finds a record. So do not call OpenSSL
 * again when it has taken all bytes.
 */
static tr_status read_records(struct tls *tls, struct net_buffer *in)
{
    errors_forget();
    do {
        size_t size = read_size(tls), count;
        void *to = net_buffer_reserve(in, size);
        if (!to)
            return end(tls, TR_NO_MEMORY, "out of memory for what has come");
        int result = SSL_read_ex(tls->ssl, to, size, &count);
        if (result == 1) {
            net_buffer_commit(in, count);
            continue;
        }
        switch (SSL_get_error(tls->ssl, result)) {
        case SSL_ERROR_WANT_READ:
            return TR_OK;
        case SSL_ERROR_ZERO_RETURN:
            return end(tls, TR_CLOSED, "");
        default:
            return fail(tls);
        }
    } while (tls->pipe.input.size || SSL_has_pending(tls->ssl));
    return TR_OK;
}

static tr_status take(struct tls *tls, struct net_buffer *in)
{
    if (!tls->has_input && tls->pipe.input.size > 0) {
        tls->has_input = true;
        if (!is_tls(tls))
            return end(tls, TR_TLS_FAILED, "the other side does not speak TLS: plain text came");
    }
    tr_status status = tls->is_open ? TR_OK : shake(tls);
    return tls->is_open ? read_records(tls, in) : status;
}

static tr_status tls_inbound(void *state, tr_bytes bytes, size_t *taken, struct net_buffer *in,
                             struct net_buffer *out)
{
    struct tls *tls = state;
    *taken = bytes.size;
    if (tls->status != TR_OK)
        return tls->status;
    tls->pipe = (struct tls_pipe){.input = bytes, .out = out};
    tr_status status = take(tls, in);
    if (status == TR_OK)
        *taken -= tls->pipe.input.size;
    tls->pipe = (struct tls_pipe){.out = NULL};
    return status;
}

static tr_status tls_outbound(void *state, tr_bytes bytes, struct net_buffer *out)
{
    struct tls *tls = state;
    TR_ASSERT(tls->is_open);
    TR_ASSERT(!tls->is_finished);
    if (tls->status != TR_OK && tls->status != TR_CLOSED)
        return tls->status;
    if (bytes.size == 0)
        return TR_OK;
    /* Reserve space for all records at once, so that the buffer does not grow for each record. */
    size_t written, records = bytes.size / RECORD_MAX + 1;
    if (!net_buffer_reserve(out, bytes.size + records * RECORD_EXTRA))
        return end(tls, TR_NO_MEMORY, "out of memory for records");
    tls->pipe = (struct tls_pipe){.out = out};
    /*
     * do not clear the list of errors first: SSL_write_ex reads it only if it fails, which happens
     * only if memory is missing
     */
    tr_status status =
        SSL_write_ex(tls->ssl, bytes.data, bytes.size, &written) == 1 ? TR_OK : fail(tls);
    tls->pipe.out = NULL;
    return status;
}

static tr_status tls_finish(void *state, struct net_buffer *out)
{
    struct tls *tls = state;
    if (!tls->is_open || tls->is_finished || (tls->status != TR_OK && tls->status != TR_CLOSED))
        return TR_OK;
    tls->is_finished = true;
    tls->pipe = (struct tls_pipe){.out = out};
    ERR_clear_error();
    tr_status status = SSL_shutdown(tls->ssl) >= 0 ? TR_OK : fail(tls);
    tls->pipe.out = NULL;
    return status;
}

static tr_status tls_input_end(void *state)
{
    struct tls *tls = state;
    if (tls->status != TR_OK)
        return tls->status;
    if (!tls->is_open)
        return end(tls, TR_TLS_FAILED, "the connection has ended during the handshake");
    return end(tls, TR_RESET, "the connection has ended without close_notify");
}

static bool tls_is_open(const void *state)
{
    return ((const struct tls *)state)->is_open;
}

static const char *tls_text(const void *state)
{
    return ((const struct tls *)state)->text;
}

const struct filter tr__tls_filter = {
    .name = "tls",
    .takes_all = true,
    .begin = tls_begin,
    .inbound = tls_inbound,
    .outbound = tls_outbound,
    .finish = tls_finish,
    .input_end = tls_input_end,
    .is_open = tls_is_open,
    .text = tls_text,
    .free = tls_free,
};

const char *tr__tls_peer_name(const void *state)
{
    return ((const struct tls *)state)->peer_name;
}

const char *tr__tls_protocol(const void *state)
{
    return ((const struct tls *)state)->protocol;
}

bool tr__tls_is_resumed(const void *state)
{
    const struct tls *tls = state;
    return tls->is_open && SSL_session_reused(tls->ssl);
}

uint8_t tr__tls_describe(const void *state, uint16_t *cipher)
{
    const struct tls *tls = state;
    if (!tls->is_open)
        return 0;
    const SSL_CIPHER *used = SSL_get_current_cipher(tls->ssl);
    const char *protocol = tls->protocol;
    unsigned flags = SSL_version(tls->ssl) >= TLS1_3_VERSION ? SECURE_TLS_1_3 : SECURE_TLS_1_2;
    *cipher = used ? SSL_CIPHER_get_protocol_id(used) : 0;
    flags |= SSL_session_reused(tls->ssl) ? SECURE_RESUMED : 0;
    flags |= protocol ? SECURE_ALPN : 0;
    flags |= protocol && strcmp(protocol, "h2") == 0 ? SECURE_ALPN_H2 : 0;
    flags |= protocol && strcmp(protocol, "http/1.1") == 0 ? SECURE_ALPN_HTTP1 : 0;
    flags |= tls->peer_name ? SECURE_PEER : 0;
    return (uint8_t)flags;
}
