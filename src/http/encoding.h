/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decides whether a client accepts an encoding of an answer: reads the value of Accept-Encoding
 * (RFC 9110 12.5.3).
 */
#ifndef HTTP_ENCODING_H
#define HTTP_ENCODING_H

#include <troupe/message.h>

#include <stdbool.h>

/**
 * Whether a client accepts an encoding, such as "gzip": the list has this encoding, or "*", with a
 * weight that is not 0. With an empty or malformed list the client accepts no encoding.
 */
bool tr__encoding_is_accepted(tr_bytes list, const char *encoding);

#endif
