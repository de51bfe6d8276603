/* SPDX-License-Identifier: Apache-2.0 */
#include <troupe/node.h>

#include "actor/cell/names.h"
#include "pool/hash_ring.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PARTS = 4 };

static const char *const part_names[PARTS] = {"cluster", "datacenter", "application", "node"};

static_assert(sizeof(tr_node_address) == PARTS * (TR_NODE_PART_MAX + 1), "parts lie side by side");

static char *part_of(tr_node_address *address, int part)
{
    return (char *)address + part * (TR_NODE_PART_MAX + 1);
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_allowed(char c)
{
    return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-';
}

/*
 * Returns how many characters at the start of `text` can belong to a part of an address. Counts at
 * most one character more than the limit allows.
 */
static size_t part_length(const char *text)
{
    size_t length = 0;
    if (!is_letter_or_digit(text[0]))
        return 0;
    while (length <= TR_NODE_PART_MAX && is_allowed(text[length]))
        length++;
    return length;
}

TR_PRINTF(5, 6)
static tr_status node_wrong(tr_node_error *error, tr_status status, int part, size_t offset,
                            const char *format, ...)
{
    if (!error)
        return status;
    *error = (tr_node_error){.status = status, .offset = offset, .part = part_names[part]};
    int length =
        snprintf(error->text, sizeof error->text, "%s, at %zu: ", part_names[part], offset);
    va_list list;
    va_start(list, format);
    vsnprintf(error->text + length, sizeof error->text - (size_t)length, format, list);
    va_end(list);
    return status;
}

/* Returns a character as a text, in the form in which error messages show it. */
static const char *shown_char(char c, char buffer[8])
{
    if (c == '\0')
        return "end";
    if (c >= ' ' && c <= '~')
        snprintf(buffer, 8, "'%c'", c);
    else
        snprintf(buffer, 8, "\\x%02x", (unsigned char)c);
    return buffer;
}

/*
 * Checks the character at `offset`, which is behind a part of `length` characters. Behind the last
 * part the text must end. Behind any other part there must be a '/'.
 */
static tr_status part_end_check(int part, const char *text, size_t offset, size_t length,
                                tr_node_error *error)
{
    char buffer[8];
    char c = text[offset];
    if (length == 0)
        return node_wrong(error,
                          TR_BAD_DATA,
                          part,
                          offset,
                          "unexpected %s; a part begins with a letter or a digit",
                          shown_char(c, buffer));
    if (part == PARTS - 1 && c == '/')
        return node_wrong(
            error, TR_BAD_DATA, part, offset, "unexpected fifth part; an address has four");
    if (part < PARTS - 1 && c == '\0')
        return node_wrong(error,
                          TR_BAD_DATA,
                          part,
                          offset,
                          "unexpected end; expected '/' and %s",
                          part_names[part + 1]);
    if (c != '\0' && c != '/')
        return node_wrong(error,
                          TR_BAD_DATA,
                          part,
                          offset,
                          "invalid character %s; use A-Z a-z 0-9 _ . -",
                          shown_char(c, buffer));
    return TR_OK;
}

tr_status tr_node_address_parse(const char *text, tr_node_address *address, tr_node_error *error)
{
    tr_node_address read = {.cluster = ""};
    size_t offset = 0;
    if (!text || !address)
        return node_wrong(error, TR_INVALID_ARGUMENT, 0, 0, "the address is missing");
    for (int part = 0; part < PARTS; part++) {
        size_t length = part_length(text + offset);
        if (length > TR_NODE_PART_MAX)
            return node_wrong(error,
                              TR_LIMIT,
                              part,
                              offset + TR_NODE_PART_MAX,
                              "a part has at most %d characters",
                              TR_NODE_PART_MAX);
        memcpy(part_of(&read, part), text + offset, length);
        offset += length;
        tr_status status = part_end_check(part, text, offset, length, error);
        if (status != TR_OK)
            return status;
        offset++;
    }
    *address = read;
    return TR_OK;
}

size_t tr_node_address_print(const tr_node_address *address, char *buffer, size_t size)
{
    char text[TR_NODE_ADDRESS_MAX + 1];
    size_t length = 0;
    if (!buffer)
        size = 0;
    if (size > 0)
        buffer[0] = '\0';
    if (!address)
        return 0;
    tr_node_address copy = *address;
    for (int part = 0; part < PARTS; part++) {
        const char *from = part_of(&copy, part);
        size_t part_size = part_length(from);
        if (part_size == 0 || part_size > TR_NODE_PART_MAX || from[part_size] != '\0')
            return 0;
        if (part > 0)
            text[length++] = '/';
        memcpy(text + length, from, part_size);
        length += part_size;
    }
    if (size > 0) {
        size_t written = length < size ? length : size - 1;
        memcpy(buffer, text, written);
        buffer[written] = '\0';
    }
    return length;
}

bool tr_node_address_is_same(const tr_node_address *a, const tr_node_address *b)
{
    return a && b && strncmp(a->cluster, b->cluster, sizeof a->cluster) == 0 &&
           strncmp(a->datacenter, b->datacenter, sizeof a->datacenter) == 0 &&
           strncmp(a->application, b->application, sizeof a->application) == 0 &&
           strncmp(a->node, b->node, sizeof a->node) == 0;
}

int tr_node_of(const char *name, int nodes)
{
    if (!name || nodes < 1)
        return TR_INVALID_ARGUMENT;
    if (nodes > TR_NODES_MAX)
        return TR_LIMIT;
    if (!tr__name_is_valid(name))
        return TR_NAME_INVALID;
    return (int)tr__hash_ring_compute(RING_OF_NODES, (uint32_t)nodes, name);
}
