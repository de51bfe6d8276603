/* SPDX-License-Identifier: Apache-2.0 */
#include "os/socket_address.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

socklen_t tr__socket_address_of(const tr_address *from, union socket_address *to)
{
    if (from->family == TR_FAMILY_V4) {
        to->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(from->port)};
        memcpy(&to->v4.sin_addr, from->host, sizeof to->v4.sin_addr);
        return sizeof to->v4;
    }
    if (from->family == TR_FAMILY_V6) {
        to->v6 = (struct sockaddr_in6){
            .sin6_family = AF_INET6, .sin6_port = htons(from->port), .sin6_scope_id = from->scope};
        memcpy(&to->v6.sin6_addr, from->host, sizeof to->v6.sin6_addr);
        return sizeof to->v6;
    }
    if (from->family == TR_FAMILY_UNIX && from->path)
        return tr__socket_address_of_path(from->path, to);
    return 0;
}

bool tr__socket_address_path(const union socket_address *from, socklen_t size,
                             char path[TR_ADDRESS_PATH_MAX])
{
    size_t head = offsetof(struct sockaddr_un, sun_path);
    _Static_assert(sizeof from->path.sun_path == TR_ADDRESS_PATH_MAX, "as Linux has it");
    if (from->any.sa_family != AF_UNIX || size <= head)
        return false; /* the socket has no name */
    size_t length = size - head;
    length = length < TR_ADDRESS_PATH_MAX ? length : TR_ADDRESS_PATH_MAX - 1;
    memcpy(path, from->path.sun_path, length);
    path[length] = '\0';
    if (!path[0])
        path[0] = '@';
    return true;
}

socklen_t tr__socket_address_of_path(const char *path, union socket_address *to)
{
    size_t length = strlen(path);
    /* A path ends with a NUL. An abstract name begins with a NUL instead. */
    if (length == 0 || length >= sizeof to->path.sun_path)
        return 0;
    bool is_abstract = path[0] == '@';
    if (is_abstract && length == 1)
        return 0;
    to->path = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(to->path.sun_path, path, length);
    if (is_abstract)
        to->path.sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + !is_abstract);
}

bool tr__socket_address_read(const union socket_address *from, socklen_t size, tr_address *to)
{
    *to = (tr_address){.family = TR_FAMILY_NONE};
    if (size < sizeof from->any.sa_family)
        return false;
    if (from->any.sa_family == AF_UNIX) {
        to->family = TR_FAMILY_UNIX;
        return true;
    }
    if (from->any.sa_family == AF_INET && size >= sizeof from->v4) {
        to->family = TR_FAMILY_V4;
        to->port = ntohs(from->v4.sin_port);
        memcpy(to->host, &from->v4.sin_addr, sizeof from->v4.sin_addr);
        return true;
    }
    if (from->any.sa_family != AF_INET6 || size < sizeof from->v6)
        return false;
    to->port = ntohs(from->v6.sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(&from->v6.sin6_addr)) {
        to->family = TR_FAMILY_V4;
        memcpy(to->host, from->v6.sin6_addr.s6_addr + 12, 4);
        return true;
    }
    to->family = TR_FAMILY_V6;
    to->scope = from->v6.sin6_scope_id;
    memcpy(to->host, &from->v6.sin6_addr, sizeof from->v6.sin6_addr);
    return true;
}
