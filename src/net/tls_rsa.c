/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_rsa.h"

#include <openssl/crypto.h>
#include <openssl/rsa.h>

/*
 * These functions are deprecated, but OpenSSL 3 has no other interface for this that works with
 * keys of its default provider.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/*
 * The methods of RSA objects that are used for hidden keys and for the keys behind them. The
 * pointer is NULL if they are not made yet, or if there was no memory.
 */
static RSA_METHOD *hidden; /* read it by method_get */

/*
 * Returns the key with the secret parts for a hidden key. The key with the secret parts is the
 * application data of the hidden key.
 */
static RSA *secret_of(const RSA *rsa)
{
    return RSA_get_app_data(rsa);
}

static int sign(int size, const unsigned char *from, unsigned char *to, RSA *rsa, int padding)
{
    return RSA_meth_get_priv_enc(RSA_PKCS1_OpenSSL())(size, from, to, secret_of(rsa), padding);
}

static int decrypt(int size, const unsigned char *from, unsigned char *to, RSA *rsa, int padding)
{
    return RSA_meth_get_priv_dec(RSA_PKCS1_OpenSSL())(size, from, to, secret_of(rsa), padding);
}

/*
 * Copies all numbers of a key into another key. BN_dup copies a number that is in the secure heap
 * into the secure heap.
 */
static bool numbers_copy(RSA *to, const RSA *from)
{
    const BIGNUM *old[] = {RSA_get0_n(from),
                           RSA_get0_e(from),
                           RSA_get0_d(from),
                           RSA_get0_p(from),
                           RSA_get0_q(from),
                           RSA_get0_dmp1(from),
                           RSA_get0_dmq1(from),
                           RSA_get0_iqmp(from)};
    enum { COUNT = sizeof old / sizeof *old };
    BIGNUM *numbers[COUNT];
    bool has_all = true;
    for (int i = 0; i < COUNT; i++)
        has_all &= (numbers[i] = BN_dup(old[i])) != NULL;
    if (has_all) /* these calls take the numbers, and cannot fail */
        return RSA_set0_key(to, numbers[0], numbers[1], numbers[2]) == 1 &&
               RSA_set0_factors(to, numbers[3], numbers[4]) == 1 &&
               RSA_set0_crt_params(to, numbers[5], numbers[6], numbers[7]) == 1;
    for (int i = 0; i < COUNT; i++)
        BN_clear_free(numbers[i]);
    return false;
}

/*
 * Does the part of a signature that needs the primes of the secret key. An RSA object that does
 * this keeps copies of the primes in ordinary memory until it is freed. So each call uses a new RSA
 * object, and frees it.
 */
static int exponentiate(BIGNUM *result, const BIGNUM *base, RSA *secret, BN_CTX *context)
{
    RSA *rsa = RSA_new();
    int is_done = rsa && numbers_copy(rsa, secret) &&
                  RSA_meth_get_mod_exp(RSA_PKCS1_OpenSSL())(result, base, rsa, context) == 1;
    RSA_free(rsa);
    return is_done;
}

static int finish(RSA *rsa)
{
    RSA_free(secret_of(rsa));
    return RSA_meth_get_finish(RSA_PKCS1_OpenSSL())(rsa);
}

static void method_make(void)
{
    RSA_METHOD *method = RSA_meth_dup(RSA_PKCS1_OpenSSL());
    if (method && RSA_meth_set1_name(method, "troupe") && RSA_meth_set_priv_enc(method, sign) &&
        RSA_meth_set_priv_dec(method, decrypt) && RSA_meth_set_mod_exp(method, exponentiate) &&
        RSA_meth_set_finish(method, finish))
        hidden = method;
    else
        RSA_meth_free(method);
}

static const RSA_METHOD *method_get(void)
{
    static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
    (void)CRYPTO_THREAD_run_once(&once, method_make);
    return hidden;
}

/* Returns a hidden key for the key `secret`, which is taken. Returns NULL if there is no memory. */
static EVP_PKEY *key_of(RSA *secret)
{
    const RSA_METHOD *method = method_get();
    RSA *rsa = method && secret ? RSAPublicKey_dup(secret) : NULL;
    EVP_PKEY *key = rsa ? EVP_PKEY_new() : NULL;
    bool owns = key && RSA_set_method(secret, method) == 1 && RSA_set_method(rsa, method) == 1 &&
                RSA_set_app_data(rsa, secret) == 1;
    if (!owns)
        RSA_free(secret);
    if (owns && EVP_PKEY_assign_RSA(key, rsa) == 1)
        return key;
    RSA_free(rsa);
    EVP_PKEY_free(key);
    return NULL;
}

/*
 * Returns a hidden key for the private key that is encoded in these bytes. Wipes and frees the
 * bytes.
 */
static EVP_PKEY *key_read(unsigned char *bytes, int size)
{
    const unsigned char *from = bytes;
    /* the numbers of the key are in the secure heap when d2i_RSAPrivateKey has read them */
    RSA *secret = bytes && size > 0 ? d2i_RSAPrivateKey(NULL, &from, size) : NULL;
    OPENSSL_secure_clear_free(bytes, size > 0 ? (size_t)size : 0);
    return key_of(secret);
}

bool tr__tls_rsa_is_hidden(const EVP_PKEY *key)
{
    /*
     * check the provider first, because EVP_PKEY_get0_RSA copies the key of a provider into
     * ordinary memory
     */
    return !EVP_PKEY_get0_provider(key) && EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA &&
           method_get() && RSA_get_method(EVP_PKEY_get0_RSA(key)) == method_get();
}

bool tr__tls_rsa_hide(EVP_PKEY **key)
{
    if (EVP_PKEY_get_base_id(*key) != EVP_PKEY_RSA)
        return true;
    int size = i2d_PrivateKey(*key, NULL);
    unsigned char *bytes = size > 0 ? OPENSSL_secure_malloc((size_t)size) : NULL;
    unsigned char *end = bytes;
    if (bytes && i2d_PrivateKey(*key, &end) != size)
        OPENSSL_cleanse(bytes, (size_t)size);
    EVP_PKEY *made = key_read(bytes, size);
    if (!made)
        return false;
    EVP_PKEY_free(*key);
    *key = made;
    return true;
}

EVP_PKEY *tr__tls_rsa_copy(const EVP_PKEY *key)
{
    const RSA *secret = secret_of(EVP_PKEY_get0_RSA(key));
    int size = i2d_RSAPrivateKey(secret, NULL);
    unsigned char *bytes = size > 0 ? OPENSSL_secure_malloc((size_t)size) : NULL;
    unsigned char *end = bytes;
    if (bytes && i2d_RSAPrivateKey(secret, &end) != size)
        OPENSSL_cleanse(bytes, (size_t)size);
    return key_read(bytes, size);
}

#pragma GCC diagnostic pop
