/* SPDX-License-Identifier: Apache-2.0 */
/** Reads the value of Accept-Encoding, such as "gzip;q=1.0, identity; q=0.5, *;q=0". */
#include "http/encoding.h"

#include "http/cursor.h"

#include <string.h>

/*
 * Reads a weight: "0" or "1", with up to three digits after a point. Sets *is_zero to whether the
 * weight is 0. Returns false if the weight is malformed.
 */
static bool read_weight(struct cursor *in, bool *is_zero)
{
    if (in->at == in->end || (*in->at != '0' && *in->at != '1'))
        return false;
    bool is_one = *in->at++ == '1';
    *is_zero = !is_one;
    if (in->at == in->end || *in->at != '.')
        return true;
    in->at++;
    for (int i = 0; i < 3 && in->at < in->end && *in->at >= '0' && *in->at <= '9'; i++, in->at++) {
        if (*in->at != '0' && is_one)
            return false;
        *is_zero = *is_zero && *in->at == '0';
    }
    return true;
}

static bool is_same(const unsigned char *bytes, size_t size, const char *text)
{
    if (size != strlen(text))
        return false;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = bytes[i];
        byte = byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
        if (byte != (unsigned char)text[i])
            return false;
    }
    return true;
}

bool tr__encoding_is_accepted(tr_bytes list, const char *encoding)
{
    bool is_named = false;
    bool is_named_zero = true;
    bool is_all_zero = true;
    if (list.size == 0)
        return false;
    struct cursor in = {list.data, (const unsigned char *)list.data + list.size};
    do {
        bool is_zero = false;
        cursor_skip_space(&in);
        const unsigned char *name = in.at;
        while (in.at < in.end && strchr(" \t;,", *in.at) == NULL)
            in.at++;
        size_t size = (size_t)(in.at - name);
        if (cursor_pass(&in, ';') && !((cursor_pass(&in, 'q') || cursor_pass(&in, 'Q')) &&
                                       cursor_pass(&in, '=') && read_weight(&in, &is_zero)))
            return false;
        if (is_same(name, size, encoding)) {
            is_named = true;
            is_named_zero = is_zero;
        } else if (is_same(name, size, "*")) {
            is_all_zero = is_zero;
        }
    } while (cursor_pass(&in, ','));
    if (in.at != in.end)
        return false;
    return is_named ? !is_named_zero : !is_all_zero;
}
