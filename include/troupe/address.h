/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses of a network: IPv4, IPv6 and UNIX.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/address.h>
 *
 * int main(void)
 * {
 *     tr_address address;
 *     if (tr_address_parse("[::1]:7000", &address) != TR_OK)
 *         return 1;
 *     char text[TR_ADDRESS_TEXT_MAX];
 *     puts(tr_address_print(&address, text));
 *     return address.port == 7000 ? 0 : 1;
 * }
 * ```
 *
 * An address is a value and may be a field of a message: (address, from).
 */
#ifndef TROUPE_ADDRESS_H
#define TROUPE_ADDRESS_H

#include <troupe/message.h>

/** The family of an address. */
typedef enum tr_family {
    TR_FAMILY_NONE, /* no address */
    TR_FAMILY_V4,   /* IPv4; the address is in the first 4 bytes of `host` */
    TR_FAMILY_V6,
    TR_FAMILY_UNIX /* a socket in the file system, or an abstract "@name"; see `path` */
} tr_family;

/**
 * Where a socket is. All zero: nowhere. `path` is the path of a UNIX socket, and is borrowed; in a
 * tr_datagram it is valid until the turn ends. NULL: the socket has no name, or its name is not
 * known.
 */
TR_MESSAGE(tr_address, (u16, family), (u16, port), (array(u8, 16), host), (u32, scope),
           (str, path));
typedef struct tr_address tr_address;

/** The field type of an address: (address, from). */
#define TR_FIELD_TYPE_address TR_FIELD_TYPE_message(tr_address)

/** Bytes of the path of a UNIX socket, with the NUL. More: TR_ADDRESS_INVALID. */
#define TR_ADDRESS_PATH_MAX 108
/** Bytes that tr_address_print needs, with the NUL: those of "unix:" and the longest path. */
#define TR_ADDRESS_TEXT_MAX 120

TR_BEGIN_C
/**
 * Reads "127.0.0.1:7000", "[::1]:7000", "[fe80::1%2]:7000" with the number of a scope, or ":7000", which is every
 * address of this machine, IPv4 and IPv6. No name is looked up. Ports are 0 to 65535; numbers have no leading
 * zeros. TR_ADDRESS_INVALID: any other text, and NULL.
 * Any thread. Does not wait.
 */
TR_MUST_CHECK tr_status tr_address_parse(const char *text, tr_address *address);
/** Returns the address of a UNIX socket, whose path is borrowed: "/run/log" or "@name". Any thread. Does not wait. */
tr_address tr_address_of_path(const char *path);
/**
 * Writes an address as text, "127.0.0.1:7000", into `text`, which has TR_ADDRESS_TEXT_MAX bytes, and returns
 * it. IPv6 is written as RFC 5952 says, also where it stands for IPv4: "[::ffff:10.0.0.7]:7000". A UNIX address
 * is "unix:/run/log" or, without a path, "unix"; an address that is nowhere is "none".
 * Any thread. Does not wait.
 */
TR_NON_NULL char *tr_address_print(const tr_address *address, char *text);
/**
 * Whether two addresses are equal, ports, scopes and paths included. Two UNIX addresses without a path are
 * equal. An IPv4 address and the IPv6 address that stands for it are not.
 * Any thread. Does not wait.
 */
bool tr_address_is_equal(const tr_address *a, const tr_address *b);
TR_END_C

#endif
