/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_tickets.h"

#include "net/tls_secret.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

_Static_assert(sizeof(struct tls_ticket_key) == 80, "random bytes without a gap");

enum { KEYS_SIZE = TLS_TICKET_KEYS * sizeof(struct tls_ticket_key) };

/*
 * Makes a new key for each hour that has passed since the newest key was made, and drops the oldest
 * keys. Call with the lock.
 */
static bool rotate(struct tls_tickets *tickets, tr_time now)
{
    tr_time due = (now - tickets->made) / TLS_TICKET_ROTATE_NS;
    for (int i = 0; i < due && i < TLS_TICKET_KEYS; i++) {
        struct tls_ticket_key fresh;
        if (RAND_priv_bytes((unsigned char *)&fresh, sizeof fresh) != 1)
            return false;
        memmove(&tickets->keys[1], &tickets->keys[0], KEYS_SIZE - sizeof fresh);
        tickets->keys[0] = fresh;
        OPENSSL_cleanse(&fresh, sizeof fresh);
    }
    tickets->made += due * TLS_TICKET_ROTATE_NS;
    return true;
}

/*
 * Copies the key with this name, or, if `name` is NULL, the newest key. Returns the index of the
 * key, or -1 if there is no such key.
 */
static int take_key(struct tls_tickets *tickets, const unsigned char *name,
                    struct tls_ticket_key *key)
{
    int found = -1;
    tr_time now = tickets->platform->mono_now(tickets->platform);
    lock_take(&tickets->lock);
    if (rotate(tickets, now)) {
        for (int i = 0; i < TLS_TICKET_KEYS && found < 0; i++) {
            if (!name || memcmp(tickets->keys[i].name, name, sizeof key->name) == 0)
                found = i;
        }
        if (found >= 0)
            *key = tickets->keys[found];
    }
    lock_give(&tickets->lock);
    return found;
}

static bool set_key(const struct tls_ticket_key *key, const unsigned char *iv,
                    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int is_encrypting)
{
    char digest[] = "SHA256";
    unsigned char mac_key[sizeof key->mac];
    memcpy(mac_key, key->mac, sizeof mac_key);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, mac_key, sizeof mac_key),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};
    bool is_set =
        EVP_MAC_CTX_set_params(mac, params) == 1 &&
        EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key->cipher, iv, is_encrypting) == 1;
    OPENSSL_cleanse(mac_key, sizeof mac_key);
    return is_set;
}

/*
 * OpenSSL calls this to get the key of a ticket. If it returns 1, OpenSSL uses the key. If it
 * returns 2, OpenSSL also gives the client a new ticket. 0 means that the key is not known, so the
 * handshake must be a full one. -1 means failure.
 */
static int on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                     EVP_MAC_CTX *mac, int is_encrypting)
{
    struct tls_tickets *tickets = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    struct tls_ticket_key key;
    int found = take_key(tickets, is_encrypting ? NULL : name, &key);
    if (found < 0)
        return is_encrypting ? -1 : 0;
    if (is_encrypting)
        memcpy(name, key.name, sizeof key.name);
    bool is_set =
        (!is_encrypting || RAND_bytes(iv, EVP_CIPHER_iv_length(EVP_aes_256_cbc())) == 1) &&
        set_key(&key, iv, cipher, mac, is_encrypting);
    OPENSSL_cleanse(&key, sizeof key);
    if (!is_set || is_encrypting)
        return is_set ? 1 : -1;
    /* A client of TLS 1.3 uses each ticket only once, so give it a new one each time. */
    return found > 0 || SSL_version(ssl) >= TLS1_3_VERSION ? 2 : 1;
}

tr_status tr__tls_tickets_init(struct tls_tickets *tickets, const tr_platform *platform)
{
    *tickets = (struct tls_tickets){.platform = platform, .made = platform->mono_now(platform)};
    lock_init(&tickets->lock);
    tr__tls_secret_begin();
    tickets->keys = OPENSSL_secure_zalloc(KEYS_SIZE);
    if (!tickets->keys)
        return TR_NO_MEMORY;
    return RAND_priv_bytes((unsigned char *)tickets->keys, KEYS_SIZE) == 1 ? TR_OK : TR_TLS_FAILED;
}

void tr__tls_tickets_deinit(struct tls_tickets *tickets)
{
    OPENSSL_secure_clear_free(tickets->keys, KEYS_SIZE);
}

bool tr__tls_tickets_use(struct tls_tickets *tickets, SSL_CTX *context)
{
    return SSL_CTX_set_app_data(context, tickets) == 1 &&
           SSL_CTX_set_tlsext_ticket_key_evp_cb(context, on_ticket) == 1;
}
