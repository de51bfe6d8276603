/* SPDX-License-Identifier: Apache-2.0 */
#include <troupe/name.h>

#include <string.h>

#include "actor/cell/names.h"
#include "actor/cell/verb.h"
#include "base/assert.h"

tr_status tr_name_write(tr_bytes key, char name[TR_NAME_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    if (!name || (!key.data && key.size))
        return TR_INVALID_ARGUMENT;
    if (!key.size || key.size > TR_NAME_MAX)
        return TR_NAME_INVALID;
    const unsigned char *bytes = key.data;
    for (size_t i = 0; i < key.size; i++) {
        if (name_char_is_plain(bytes[i])) {
            *name++ = (char)bytes[i];
            continue;
        }
        *name++ = '%';
        *name++ = digits[bytes[i] >> 4];
        *name++ = digits[bytes[i] & 15];
    }
    *name = '\0';
    return TR_OK;
}

tr_status tr_name_read(const char *name, char key[TR_NAME_MAX + 1], size_t *size)
{
    if (!name || !key)
        return TR_INVALID_ARGUMENT;
    if (!tr__name_is_valid(name))
        return TR_NAME_INVALID;
    size_t count = 0;
    for (; *name; name++, count++) {
        unsigned char byte = (unsigned char)*name;
        if (name_escape_read(name, &byte))
            name += 2;
        key[count] = (char)byte;
    }
    key[count] = '\0';
    if (size)
        *size = count;
    return TR_OK;
}

char *tr_name_of(tr_self *self, const char *key)
{
    TURN_VERB(self);
    TR_ASSERT(self); /* tr_crash below ends a turn, so there must be a turn */
    char name[TR_NAME_SIZE];
    tr_bytes bytes = {key, key ? strnlen(key, TR_NAME_MAX + 1) : 0};
    tr_status status = tr_name_write(bytes, name);
    if (status != TR_OK)
        tr_crash(self,
                 TR_NAME_INVALID,
                 "no name for a key of %s; expected 1 to %d bytes",
                 bytes.size ? "more bytes" : "no bytes",
                 TR_NAME_MAX);
    return tr_format(self, "%s", name);
}
