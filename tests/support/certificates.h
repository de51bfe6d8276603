/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Certificates for tests of TLS, made when the test starts, in a directory of its own:
 *
 *     authority.pem   signs all the others but the stranger's
 *     shop            shop.example, *.shop.example, 127.0.0.1
 *     other           other.example
 *     expired         shop.example, until yesterday
 *     early           shop.example, from tomorrow on
 *     anna            a client: CN=anna, O=Shop
 *     stranger        shop.example, signs itself
 *
 * Each has NAME.pem and NAME.key.
 */
#ifndef TROUPE_TESTS_SUPPORT_CERTIFICATES_H
#define TROUPE_TESTS_SUPPORT_CERTIFICATES_H

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/test.h"

struct certificates {
    char directory[64];
    int serial;
    X509 *authority;
    EVP_PKEY *authority_key;
};

enum { CERTIFICATE_DAY = 24 * 60 * 60 };

/** Writes the path of a file into one of a few places that are used in turn. */
static inline const char *certificate_path(const struct certificates *at, const char *file)
{
    static char paths[16][128];
    static unsigned next;
    char *path = paths[next++ % 16];
    (void)snprintf(path, sizeof paths[0], "%s/%s", at->directory, file);
    return path;
}

static inline FILE *certificate_file(const struct certificates *at, const char *name,
                                     const char *ending)
{
    char file[64];
    (void)snprintf(file, sizeof file, "%s.%s", name, ending);
    FILE *stream = fopen(certificate_path(at, file), "w");
    ck_assert_ptr_nonnull(stream);
    return stream;
}

static inline void certificate_add(X509 *certificate, int what, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, what, value);
    ck_assert_ptr_nonnull(extension);
    ck_assert_int_eq(X509_add_ext(certificate, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

/** What a certificate is like. */
struct certificate_form {
    const char *name;   /* of the files */
    const char *person; /* its CN; NULL: the name */
    const char *names;  /* "DNS:shop.example,IP:127.0.0.1"; NULL: none */
    const char *usage;  /* "serverAuth"; NULL: it is an authority */
    int from_days, to_days;
    bool is_rsa;
    bool signs_itself;
};

/** Makes a certificate and its key, and writes both. */
static inline void certificate_make(struct certificates *at, struct certificate_form form)
{
    EVP_PKEY *key = form.is_rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
    X509 *made = X509_new();
    ck_assert_ptr_nonnull(key);
    X509_set_version(made, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++at->serial);
    time_t now = time(NULL);
    X509_time_adj_ex(X509_getm_notBefore(made), form.from_days ? form.from_days : -30, 0, &now);
    X509_time_adj_ex(X509_getm_notAfter(made), form.to_days ? form.to_days : 30, 0, &now);
    X509_NAME *name = X509_get_subject_name(made);
    const char *person = form.person ? form.person : form.name;
    X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, (const void *)"Shop", -1, -1, 0);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const void *)person, -1, -1, 0);
    X509_set_pubkey(made, key);
    bool is_alone = form.signs_itself || !form.usage;
    X509_set_issuer_name(made, is_alone ? name : X509_get_subject_name(at->authority));
    certificate_add(made, NID_basic_constraints, form.usage ? "CA:FALSE" : "critical,CA:TRUE");
    if (form.usage)
        certificate_add(made, NID_ext_key_usage, form.usage);
    if (form.names)
        certificate_add(made, NID_subject_alt_name, form.names);
    ck_assert_int_gt(X509_sign(made, is_alone ? key : at->authority_key, EVP_sha256()), 0);

    FILE *file = certificate_file(at, form.name, "pem");
    ck_assert_int_eq(PEM_write_X509(file, made), 1);
    (void)fclose(file);
    file = certificate_file(at, form.name, "key");
    ck_assert_int_eq(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    (void)fclose(file);
    if (form.usage) {
        X509_free(made);
        EVP_PKEY_free(key);
    } else {
        X509_free(at->authority);
        EVP_PKEY_free(at->authority_key);
        at->authority = made;
        at->authority_key = key;
    }
}

/** Replaces one file by another one. */
static inline void certificate_copy(const struct certificates *at, const char *from, const char *to)
{
    char data[16384];
    FILE *file = fopen(certificate_path(at, from), "r");
    size_t size = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    file = fopen(certificate_path(at, to), "w");
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    (void)fclose(file);
}

static inline void certificate_write(const struct certificates *at, const char *to,
                                     const char *text)
{
    FILE *file = fopen(certificate_path(at, to), "w");
    ck_assert_int_ge(fputs(text, file), 0);
    (void)fclose(file);
}

static inline void certificates_init(struct certificates *at)
{
    const char *shop = "DNS:shop.example,DNS:*.shop.example,IP:127.0.0.1";
    /* As the library does it, so that it makes no difference which of the two is the first. */
    ck_assert_int_eq(OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL), 1);
    *at = (struct certificates){.directory = "/tmp/troupe-tls-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(at->directory));
    certificate_make(at, (struct certificate_form){.name = "authority"});
    certificate_make(
        at, (struct certificate_form){.name = "shop", .names = shop, .usage = "serverAuth"});
    certificate_make(at,
                     (struct certificate_form){
                         .name = "other", .names = "DNS:other.example", .usage = "serverAuth"});
    certificate_make(at,
                     (struct certificate_form){.name = "expired",
                                               .names = shop,
                                               .usage = "serverAuth",
                                               .from_days = -9,
                                               .to_days = -1});
    certificate_make(
        at,
        (struct certificate_form){
            .name = "early", .names = shop, .usage = "serverAuth", .from_days = 1, .to_days = 9});
    certificate_make(at, (struct certificate_form){.name = "anna", .usage = "clientAuth"});
    certificate_make(at,
                     (struct certificate_form){.name = "stranger",
                                               .names = shop,
                                               .usage = "serverAuth,clientAuth",
                                               .signs_itself = true});
}

static inline void certificates_deinit(struct certificates *at)
{
    char command[128];
    X509_free(at->authority);
    EVP_PKEY_free(at->authority_key);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", at->directory);
    ck_assert_int_eq(system(command), 0);
}

#endif
