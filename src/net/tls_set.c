/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_set.h"

#include "base/assert.h"
#include "net/tls_bio.h"
#include "net/tls_text.h"

#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

/*
 * For TLS 1.2, only ciphers with forward secrecy and authenticated encryption. All ciphers of TLS
 * 1.3 have both. A listener chooses the first cipher of its own list that the client knows. AES
 * with 128 bits is first, because it is the quickest and not known to be weaker in practice.
 */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"
#define CIPHERS_1_3 "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
#define GROUPS "X25519:P-256:P-384"

/*
 * the level of OpenSSL that requires 112 bits of security: RSA keys of at least 2048 bits, no SHA-1
 */
enum { SECURITY_LEVEL = 2 };

/* ---- Sessions of clients. ---- */

/*
 * OpenSSL calls this when a client has received a ticket. Keeps the session. Returns 1, because
 * this code now owns the session.
 */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct tls_set *set = SSL_get_app_data(ssl);
    SSL_SESSION *oldest = NULL;
    if (!set)
        return 0;
    lock_take(&set->lock);
    if (set->sessions_count == TLS_SESSIONS_MAX) {
        oldest = set->sessions[0];
        memmove(&set->sessions[0], &set->sessions[1], sizeof set->sessions - sizeof oldest);
        set->sessions_count--;
    }
    set->sessions[set->sessions_count++] = session;
    lock_give(&set->lock);
    SSL_SESSION_free(oldest);
    return 1;
}

SSL_SESSION *tr__tls_set_session(struct tls_set *set)
{
    SSL_SESSION *session = NULL;
    lock_take(&set->lock);
    if (set->sessions_count > 0) {
        session = set->sessions[set->sessions_count - 1];
        /* A ticket of TLS 1.3 is used only once, so that an observer cannot see that two
         * connections belong to one client. */
        if (SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION)
            set->sessions_count--;
        else if (!SSL_SESSION_up_ref(session))
            session = NULL;
    }
    lock_give(&set->lock);
    return session;
}

/* ---- Callbacks of OpenSSL during the handshake of a listener. ---- */

/* Chooses the certificate by the name that the client asks for. */
static int on_server_name(SSL *ssl, int *alert, void *argument)
{
    const struct tls_worker *worker = argument;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    size_t host = name ? tr__tls_config_host(worker->set->config, name) : 0;
    const struct tls_credential *chosen = &worker->credentials[host];
    if (host == 0)
        return SSL_TLSEXT_ERR_OK;
    /*
     * Clear first. Otherwise the default certificate could be used as well, if its key is of
     * another kind.
     */
    SSL_certs_clear(ssl);
    if (SSL_use_cert_and_key(ssl, chosen->certificate, chosen->key, chosen->chain, 1) == 1)
        return SSL_TLSEXT_ERR_OK;
    *alert = SSL_AD_INTERNAL_ERROR;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Chooses the first protocol of the listener's list that the client offers. */
static int on_protocols(SSL *ssl, const unsigned char **chosen, unsigned char *chosen_size,
                        const unsigned char *offered, unsigned offered_size, void *argument)
{
    const struct tls_config *config = argument;
    unsigned char *found;
    (void)ssl;
    if (SSL_select_next_proto(&found,
                              chosen_size,
                              config->alpn,
                              (unsigned)config->alpn_size,
                              offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

/* ---- Making an SSL_CTX. ---- */

static bool configure_both(SSL_CTX *context, const struct tls_set *set,
                           const struct tls_credential *credential)
{
    const struct tls_config *config = set->config;
    SSL_CTX_set_options(
        context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    /*
     * Without NO_AUTO_CHAIN, OpenSSL would send certificates from .trusts that the program has not
     * put into the chain.
     */
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_security_level(context, SECURITY_LEVEL);
    if (set->authorities.store)
        SSL_CTX_set1_cert_store(context, set->authorities.store);
    if (config->hosts_count > 0 &&
        SSL_CTX_use_cert_and_key(
            context, credential->certificate, credential->key, credential->chain, 1) != 1)
        return false;
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(context, CIPHERS) == 1 &&
           SSL_CTX_set_ciphersuites(context, CIPHERS_1_3) == 1 &&
           SSL_CTX_set1_groups_list(context, GROUPS) == 1;
}

static bool configure_server(SSL_CTX *context, struct tls_worker *worker)
{
    const struct tls_set *set = worker->set;
    const struct tls_config *config = set->config;
    /* no cache of sessions on the listener: clients resume sessions by tickets */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_timeout(context, TLS_TICKET_LIFETIME_S);
    SSL_CTX_set_tlsext_servername_callback(context, on_server_name);
    SSL_CTX_set_tlsext_servername_arg(context, worker);
    if (config->alpn)
        SSL_CTX_set_alpn_select_cb(context, on_protocols, (void *)(uintptr_t)config);
    if (config->verify != TR_VERIFY_NONE) {
        STACK_OF(X509_NAME) *names = SSL_dup_CA_list(set->authorities.names);
        if (!names)
            return false;
        SSL_CTX_set_client_CA_list(context, names);
        SSL_CTX_set_verify(
            context,
            SSL_VERIFY_PEER |
                (config->verify == TR_VERIFY_REQUIRED ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
            NULL);
    }
    /*
     * A ticket says that its client was verified. The id that is set here depends on the
     * authorities, so that a ticket is refused after they have changed.
     */
    return SSL_CTX_set_session_id_context(
               context, set->authorities.digest, sizeof set->authorities.digest) == 1 &&
           tr__tls_tickets_use(set->tickets, context);
}

static bool configure_client(SSL_CTX *context, const struct tls_set *set)
{
    const struct tls_config *config = set->config;
    SSL_CTX_set_verify(context, config->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, on_session);
    return !config->alpn ||
           SSL_CTX_set_alpn_protos(context, config->alpn, (unsigned)config->alpn_size) == 0;
}

static bool configure(SSL_CTX *context, struct tls_worker *worker)
{
    return configure_both(context, worker->set, worker->credentials) &&
           (worker->set->config->is_server ? configure_server(context, worker)
                                           : configure_client(context, worker->set));
}

/* ---- Workers. ---- */

static void worker_free(struct tls_worker *worker)
{
    if (!worker)
        return;
    const struct tls_config *config = worker->set->config;
    SSL_CTX_free(worker->context);
    for (size_t i = 0; i < config->hosts_count; i++)
        tr__tls_credential_deinit(&worker->credentials[i]);
    config->platform->resize(config->platform, worker, 0);
}

/*
 * Makes the part of a set for one worker. If this returns NULL, OpenSSL's list of errors has the
 * reason; if that list is empty, memory is missing.
 */
static struct tls_worker *worker_new(struct tls_set *set)
{
    const struct tls_config *config = set->config;
    size_t size = sizeof(struct tls_worker) + config->hosts_count * sizeof(struct tls_credential);
    struct tls_worker *worker = config->platform->resize(config->platform, NULL, size);
    if (!worker)
        return NULL;
    memset(worker, 0, size);
    worker->set = set;
    for (size_t i = 0; i < config->hosts_count; i++) {
        if (tr__tls_credential_copy(&set->credentials[i], &worker->credentials[i]) != TR_OK)
            goto free_worker;
    }
    worker->context = SSL_CTX_new(config->is_server ? TLS_server_method() : TLS_client_method());
    if (worker->context && configure(worker->context, worker))
        return worker;
free_worker:
    worker_free(worker);
    return NULL;
}

struct tls_worker *tr__tls_set_worker(struct tls_set *set, unsigned worker)
{
    TR_ASSERT(worker < TR_WORKERS_MAX);
    if (!set->workers[worker]) {
        ERR_clear_error();
        set->workers[worker] = worker_new(set);
    }
    return set->workers[worker];
}

/* ---- Sets. ---- */

static tr_status read_files(struct tls_set *set, char *why, size_t why_size)
{
    const struct tls_config *config = set->config;
    tr_status status = TR_OK;
    for (size_t i = 0; status == TR_OK && i < config->hosts_count; i++)
        status = tr__tls_credential_read(config->platform,
                                         config->hosts[i].certificate,
                                         config->hosts[i].key,
                                         &set->credentials[i],
                                         why,
                                         why_size);
    bool verifies = config->is_server ? config->verify != TR_VERIFY_NONE : !config->insecure;
    if (status == TR_OK && verifies)
        status = tr__tls_authorities_read(
            config->platform, config->trusts, &set->authorities, why, why_size);
    return status;
}

/*
 * Makes the part of the first worker and uses each certificate once. So a certificate that OpenSSL
 * refuses is found now, and not when the first client connects.
 */
static tr_status try_files(struct tls_set *set, char *why, size_t why_size)
{
    const struct tls_config *config = set->config;
    struct tls_worker *worker = worker_new(set);
    SSL *ssl = worker ? SSL_new(worker->context) : NULL;
    tr_status status = TR_OK;
    set->workers[0] = worker;
    if (!ssl && ERR_peek_error() == 0) {
        (void)snprintf(why, why_size, "out of memory for TLS");
        return TR_NO_MEMORY;
    }
    if (!ssl)
        return tr__tls_text_of_call(
            config->hosts_count > 0 ? config->hosts[0].certificate : "OpenSSL", why, why_size);
    for (size_t i = 1; status == TR_OK && i < config->hosts_count; i++) {
        const struct tls_credential *host = &worker->credentials[i];
        if (SSL_use_cert_and_key(ssl, host->certificate, host->key, host->chain, 1) != 1)
            status = tr__tls_text_of_call(config->hosts[i].certificate, why, why_size);
    }
    SSL_free(ssl);
    return status;
}

tr_status tr__tls_set_new(const struct tls_config *config, struct tls_tickets *tickets,
                          struct tls_set **set, char *why, size_t why_size)
{
    size_t size = sizeof(struct tls_set) + config->hosts_count * sizeof(struct tls_credential);
    struct tls_set *made = config->platform->resize(config->platform, NULL, size);
    if (!made) {
        (void)snprintf(why, why_size, "out of memory for certificates");
        return TR_NO_MEMORY;
    }
    memset(made, 0, size);
    made->config = config;
    made->tickets = tickets;
    atom32_init(&made->refs, 1);
    lock_init(&made->lock);
    ERR_clear_error();
    made->method = tr__tls_bio_method();
    tr_status status = made->method ? read_files(made, why, why_size)
                                    : tr__tls_text_of_call("OpenSSL", why, why_size);
    if (status == TR_OK)
        status = try_files(made, why, why_size);
    if (status == TR_OK)
        *set = made;
    else
        tr__tls_set_release(made);
    return status;
}

void tr__tls_set_retain(struct tls_set *set)
{
    (void)atom32_fetch_add(&set->refs, 1, ATOM_RELAXED);
}

void tr__tls_set_release(struct tls_set *set)
{
    /*
     * acquire: this thread then sees what other threads have written to the set before they
     * released it
     */
    if (!set || atom32_fetch_sub(&set->refs, 1, ATOM_ACQ_REL) != 1)
        return;
    for (size_t i = 0; i < TR_WORKERS_MAX; i++)
        worker_free(set->workers[i]);
    for (int i = 0; i < set->sessions_count; i++)
        SSL_SESSION_free(set->sessions[i]);
    for (size_t i = 0; i < set->config->hosts_count; i++)
        tr__tls_credential_deinit(&set->credentials[i]);
    tr__tls_authorities_deinit(&set->authorities);
    BIO_meth_free(set->method);
    set->config->platform->resize(set->config->platform, set, 0);
}
