/* SPDX-License-Identifier: Apache-2.0 */
/** Texts that commands print, and members of JSON that they write. */
#include <stdio.h>
#include <string.h>

#include "command.h"

void text_print(const char *text)
{
    for (; *text; text++)
        putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

void text_print_cut(const char *text, int width)
{
    int column = 0;
    for (; *text && column < width; text++) {
        bool is_more =
            ((unsigned char)*text & 0xc0) == 0x80; /* of a character that takes several bytes */
        putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
        column += !is_more && ((unsigned char)text[1] & 0xc0) != 0x80;
        column += is_more && ((unsigned char)text[1] & 0xc0) != 0x80;
    }
    for (; column < width; column++)
        putchar(' ');
}

const char *number_short(double value, char *text, size_t size)
{
    static const char units[] = " kMGT";
    size_t unit = 0;
    while (value >= 1000 && units[unit + 1]) {
        value /= 1000;
        unit++;
    }
    if (!unit)
        snprintf(text, size, "%.0f", value);
    else
        snprintf(text, size, value < 100 ? "%.1f%c" : "%.0f%c", value, units[unit]);
    return text;
}

size_t member_add(char *line, size_t size, size_t length, const char *name, const char *value)
{
    if (!value || length + 16 + strlen(name) + 6 * strlen(value) >= size)
        return value ? size : length;
    length += (size_t)snprintf(line + length, size - length, ",\"%s\":\"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            line[length++] = '\\';
        if ((unsigned char)*value < 0x20)
            length += (size_t)snprintf(
                line + length, size - length, "\\u%04x", (unsigned)(unsigned char)*value);
        else
            line[length++] = *value;
    }
    line[length++] = '"';
    return length;
}
