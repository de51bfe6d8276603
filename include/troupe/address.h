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
 * An address is a value, and may be a field of a message: (address, from) declares the field
 * `from`.
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
 * The address of a socket. An address that is all zero is the address of no socket. `path` is for a
 * UNIX socket only. The path is borrowed; in a tr_datagram it is valid until the turn ends. A UNIX
 * address whose `path` is NULL belongs to a socket that has no name, or whose name is not known.
 */
TR_MESSAGE(tr_address, (u16, family), (u16, port), (array(u8, 16), host), (u32, scope),
           (str, path));
typedef struct tr_address tr_address;

/**
 * Makes `address` a type of a field: in a message, (address, from) declares the field `from`, a
 * tr_address.
 */
#define TR_FIELD_TYPE_address TR_FIELD_TYPE_message(tr_address)

/**
 * Most bytes of the path of a UNIX socket, with the NUL. A longer path gives TR_ADDRESS_INVALID.
 */
#define TR_ADDRESS_PATH_MAX 108
/** Bytes of the text of tr_address_print: enough for "unix:", the longest path and the NUL. */
#define TR_ADDRESS_TEXT_MAX 120

TR_BEGIN_C
/**
 * Reads an address: "127.0.0.1:7000", "[::1]:7000", "[fe80::1%2]:7000", where 2 is the number of a scope, or ":7000",
 * which means every address of this machine, IPv4 and IPv6. Looks up no name. Ports are 0 to 65535, and numbers have no
 * leading zeros. Returns TR_ADDRESS_INVALID for any other text, and for NULL.
 * Any thread. Does not wait.
 */
TR_MUST_CHECK tr_status tr_address_parse(const char *text, tr_address *address);
/**
 * Returns the address of the UNIX socket at `path`: "/run/log" or "@name". The address borrows the
 * path. Any thread. Does not wait.
 */
tr_address tr_address_of_path(const char *path);
/**
 * Writes an address as text, "127.0.0.1:7000", into `text`, which has TR_ADDRESS_TEXT_MAX bytes, and returns `text`. An
 * IPv6 address is written as RFC 5952 says, also one that stands for an IPv4 address: "[::ffff:10.0.0.7]:7000". A UNIX
 * address is written "unix:/run/log", or "unix" if it has no path. An address that is all zero is written "none". Any
 * thread. Does not wait.
 */
TR_NON_NULL char *tr_address_print(const tr_address *address, char *text);
/**
 * Returns whether two addresses are equal; ports, scopes and paths are compared too. Two UNIX addresses without a path
 * are equal. An IPv4 address and the IPv6 address that stands for it are not equal.
 * Any thread. Does not wait.
 */
bool tr_address_is_equal(const tr_address *a, const tr_address *b);
TR_END_C

#endif
