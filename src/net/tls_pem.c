/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_pem.h"

#include "net/tls_rsa.h"
#include "net/tls_secret.h"
#include "net/tls_text.h"
#include "os/small_file.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>

tr_status tr__tls_pem_read(const tr_platform *platform, const char *path, struct tls_pem *pem,
                           char *why, size_t why_size)
{
    void *data;
    size_t size;
    const char *problem = "no such file, or no permission to read it";
    tr_status status = tr__file_read(platform, path, TLS_PEM_MAX, &data, &size);
    if (status == TR_OK) {
        *pem = (struct tls_pem){.platform = platform, .path = path, .data = data, .size = size};
        return TR_OK;
    }
    if (status == TR_NO_MEMORY)
        problem = "out of memory";
    else if (status == TR_NOT_SUPPORTED)
        problem = "not a regular file";
    else if (status == TR_TOO_LARGE)
        problem = "too large";
    else if (status == TR_FAILED)
        problem = "the disk has failed, or the file changed meanwhile";
    (void)snprintf(why, why_size, "cannot read %s: %s", path, problem);
    return status == TR_NO_MEMORY || status == TR_NOT_SUPPORTED ? status : TR_TLS_FAILED;
}

void tr__tls_pem_deinit(struct tls_pem *pem)
{
    if (!pem->data)
        return;
    OPENSSL_cleanse(pem->data, pem->size);
    pem->platform->resize(pem->platform, pem->data, 0);
    *pem = (struct tls_pem){0};
}

static BIO *open_pem(const struct tls_pem *pem)
{
    ERR_clear_error();
    return BIO_new_mem_buf(pem->data, (int)pem->size);
}

/* Gives no password. Without this function OpenSSL would ask for one at the terminal. */
static int refuse_password(char *memory, int size, int is_writing, void *was_asked)
{
    (void)memory;
    (void)size;
    (void)is_writing;
    *(bool *)was_asked = true;
    return -1;
}

/*
 * Whether the last call of OpenSSL has failed only because the file has no more certificates, which
 * is no error.
 */
static bool is_at_end(void)
{
    unsigned long error = ERR_peek_last_error();
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

/*
 * Whether the file contains a key, intact or not. Needed because OpenSSL returns the same error for
 * a missing key as for a damaged one.
 */
static bool has_key(const struct tls_pem *pem)
{
    return memmem(pem->data, pem->size, "PRIVATE KEY-----", strlen("PRIVATE KEY-----")) != NULL;
}

static tr_status pem_fail(const struct tls_pem *pem, const char *what, char *why, size_t why_size)
{
    char reason[160];
    tr_status status = tr__tls_text_of_call(what, reason, sizeof reason);
    (void)snprintf(why, why_size, "%s: %s", pem->path, reason);
    return status;
}

/*
 * Appends all certificates of the file to the list. Returns true if the whole file was read without
 * an error.
 */
static bool read_certificates(BIO *bio, STACK_OF(X509) * certificates)
{
    bool was_asked;
    for (;;) {
        X509 *certificate = PEM_read_bio_X509(bio, NULL, refuse_password, &was_asked);
        if (!certificate)
            return is_at_end();
        if (!sk_X509_push(certificates, certificate)) {
            X509_free(certificate);
            return false;
        }
    }
}

tr_status tr__tls_pem_certificates(const struct tls_pem *pem, STACK_OF(X509) * *certificates,
                                   char *why, size_t why_size)
{
    STACK_OF(X509) *found = sk_X509_new_null();
    BIO *bio = open_pem(pem);
    tr_status status = TR_OK;
    if (!bio || !found) {
        status = TR_NO_MEMORY;
        (void)snprintf(why, why_size, "%s: out of memory", pem->path);
    } else if (!read_certificates(bio, found)) {
        status = pem_fail(pem, "damaged certificate", why, why_size);
    } else if (sk_X509_num(found) == 0) {
        status = TR_TLS_FAILED;
        (void)snprintf(why, why_size, "%s: no certificate in this file", pem->path);
    }
    ERR_clear_error();
    BIO_free(bio);
    if (status == TR_OK)
        *certificates = found;
    else
        sk_X509_pop_free(found, X509_free);
    return status;
}

tr_status tr__tls_pem_key(const struct tls_pem *pem, EVP_PKEY **key, char *why, size_t why_size)
{
    bool was_asked = false;
    tr__tls_secret_begin();
    BIO *bio = open_pem(pem);
    EVP_PKEY *found = bio ? PEM_read_bio_PrivateKey(bio, NULL, refuse_password, &was_asked) : NULL;
    tr_status status = TR_TLS_FAILED;
    if (found && !tr__tls_rsa_hide(&found)) {
        status = TR_NO_MEMORY;
        (void)snprintf(why, why_size, "%s: out of memory", pem->path);
        EVP_PKEY_free(found);
    } else if (found) {
        status = TR_OK;
        *key = found;
    } else if (was_asked) {
        (void)snprintf(why, why_size, "%s: the key has a password; store it without", pem->path);
    } else if (bio && !has_key(pem)) {
        (void)snprintf(why, why_size, "%s: no private key in this file", pem->path);
    } else {
        status = pem_fail(pem, "damaged key", why, why_size);
    }
    ERR_clear_error();
    BIO_free(bio);
    return status;
}
