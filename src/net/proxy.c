/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The PROXY header as the file proxy-protocol.txt of HAProxy describes it.
 *
 * The filter takes no bytes of an incomplete header, so it gets them again with more bytes behind
 * them. This is not repeated often, because a header is short, and bytes that cannot become a
 * header are refused at once.
 */
#include "net/proxy.h"

#include "base/address.h"
#include "base/assert.h"

#include <string.h>
#include <troupe/limits.h>

enum {
    LINE_HEADER_MAX = 107, /* the longest header of version 1 with its CR LF, in bytes */
    BINARY_HEAD = 16,
    V4_BLOCK = 12, /* size of two addresses and two ports of IPv4 */
    V6_BLOCK = 36,
    UNIX_BLOCK = 216, /* size of two paths of UNIX sockets, 108 bytes each */
    /* the bytes of a field before its value: its type, and its length in two bytes */
    EXTRA_HEAD = 3,
    EXTRA_CHECKSUM = 3
};

static const char line_start[] = "PROXY ";
static const unsigned char binary_start[12] = "\r\n\r\n\0\r\nQUIT\n";

/* ---- Version 1: a line. ---- */

/*
 * Takes the next word of a line, up to a space or the end of the line. Between two spaces that
 * follow each other is an empty word.
 */
static tr_bytes next_word(tr_bytes *line)
{
    const char *begin = line->data;
    const char *space = line->size ? memchr(begin, ' ', line->size) : NULL;
    tr_bytes word = {begin, space ? (size_t)(space - begin) : line->size};
    size_t taken = word.size + (space != NULL);
    *line = (tr_bytes){begin + taken, line->size - taken};
    return word;
}

static bool is_word(tr_bytes word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.data, text, word.size) == 0;
}

static bool read_port(tr_bytes word, uint16_t *port)
{
    uint32_t number;
    if (!tr__address_read_number(word.data, word.size, UINT16_MAX, &number))
        return false;
    *port = (uint16_t)number;
    return true;
}

/* Reads two hosts, then two ports. Returns NULL, or an error text. */
static const char *read_line_addresses(tr_bytes line, bool is_v6, struct proxy *proxy)
{
    tr_address *const ends[] = {&proxy->source, &proxy->destination};
    for (int i = 0; i < 2; i++) {
        tr_bytes word = next_word(&line);
        tr_status status = is_v6 ? tr__address_read_v6(word.data, word.size, ends[i])
                                 : tr__address_read_v4(word.data, word.size, ends[i]);
        if (status != TR_OK)
            return "invalid PROXY header: invalid address";
    }
    tr_bytes source = next_word(&line);
    /*
     * The second port is the rest of the line. A space behind the port is a part of that rest, and
     * so an error.
     */
    if (!read_port(source, &proxy->source.port) || !read_port(line, &proxy->destination.port))
        return "invalid PROXY header: invalid port";
    return NULL;
}

/* Reads the text between "PROXY " and CR LF. Returns NULL, or an error text. */
static const char *read_line(tr_bytes line, struct proxy *proxy)
{
    if (line.size && memchr(line.data, '\r', line.size))
        return "invalid PROXY header: CR inside the line";
    tr_bytes protocol = next_word(&line);
    if (is_word(protocol, "TCP4"))
        return read_line_addresses(line, false, proxy);
    if (is_word(protocol, "TCP6"))
        return read_line_addresses(line, true, proxy);
    /* The rest of the line after UNKNOWN is ignored, as the protocol requires. */
    return is_word(protocol, "UNKNOWN") ? NULL : "invalid PROXY header: unknown protocol";
}

/* Returns the size of the header, or 0 if it is incomplete. Sets proxy->text if it is invalid. */
static size_t read_version_1(tr_bytes bytes, struct proxy *proxy)
{
    const char *begin = bytes.data;
    size_t looked_at = bytes.size < LINE_HEADER_MAX ? bytes.size : LINE_HEADER_MAX;
    const char *end = memchr(begin, '\n', looked_at);
    if (!end) {
        if (looked_at == LINE_HEADER_MAX)
            proxy->text = "invalid PROXY header: no line end in 107 bytes";
        return 0;
    }
    size_t start = sizeof line_start - 1;
    size_t size = (size_t)(end - begin) + 1;
    const char *wrong = "invalid PROXY header: LF without CR";
    if (end[-1] == '\r')
        wrong = read_line((tr_bytes){begin + start, size - start - 2}, proxy);
    if (wrong)
        proxy->text = wrong;
    return size;
}

/* ---- Version 2: binary. ---- */

static size_t read_16(const unsigned char *at)
{
    return (size_t)at[0] << 8 | at[1];
}

/*
 * Returns the CRC-32C (Castagnoli) of the bytes. Computes it bit by bit, because a header is short.
 * The four bytes at `hole` count as zeros.
 */
static uint32_t checksum(const unsigned char *data, size_t size, size_t hole)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        sum ^= i >= hole && i < hole + 4 ? 0 : data[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    return ~sum;
}

/* Checks the extra fields behind the addresses: their lengths must fit, and a checksum must match.
 * Other fields are ignored. */
static const char *check_extras(const unsigned char *header, size_t at, size_t size)
{
    bool has_checksum = false;
    while (at < size) {
        if (size - at < EXTRA_HEAD || size - at - EXTRA_HEAD < read_16(header + at + 1))
            return "invalid PROXY header: a value is longer than the header";
        size_t length = read_16(header + at + 1);
        size_t value = at + EXTRA_HEAD;
        if (header[at] == EXTRA_CHECKSUM) {
            if (length != 4 || has_checksum)
                return "invalid PROXY header: invalid checksum";
            uint32_t given =
                (uint32_t)(read_16(header + value) << 16 | read_16(header + value + 2));
            if (checksum(header, size, value) != given)
                return "invalid PROXY header: wrong checksum";
            has_checksum = true;
        }
        at = value + length;
    }
    return NULL;
}

/* Reads two hosts of `size` bytes, then two ports. */
static void read_block(const unsigned char *block, tr_family family, size_t size,
                       struct proxy *proxy)
{
    proxy->source =
        (tr_address){.family = (uint16_t)family, .port = (uint16_t)read_16(block + 2 * size)};
    proxy->destination =
        (tr_address){.family = (uint16_t)family, .port = (uint16_t)read_16(block + 2 * size + 2)};
    memcpy(proxy->source.host, block, size);
    memcpy(proxy->destination.host, block + size, size);
}

/* Reads a complete header whose command is PROXY. Returns NULL, or an error text. */
static const char *read_binary_addresses(const unsigned char *header, size_t size,
                                         struct proxy *proxy)
{
    const unsigned char *block = header + BINARY_HEAD;
    size_t left = size - BINARY_HEAD;
    switch (header[13]) {
    case 0x00: /* the protocol is unspecified: the rest of the header is ignored */
        return NULL;
    case 0x11: /* TCP, UDP */
    case 0x12:
        if (left < V4_BLOCK)
            break;
        read_block(block, TR_FAMILY_V4, 4, proxy);
        return check_extras(header, BINARY_HEAD + V4_BLOCK, size);
    case 0x21:
    case 0x22:
        if (left < V6_BLOCK)
            break;
        read_block(block, TR_FAMILY_V6, 16, proxy);
        return check_extras(header, BINARY_HEAD + V6_BLOCK, size);
    case 0x31: /* UNIX */
    case 0x32:
        if (left < UNIX_BLOCK)
            break;
        proxy->source = proxy->destination = (tr_address){.family = TR_FAMILY_UNIX};
        return check_extras(header, BINARY_HEAD + UNIX_BLOCK, size);
    default:
        return "invalid PROXY header: unknown family";
    }
    return "invalid PROXY header: too short for its addresses";
}

static size_t read_version_2(tr_bytes bytes, struct proxy *proxy, tr_status *status)
{
    const unsigned char *header = bytes.data;
    if (bytes.size > 12 && header[12] >> 4 != 2)
        proxy->text = "invalid PROXY header: unknown version";
    else if (bytes.size > 12 && (header[12] & 0xf) > 1)
        proxy->text = "invalid PROXY header: unknown command";
    if (*proxy->text || bytes.size < BINARY_HEAD)
        return 0;
    size_t left = read_16(header + 14);
    if (left > TR_PROXY_HEADER_MAX) {
        proxy->text = "PROXY header too large: more than 4096 bytes";
        *status = TR_TOO_LARGE;
        return 0;
    }
    size_t size = BINARY_HEAD + left;
    if (bytes.size < size)
        return 0;
    const char *wrong = NULL;
    if (header[12] == 0x21) /* for the other command, LOCAL, the rest of the header is ignored */
        wrong = read_binary_addresses(header, size, proxy);
    if (wrong)
        proxy->text = wrong;
    return size;
}

/* ---- The filter. ---- */

static bool starts_as(tr_bytes bytes, const void *start, size_t size)
{
    return memcmp(bytes.data, start, bytes.size < size ? bytes.size : size) == 0;
}

/* Reads the header at the beginning of `bytes` into *proxy. Sets *size to its size, or to 0 while
 * it is incomplete. */
static tr_status read_header(tr_bytes bytes, struct proxy *proxy, size_t *size)
{
    tr_status status = TR_BAD_DATA;
    *size = 0;
    if (starts_as(bytes, line_start, sizeof line_start - 1)) {
        if (bytes.size >= sizeof line_start - 1)
            *size = read_version_1(bytes, proxy);
    } else if (starts_as(bytes, binary_start, sizeof binary_start)) {
        *size = read_version_2(bytes, proxy, &status);
    } else {
        proxy->text = "invalid PROXY header: no header at all";
    }
    return *proxy->text ? status : TR_OK;
}

static tr_status pass(tr_bytes bytes, size_t *taken, struct net_buffer *in)
{
    tr_status status = tr__net_buffer_append(in, bytes.data, bytes.size);
    if (status == TR_OK)
        *taken = bytes.size;
    return status;
}

static tr_status on_inbound(void *state, tr_bytes bytes, size_t *taken, struct net_buffer *in,
                            struct net_buffer *out)
{
    struct proxy *proxy = state;
    (void)out;
    *taken = 0;
    if (proxy->has_header)
        return pass(bytes, taken, in);
    if (bytes.size == 0)
        return TR_OK;
    proxy->has_begun = true;
    struct proxy read = *proxy;
    size_t size;
    tr_status status = read_header(bytes, &read, &size);
    if (status != TR_OK) {
        proxy->text = read.text;
        return status;
    }
    if (size == 0)
        return TR_OK;
    TR_ASSERT(size <= bytes.size);
    status = pass((tr_bytes){(const char *)bytes.data + size, bytes.size - size}, taken, in);
    if (status != TR_OK)
        return status;
    *taken = bytes.size;
    read.has_header = true;
    *proxy = read;
    return TR_OK;
}

static tr_status on_begin(void *state, struct net_buffer *out)
{
    (void)state;
    (void)out;
    return TR_OK;
}

static tr_status on_outbound(void *state, tr_bytes bytes, struct net_buffer *out)
{
    (void)state;
    return tr__net_buffer_append(out, bytes.data, bytes.size);
}

/*
 * An end of the input before the first byte is in order: some balancers connect and close to check
 * whether the server lives.
 */
static tr_status on_input_end(void *state)
{
    const struct proxy *proxy = state;
    return proxy->has_header || !proxy->has_begun ? TR_CLOSED : TR_RESET;
}

static bool is_open(const void *state)
{
    return ((const struct proxy *)state)->has_header;
}

static const char *text_of(const void *state)
{
    return ((const struct proxy *)state)->text;
}

static void free_proxy(void *state)
{
    struct proxy *proxy = state;
    if (proxy)
        source_resize(proxy->memory, proxy, 0);
}

const struct filter tr__proxy_filter = {.name = "proxy",
                                        .begin = on_begin,
                                        .inbound = on_inbound,
                                        .outbound = on_outbound,
                                        .finish = on_begin,
                                        .input_end = on_input_end,
                                        .is_open = is_open,
                                        .text = text_of,
                                        .free = free_proxy};

struct proxy *tr__proxy_new(const struct memory_source *source)
{
    struct proxy *proxy = source_resize(source, NULL, sizeof *proxy);
    if (proxy)
        *proxy = (struct proxy){.memory = source, .text = ""};
    return proxy;
}
