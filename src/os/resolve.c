/* SPDX-License-Identifier: Apache-2.0 */
#include "os/resolve.h"

#include "os/socket_address.h"

#include <errno.h>
#include <string.h>

tr_status tr__resolve_status(int code, int error)
{
    switch (code) {
    case 0:
        return TR_OK;
    case EAI_MEMORY:
        return TR_NO_MEMORY;
    case EAI_AGAIN:
        return TR_TIMEOUT;
    case EAI_SYSTEM:
        if (error == ENOMEM)
            return TR_NO_MEMORY;
        return error == EMFILE || error == ENFILE ? TR_LIMIT : TR_TIMEOUT;
    default: /* EAI_NONAME and the like: the name does not exist, or has no address */
        return TR_ADDRESS_INVALID;
    }
}

static bool is_known(const tr_address *addresses, size_t count, const tr_address *address)
{
    for (size_t i = 0; i < count; i++) {
        if (addresses[i].family == address->family && addresses[i].scope == address->scope &&
            memcmp(addresses[i].host, address->host, sizeof address->host) == 0)
            return true;
    }
    return false;
}

size_t tr__resolve_write(const struct addrinfo *found, uint16_t port, tr_address *addresses,
                         size_t max)
{
    size_t count = 0;
    for (; found && count < max; found = found->ai_next) {
        union socket_address from = {.any = {0}};
        tr_address *address = &addresses[count];
        if (found->ai_addrlen > sizeof from)
            continue;
        memcpy(&from, found->ai_addr, found->ai_addrlen);
        if (!tr__socket_address_read(&from, found->ai_addrlen, address))
            continue;
        address->port = port;
        count += !is_known(addresses, count, address);
    }
    return count;
}

tr_status tr__real_resolve(const tr_platform *platform, const char *name, uint16_t port,
                           tr_address *addresses, size_t max, size_t *count)
{
    (void)platform;
    if (!name || !name[0] || !max)
        return name && name[0] ? TR_INVALID_ARGUMENT : TR_ADDRESS_INVALID;
    /* AI_NUMERICHOST: a numeric address needs no network, so the families of this machine do not matter. */
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    int code = getaddrinfo(name, NULL, &hints, &found);
    if (code == EAI_NONAME) {
        hints.ai_flags = AI_ADDRCONFIG;
        code = getaddrinfo(name, NULL, &hints, &found);
    }
    if (code != 0)
        return tr__resolve_status(code, errno);
    size_t written = tr__resolve_write(found, port, addresses, max);
    freeaddrinfo(found);
    if (!written)
        return TR_ADDRESS_INVALID;
    *count = written;
    return TR_OK;
}
