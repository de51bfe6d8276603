/* SPDX-License-Identifier: Apache-2.0 */
/** Reads offers and answers of permessage-deflate. */
#include "http/ws_extension.h"

#include "http/cursor.h"

#include <string.h>

#define WINDOW_MIN 8 /* the smallest window that RFC 7692 allows, in bits (7.1.2) */
#define WINDOW_MAX 15
/* the smallest window that this side can use: zlib makes no raw stream with 8 bits */
#define WINDOW_OURS 9

/* The parameters of an extension that were seen: bits of extension.seen. */
enum {
    SERVER_NO_CONTEXT = 1,
    CLIENT_NO_CONTEXT = 2,
    SERVER_WINDOW = 4,
    CLIENT_WINDOW = 8,
};

/* One extension in the list of a header, with its parameters. */
struct extension {
    bool is_deflate;
    bool is_wrong; /* a parameter is unknown, is repeated, or has a wrong value */
    unsigned seen;
    unsigned server_bits; /* 0: without a value */
    unsigned client_bits;
};

struct word {
    const unsigned char *begin;
    size_t size;
};

/* Whether a byte is allowed in a token (RFC 9110 5.6.2). */
static bool is_token(unsigned char byte)
{
    unsigned char letter = byte | 0x20;
    if ((letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9'))
        return true;
    return byte != '\0' && strchr("!#$%&'*+-.^_`|~", byte) != NULL;
}

static bool read_token(struct cursor *in, struct word *word)
{
    word->begin = in->at;
    while (in->at < in->end && is_token(*in->at))
        in->at++;
    word->size = (size_t)(in->at - word->begin);
    return word->size > 0;
}

/*
 * Reads the value of a parameter: a token, or a token in quotes. RFC 6455, 9.1 allows nothing else
 * in quotes.
 */
static bool read_value(struct cursor *in, struct word *word)
{
    if (in->at < in->end && *in->at == '"') {
        in->at++;
        return read_token(in, word) && in->at < in->end && *in->at++ == '"';
    }
    return read_token(in, word);
}

static bool is_word(const struct word *word, const char *text)
{
    return word->size == strlen(text) && memcmp(word->begin, text, word->size) == 0;
}

/* Returns the number of window bits that a value names, 8 to 15; 0 if it names no such number. */
static unsigned window_of(const struct word *word)
{
    unsigned bits = 0;
    if (word->size == 0 || word->size > 2 || word->begin[0] == '0')
        return 0;
    for (size_t i = 0; i < word->size; i++) {
        if (word->begin[i] < '0' || word->begin[i] > '9')
            return 0;
        bits = bits * 10 + (word->begin[i] - '0');
    }
    return bits >= WINDOW_MIN && bits <= WINDOW_MAX ? bits : 0;
}

static void take_parameter(struct extension *extension, const struct word *name, bool has_value,
                           const struct word *value)
{
    unsigned bit = is_word(name, "server_no_context_takeover")   ? SERVER_NO_CONTEXT
                   : is_word(name, "client_no_context_takeover") ? CLIENT_NO_CONTEXT
                   : is_word(name, "server_max_window_bits")     ? SERVER_WINDOW
                   : is_word(name, "client_max_window_bits")     ? CLIENT_WINDOW
                                                                 : 0;
    unsigned bits = has_value ? window_of(value) : 0;
    bool is_window = bit == SERVER_WINDOW || bit == CLIENT_WINDOW;
    if (bit == 0 || (extension->seen & bit) || has_value != (bits > 0) || (has_value && !is_window))
        extension->is_wrong = true;
    extension->seen |= bit;
    if (bit == SERVER_WINDOW)
        extension->server_bits = bits;
    if (bit == CLIENT_WINDOW)
        extension->client_bits = bits;
}

/* Reads one extension with its parameters. Returns false if it is malformed. */
static bool read_extension(struct cursor *in, struct extension *extension)
{
    struct word name;
    *extension = (struct extension){0};
    if (!read_token(in, &name))
        return false;
    extension->is_deflate = is_word(&name, "permessage-deflate");
    while (cursor_pass(in, ';')) {
        struct word value = {0};
        if (!read_token(in, &name))
            return false;
        bool has_value = cursor_pass(in, '=');
        if (has_value && !read_value(in, &value))
            return false;
        take_parameter(extension, &name, has_value, &value);
    }
    return true;
}

/* Whether this server can accept this offer of a client. */
static bool is_offer_kept(const struct extension *offer)
{
    if (!offer->is_deflate || offer->is_wrong)
        return false;
    return !(offer->seen & SERVER_WINDOW) || offer->server_bits >= WINDOW_OURS;
}

static struct ws_deflate take_offer(const struct extension *offer, char *answer)
{
    struct ws_deflate agreed = {.is_agreed = true, .bits = WINDOW_MAX};
    strcpy(answer, "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
    if (offer->seen & SERVER_WINDOW) {
        agreed.bits = (unsigned char)offer->server_bits;
        char *at = answer + strlen(answer);
        strcpy(at, "; server_max_window_bits=");
        at += strlen(at);
        if (agreed.bits > 9)
            *at++ = '1';
        *at++ = (char)('0' + agreed.bits % 10);
        *at = '\0';
    }
    return agreed;
}

struct ws_deflate tr__ws_deflate_answer(tr_bytes offers, char answer[WS_DEFLATE_ANSWER_MAX])
{
    struct extension taken = {0};
    bool is_taken = false;
    *answer = '\0';
    if (offers.size == 0)
        return (struct ws_deflate){0};
    struct cursor in = {offers.data, (const unsigned char *)offers.data + offers.size};
    /* Read the whole list first: if any part of it is malformed, all of it is ignored. */
    cursor_skip_space(&in);
    do {
        struct extension offer;
        if (!read_extension(&in, &offer))
            return (struct ws_deflate){0};
        if (!is_taken && is_offer_kept(&offer)) {
            taken = offer;
            is_taken = true;
        }
    } while (cursor_pass(&in, ','));
    if (!is_taken || in.at != in.end)
        return (struct ws_deflate){0};
    return take_offer(&taken, answer);
}

bool tr__ws_deflate_accepted(tr_bytes answer, struct ws_deflate *agreed)
{
    struct extension extension;
    *agreed = (struct ws_deflate){0};
    if (answer.size == 0)
        return true;
    struct cursor in = {answer.data, (const unsigned char *)answer.data + answer.size};
    cursor_skip_space(&in);
    if (!read_extension(&in, &extension))
        return false;
    cursor_skip_space(&in);
    if (in.at != in.end || !extension.is_deflate || extension.is_wrong)
        return false;
    if (!(extension.seen & SERVER_NO_CONTEXT) || (extension.seen & CLIENT_WINDOW))
        return false;
    if ((extension.seen & SERVER_WINDOW) && extension.server_bits == 0)
        return false;
    *agreed = (struct ws_deflate){.is_agreed = true, .bits = WINDOW_MAX};
    return true;
}
