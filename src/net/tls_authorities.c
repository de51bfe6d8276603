/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_authorities.h"

#include "net/tls_pem.h"
#include "net/tls_text.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>

/* Adds a certificate to the store, and its name to `names`. */
static bool add(struct tls_authorities *authorities, X509 *certificate)
{
    X509_NAME *name = X509_NAME_dup(X509_get_subject_name(certificate));
    if (!name || !sk_X509_NAME_push(authorities->names, name)) {
        X509_NAME_free(name);
        return false;
    }
    return X509_STORE_add_cert(authorities->store, certificate) == 1;
}

static tr_status add_file(struct tls_authorities *authorities, const struct tls_pem *pem, char *why,
                          size_t why_size)
{
    STACK_OF(X509) *certificates = NULL;
    tr_status status = tr__tls_pem_certificates(pem, &certificates, why, why_size);
    for (int i = 0; status == TR_OK && i < sk_X509_num(certificates); i++) {
        if (!add(authorities, sk_X509_value(certificates, i)))
            status = tr__tls_text_of_call(pem->path, why, why_size);
    }
    if (status == TR_OK &&
        EVP_Digest(pem->data, pem->size, authorities->digest, NULL, EVP_sha256(), NULL) != 1)
        status = tr__tls_text_of_call(pem->path, why, why_size);
    sk_X509_pop_free(certificates, X509_free);
    return status;
}

/*
 * Adds the authorities of a directory, or the authorities that the operating system trusts. OpenSSL
 * reads their certificates itself, so this code cannot compute a digest of them. The digest is a
 * random number, which is different from all others.
 */
static tr_status add_others(struct tls_authorities *authorities, const char *path, char *why,
                            size_t why_size)
{
    int is_done = path ? X509_STORE_load_path(authorities->store, path)
                       : X509_STORE_set_default_paths(authorities->store);
    if (is_done == 1 && RAND_bytes(authorities->digest, sizeof authorities->digest) == 1)
        return TR_OK;
    return tr__tls_text_of_call(path ? path : "authorities of the system", why, why_size);
}

tr_status tr__tls_authorities_read(const tr_platform *platform, const char *path,
                                   struct tls_authorities *authorities, char *why, size_t why_size)
{
    struct tls_authorities read = {.store = X509_STORE_new(), .names = sk_X509_NAME_new_null()};
    struct tls_pem pem = {0};
    tr_status status = TR_NOT_SUPPORTED;
    ERR_clear_error();
    if (!read.store || !read.names) {
        status = TR_NO_MEMORY;
        (void)snprintf(why, why_size, "out of memory for authorities");
    } else if (path) {
        status = tr__tls_pem_read(platform, path, &pem, why, why_size);
    }
    if (status == TR_OK)
        status = add_file(&read, &pem, why, why_size);
    else if (status == TR_NOT_SUPPORTED)
        status = add_others(&read, path, why, why_size);
    tr__tls_pem_deinit(&pem);
    ERR_clear_error();
    if (status == TR_OK)
        *authorities = read;
    else
        tr__tls_authorities_deinit(&read);
    return status;
}

void tr__tls_authorities_deinit(struct tls_authorities *authorities)
{
    X509_STORE_free(authorities->store);
    sk_X509_NAME_pop_free(authorities->names, X509_NAME_free);
    *authorities = (struct tls_authorities){0};
}
