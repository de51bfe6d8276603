/* SPDX-License-Identifier: Apache-2.0 */
/** Messages as JSON for people: without the values of secret fields. */
#ifndef WIRE_JSON_WRITE_H
#define WIRE_JSON_WRITE_H

#include <troupe/message.h>

/** As tr_json_write, with "..." in place of the values of secret fields (TR_SECRET). Any thread. */
size_t tr__json_show(const tr_type *type, const void *message, char *buffer, size_t size);

#endif
