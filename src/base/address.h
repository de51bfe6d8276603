/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Texts that name a host and a port, for callers that resolve names: "shop.example:7000".
 *
 * tr_address_parse (troupe/address.h) reads the texts that need no resolver.
 */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stddef.h>
#include <troupe/address.h>

/**
 * Splits "host:7000". Copies the host and a NUL into `host`, which has `size` bytes; TR_HOST_MAX + 1 bytes are always
 * enough. The labels of a host have 1 to 63 letters, digits, '-' and '_', with no '-' at either end; a dot may follow
 * the last label. Returns TR_ADDRESS_INVALID for any other text. A host that ends with a number is invalid too, because
 * a resolver could take it for an IPv4 address: "1.2.3:80", "0x7f.1:80".
 */
TR_MUST_CHECK tr_status tr__address_split(const char *text, char *host, size_t size,
                                          uint16_t *port);

/**
 * Read an IPv4 or IPv6 address without brackets, port and scope from exactly `size` bytes: "10.0.0.7", "2001:db8::1".
 * Write the family and the host of `address`. Return TR_ADDRESS_INVALID for any other text.
 */
TR_MUST_CHECK tr_status tr__address_read_v4(const char *text, size_t size, tr_address *address);
TR_MUST_CHECK tr_status tr__address_read_v6(const char *text, size_t size, tr_address *address);

/**
 * Reads a decimal number without leading zeros from exactly `size` bytes. Returns false if the bytes are no such
 * number, or if it is above `max`.
 */
bool tr__address_read_number(const char *text, size_t size, uint32_t max, uint32_t *number);

#endif
