/* SPDX-License-Identifier: Apache-2.0 */
/** Converts between tr_address and the addresses of the kernel. */
#ifndef OS_SOCKET_ADDRESS_H
#define OS_SOCKET_ADDRESS_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <troupe/address.h>

/** An address of the kernel, of any family that is supported here. */
union socket_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un path;
};

/**
 * Writes an address for the kernel to `to`. Returns its size; 0 if `from` is no address, or a UNIX address without a
 * path.
 */
socklen_t tr__socket_address_of(const tr_address *from, union socket_address *to);

/**
 * Writes the address of a UNIX socket. A path that begins with '@' stands for an abstract name. Returns its size; 0 if
 * the path is empty or too long.
 */
socklen_t tr__socket_address_of_path(const char *path, union socket_address *to);

/**
 * Writes the path of a UNIX address of `size` bytes. An abstract name gives a path that begins with '@'. Returns false
 * if the address has no path.
 */
bool tr__socket_address_path(const union socket_address *from, socklen_t size,
                             char path[TR_ADDRESS_PATH_MAX]);

/**
 * Reads an address of `size` bytes that the kernel has written. An IPv4 address inside an IPv6
 * address becomes an IPv4 address. If there is no address, or its family is not supported here,
 * writes TR_FAMILY_NONE and returns false.
 */
bool tr__socket_address_read(const union socket_address *from, socklen_t size, tr_address *to);

#endif
