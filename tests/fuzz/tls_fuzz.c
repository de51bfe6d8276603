/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes a TLS listener before and amid its handshake: the input comes in pieces, whose sizes are its first bytes, and
 * must never open a connection, give anything to the actor, or fail without a text. An odd first byte puts a real
 * client's hello before it, so that the input is the second flight.
 */
#include "net/tls.h"
#include "net/tls_context.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static tr_time no_time(const tr_platform *platform)
{
    (void)platform;
    return 0;
}

static void *resize(const tr_platform *platform, void *memory, size_t size)
{
    (void)platform;
    if (size > 0)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

static const tr_platform platform = {
    .size = sizeof platform, .mono_now = no_time, .wall_now = no_time, .resize = resize};
static const struct memory_source memory_source = {.platform = &platform};
static struct tls_context *server, *client;

/* A certificate that signs itself, with its key, in a file. */
static void write_certificate(const char *path)
{
    FILE *file = fopen(path, "w");
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *made = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(made), 0);
    X509_gmtime_adj(X509_getm_notAfter(made), 1000);
    X509_set_pubkey(made, key);
    require(X509_sign(made, key, EVP_sha256()) > 0);
    require(PEM_write_X509(file, made) == 1);
    require(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
    (void)fclose(file);
    X509_free(made);
    EVP_PKEY_free(key);
}

static void begin(void)
{
    char path[] = "/tmp/troupe-tls-fuzz-XXXXXX", why[TLS_WHY_SIZE];
    int fd = mkstemp(path);
    require(fd >= 0);
    (void)close(fd);
    write_certificate(path);
    tr_endpoint at = {.address = ":1",
                      .certificate = path,
                      .alpn = "h2,http/1.1",
                      .verify = TR_VERIFY_REQUIRED,
                      .trusts = path};
    tr_endpoint to = {.address = "a.example:1", .insecure = true, .alpn = "h2"};
    require(tr__tls_context_new(&platform, &at, true, &server, why, sizeof why) == TR_OK);
    require(tr__tls_context_new(&platform, &to, false, &client, why, sizeof why) == TR_OK);
    (void)unlink(path);
}

static tr_status give(void *state, const uint8_t *data, size_t size, struct net_buffer *in,
                      struct net_buffer *out)
{
    size_t taken = 0;
    tr_status status = tr__tls_filter.inbound(state, (tr_bytes){data, size}, &taken, in, out);
    require(taken == size);
    return status;
}

/* The first flight of a client that means it. */
static void say_hello(void *state, struct net_buffer *in, struct net_buffer *out)
{
    void *other;
    struct net_buffer hello = NET_BUFFER(&memory_source);
    require(tr__tls_begin(client, 0, NULL, &other) == TR_OK);
    require(tr__tls_filter.begin(other, &hello) == TR_OK);
    tr_bytes bytes = net_buffer_bytes(&hello);
    require(give(state, bytes.data, bytes.size, in, out) == TR_OK);
    require(net_buffer_size(out) > 0);
    tr__net_buffer_free(&hello);
    tr__tls_filter.free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!server)
        begin();
    if (size < 4)
        return 0;
    void *state;
    struct net_buffer in = NET_BUFFER(&memory_source), out = NET_BUFFER(&memory_source);
    tr_status status = TR_OK;
    const uint8_t *pieces = data;
    require(tr__tls_begin(server, 0, NULL, &state) == TR_OK);
    if (data[0] % 2)
        say_hello(state, &in, &out);
    data += 4;
    size -= 4;
    for (size_t i = 0; size > 0; i++) {
        size_t piece = pieces[i % 4] < size ? pieces[i % 4] + 1u : size;
        if (piece > size)
            piece = size;
        status = give(state, data, piece, &in, &out);
        data += piece;
        size -= piece;
    }
    require(!tr__tls_filter.is_open(state));
    require(net_buffer_size(&in) == 0);
    require(status == TR_OK || status == TR_TLS_FAILED);
    require((status == TR_OK) == (tr__tls_filter.text(state)[0] == '\0'));
    require(tr__tls_filter.input_end(state) == TR_TLS_FAILED);
    tr__net_buffer_free(&in);
    tr__net_buffer_free(&out);
    tr__tls_filter.free(state);
    return 0;
}
