/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_credential.h"

#include "net/tls_pem.h"
#include "net/tls_rsa.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdio.h>

/* Reads a file by tr__tls_pem_read. A directory is an error, as a missing file is. */
static tr_status read_file(const tr_platform *platform, const char *path, struct tls_pem *pem,
                           char *why, size_t why_size)
{
    tr_status status = tr__tls_pem_read(platform, path, pem, why, why_size);
    return status == TR_NOT_SUPPORTED ? TR_TLS_FAILED : status;
}

static tr_status read_certificate(const tr_platform *platform, const char *path,
                                  struct tls_credential *credential, char *why, size_t why_size)
{
    struct tls_pem pem = {0};
    tr_status status = read_file(platform, path, &pem, why, why_size);
    if (status == TR_OK)
        status = tr__tls_pem_certificates(&pem, &credential->chain, why, why_size);
    if (status == TR_OK)
        credential->certificate = sk_X509_shift(credential->chain);
    tr__tls_pem_deinit(&pem);
    return status;
}

static tr_status read_key(const tr_platform *platform, const char *path,
                          struct tls_credential *credential, char *why, size_t why_size)
{
    struct tls_pem pem = {0};
    tr_status status = read_file(platform, path, &pem, why, why_size);
    if (status == TR_OK)
        status = tr__tls_pem_key(&pem, &credential->key, why, why_size);
    tr__tls_pem_deinit(&pem);
    return status;
}

tr_status tr__tls_credential_read(const tr_platform *platform, const char *certificate,
                                  const char *key, struct tls_credential *credential, char *why,
                                  size_t why_size)
{
    struct tls_credential read = {0};
    tr_status status = read_certificate(platform, certificate, &read, why, why_size);
    if (status == TR_OK)
        status = read_key(platform, key, &read, why, why_size);
    if (status == TR_OK && X509_check_private_key(read.certificate, read.key) != 1) {
        status = TR_TLS_FAILED;
        (void)snprintf(why, why_size, "%s: not the key of the certificate in %s", key, certificate);
    }
    ERR_clear_error();
    if (status == TR_OK)
        *credential = read;
    else
        tr__tls_credential_deinit(&read);
    return status;
}

/* if more bytes than this are in use on the secure heap, keys are not copied any more */
enum { KEY_COPIES_BYTES = 2 << 20 };

/*
 * Copies a key into the secure heap. EVP_PKEY_dup is not used, because it puts the secret part of
 * an elliptic-curve key into ordinary memory, which is in dumps of the process.
 */
static EVP_PKEY *key_copy(const EVP_PKEY *key)
{
    /* Copies may use half of the secure heap. The other half is for keys that handshakes make; see tls_secret.c. */
    if (CRYPTO_secure_used() > KEY_COPIES_BYTES)
        return NULL;
    if (tr__tls_rsa_is_hidden(key))
        return tr__tls_rsa_copy(key);
    int size = i2d_PrivateKey(key, NULL);
    unsigned char *bytes = size > 0 ? OPENSSL_secure_malloc((size_t)size) : NULL;
    unsigned char *end = bytes;
    EVP_PKEY *copy = NULL;
    if (bytes && i2d_PrivateKey(key, &end) == size) {
        const unsigned char *from = bytes;
        copy = d2i_AutoPrivateKey(NULL, &from, size);
    }
    OPENSSL_secure_clear_free(bytes, size > 0 ? (size_t)size : 0);
    return copy;
}

tr_status tr__tls_credential_copy(const struct tls_credential *from, struct tls_credential *to)
{
    struct tls_credential copy = {.chain = X509_chain_up_ref(from->chain),
                                  .key = key_copy(from->key)};
    ERR_clear_error();
    if (!copy.key && EVP_PKEY_up_ref(from->key))
        copy.key = from->key; /* this kind of key cannot be copied, so share it */
    if (X509_up_ref(from->certificate))
        copy.certificate = from->certificate;
    if (!copy.chain || !copy.key || !copy.certificate) {
        tr__tls_credential_deinit(&copy);
        return TR_NO_MEMORY;
    }
    *to = copy;
    return TR_OK;
}

void tr__tls_credential_deinit(struct tls_credential *credential)
{
    X509_free(credential->certificate);
    sk_X509_pop_free(credential->chain, X509_free);
    EVP_PKEY_free(credential->key);
    *credential = (struct tls_credential){0};
}
