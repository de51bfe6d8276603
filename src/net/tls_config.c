/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* the longest name of a protocol, because the length of the name must fit into one byte */
enum { PROTOCOL_MAX = 255 };

/* Copies strings into the memory behind the config. A first pass only adds up their size. */
struct copier {
    char *at; /* where the next string is copied to; NULL: this pass only computes the size */
    size_t size;
};

static char *copy(struct copier *copier, const char *text, size_t size)
{
    char *to = copier->at ? copier->at + copier->size : NULL;
    if (to) {
        memcpy(to, text, size);
        to[size] = '\0';
    }
    copier->size += size + 1;
    return to;
}

static const char *copy_text(struct copier *copier, const char *text)
{
    return text ? copy(copier, text, strlen(text)) : NULL;
}

/*
 * Returns the host in an address such as "shop.example:443", "[::1]:443" or "10.0.0.7:443". Returns
 * "" for a path and for an inherited descriptor.
 */
static tr_bytes host_of(const char *address)
{
    if (!address || address[0] == '/' || address[0] == '@' || strncmp(address, "fd:", 3) == 0)
        return (tr_bytes){"", 0};
    if (address[0] == '[') {
        return (tr_bytes){address + 1, strcspn(address + 1, "]%")}; /* without a zone */
    }
    const char *end = strrchr(address, ':');
    size_t size = end ? (size_t)(end - address) : strlen(address);
    if (size == 0)
        return (tr_bytes){"localhost", strlen("localhost")};
    return (tr_bytes){address, size};
}

/* Returns the name of the host that a client wants to reach, without the dot that ends an absolute name. */
static tr_bytes name_of(const tr_endpoint *endpoint)
{
    tr_bytes name = host_of(endpoint->address);
    if (endpoint->server_name)
        name = (tr_bytes){endpoint->server_name, strlen(endpoint->server_name)};
    const char *text = name.data;
    if (name.size > 1 && text[name.size - 1] == '.')
        name.size--;
    return name;
}

static const char *check_protocols(const char *alpn)
{
    for (const char *at = alpn; at;) {
        size_t size = strcspn(at, ",");
        if (size == 0)
            return "invalid .alpn: a protocol without a name";
        if (size > PROTOCOL_MAX)
            return "invalid .alpn: a protocol with a name of more than 255 bytes";
        at = at[size] ? at + size + 1 : NULL;
    }
    return NULL;
}

static const char *check_server(const tr_endpoint *endpoint)
{
    if (!endpoint->certificate && !(endpoint->hosts && endpoint->hosts->name))
        return "no certificate: set .certificate and .key";
    if (endpoint->insecure)
        return ".insecure is for clients";
    if (endpoint->server_name)
        return ".server_name is for clients; listeners have .hosts";
    if (endpoint->verify != TR_VERIFY_NONE && !endpoint->trusts)
        return ".verify without .trusts: a listener trusts no authority by itself";
    if (endpoint->verify == TR_VERIFY_NONE && endpoint->trusts)
        return ".trusts without .verify: clients would not be asked for a certificate";
    for (const tr_tls_host *host = endpoint->hosts; host && host->name; host++) {
        if (!host->certificate)
            return "a host of .hosts has no certificate";
    }
    return NULL;
}

static const char *check_client(const tr_endpoint *endpoint)
{
    if (endpoint->hosts)
        return ".hosts is for listeners";
    if (endpoint->insecure && (endpoint->verify != TR_VERIFY_NONE || endpoint->trusts))
        return ".insecure together with .verify or .trusts";
    if (!endpoint->insecure && name_of(endpoint).size == 0)
        return "no name to compare the certificate with: set .server_name";
    return NULL;
}

static const char *check(const tr_endpoint *endpoint, bool is_server)
{
    if (endpoint->key && !endpoint->certificate)
        return ".key without .certificate";
    if ((unsigned)endpoint->verify > TR_VERIFY_REQUIRED)
        return "invalid .verify";
    const char *problem = check_protocols(endpoint->alpn);
    if (problem)
        return problem;
    return is_server ? check_server(endpoint) : check_client(endpoint);
}

static tr_tls_host copy_host(struct copier *copier, const char *name, const char *certificate,
                             const char *key)
{
    return (tr_tls_host){.name = copy_text(copier, name),
                         .certificate = copy_text(copier, certificate),
                         .key = copy_text(copier, key ? key : certificate)};
}

/* Copies "h2,http/1.1" in the two forms of struct tls_config. */
static void copy_protocols(struct copier *copier, struct tls_config *config, const char *alpn)
{
    size_t size = strlen(alpn);
    char *text = copy(copier, alpn, size);
    char *sent = copy(copier, alpn, size);
    if (!text)
        return;
    size_t begin = 0;
    while (begin <= size) {
        size_t length = strcspn(alpn + begin, ",");
        text[begin + length] = '\0';
        sent[begin] = (char)length;
        memcpy(sent + begin + 1, alpn + begin, length);
        begin += length + 1;
    }
    config->protocols = text;
    config->alpn = (const unsigned char *)sent;
    config->alpn_size = size + 1;
}

static size_t hosts_of(const tr_endpoint *endpoint)
{
    size_t count = endpoint->certificate ? 1 : 0;
    for (const tr_tls_host *host = endpoint->hosts; host && host->name; host++)
        count++;
    return count;
}

static void fill(struct tls_config *config, struct copier *copier, const tr_endpoint *endpoint)
{
    tr_bytes name = config->is_server ? (tr_bytes){"", 0} : name_of(endpoint);
    size_t count = 0;
    tr_tls_host host;
    config->trusts = copy_text(copier, endpoint->trusts);
    config->server_name = copy(copier, name.data, name.size);
    if (endpoint->alpn)
        copy_protocols(copier, config, endpoint->alpn);
    if (endpoint->certificate) {
        host = copy_host(copier, NULL, endpoint->certificate, endpoint->key);
        if (copier->at)
            config->hosts[count++] = host;
    }
    for (const tr_tls_host *more = endpoint->hosts; more && more->name; more++) {
        host = copy_host(copier, more->name, more->certificate, more->key);
        if (copier->at)
            config->hosts[count++] = host;
    }
}

tr_status tr__tls_config_new(const tr_platform *platform, const tr_endpoint *endpoint,
                             bool is_server, struct tls_config **config, char *why, size_t why_size)
{
    const char *problem = check(endpoint, is_server);
    if (problem) {
        (void)snprintf(why, why_size, "%s", problem);
        return TR_TLS_FAILED;
    }
    struct tls_config sizes = {.is_server = is_server};
    struct copier copier = {0};
    fill(&sizes, &copier, endpoint);
    size_t head = sizeof sizes + hosts_of(endpoint) * sizeof(tr_tls_host);
    struct tls_config *made = platform->resize(platform, NULL, head + copier.size);
    if (!made) {
        (void)snprintf(why, why_size, "out of memory for the options of TLS");
        return TR_NO_MEMORY;
    }
    *made = (struct tls_config){.platform = platform,
                                .is_server = is_server,
                                .insecure = endpoint->insecure,
                                .verify = endpoint->verify,
                                .hosts_count = hosts_of(endpoint)};
    copier = (struct copier){.at = (char *)made + head};
    fill(made, &copier, endpoint);
    *config = made;
    return TR_OK;
}

void tr__tls_config_free(struct tls_config *config)
{
    if (config)
        config->platform->resize(config->platform, config, 0);
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool has_protocols(const struct tls_config *config, const char *alpn)
{
    if (!alpn || !config->protocols)
        return !alpn && !config->protocols;
    if (strlen(alpn) + 1 != config->alpn_size)
        return false;
    for (size_t i = 0; i < config->alpn_size; i++) {
        if (config->protocols[i] != (alpn[i] == ',' ? '\0' : alpn[i]))
            return false;
    }
    return true;
}

static bool has_host(const tr_tls_host *host, const char *name, const char *certificate,
                     const char *key)
{
    return is_same(host->name, name) && is_same(host->certificate, certificate) &&
           is_same(host->key, key ? key : certificate);
}

static bool has_hosts(const struct tls_config *config, const tr_endpoint *endpoint)
{
    const tr_tls_host *host = config->hosts;
    if (hosts_of(endpoint) != config->hosts_count)
        return false;
    if (endpoint->certificate && !has_host(host++, NULL, endpoint->certificate, endpoint->key))
        return false;
    for (const tr_tls_host *more = endpoint->hosts; more && more->name; more++) {
        if (!has_host(host++, more->name, more->certificate, more->key))
            return false;
    }
    return true;
}

bool tr__tls_config_is_for(const struct tls_config *config, const tr_endpoint *endpoint,
                           bool is_server)
{
    if (config->is_server != is_server || config->insecure != endpoint->insecure ||
        config->verify != endpoint->verify || check(endpoint, is_server))
        return false;
    tr_bytes name = is_server ? (tr_bytes){"", 0} : name_of(endpoint);
    return strlen(config->server_name) == name.size &&
           memcmp(config->server_name, name.data, name.size) == 0 &&
           is_same(config->trusts, endpoint->trusts) && has_protocols(config, endpoint->alpn) &&
           has_hosts(config, endpoint);
}

static bool has_name(const char *host, const char *name, size_t size)
{
    return host && strlen(host) == size && strncasecmp(host, name, size) == 0;
}

size_t tr__tls_config_host(const struct tls_config *config, const char *name)
{
    size_t size = strlen(name);
    if (size > 1 && name[size - 1] == '.')
        size--;
    for (size_t i = 0; i < config->hosts_count; i++) {
        if (has_name(config->hosts[i].name, name, size))
            return i;
    }
    size_t label = strcspn(name, ".");
    for (size_t i = 0; i < config->hosts_count && label > 0 && label < size; i++) {
        const char *host = config->hosts[i].name;
        if (host && host[0] == '*' && has_name(host + 1, name + label, size - label))
            return i;
    }
    return 0;
}
