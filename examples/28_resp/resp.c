/* SPDX-License-Identifier: Apache-2.0 */
#include "resp.h"

#include <string.h>

enum { NUMBER_MAX = 20 }; /* characters: "-9223372036854775808" */

static enum resp_status broken(struct resp_command *command, const char *error)
{
    command->error = error;
    return RESP_BROKEN;
}

bool resp_number(tr_bytes word, int64_t *number)
{
    const char *text = word.data;
    bool is_negative = word.size > 0 && text[0] == '-';
    size_t first = is_negative;
    uint64_t limit = (uint64_t)INT64_MAX + is_negative;
    uint64_t value = 0;
    if (word.size == first || word.size > NUMBER_MAX ||
        (text[first] == '0' && (word.size > first + 1 || is_negative)))
        return false;
    for (size_t i = first; i < word.size; i++) {
        uint64_t digit = (uint64_t)text[i] - '0';
        if (text[i] < '0' || text[i] > '9' || value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* ---- What clients send. ---- */

/* Reads "*12\r\n" or "$12\r\n" at *at, without its first character, and moves *at behind it. */
static enum resp_status read_count(const char **at, const char *end, int64_t max, int64_t *count)
{
    /* Nearly all counts have few digits. */
    const char *digit = *at;
    int64_t few = 0;
    for (; digit < end && digit - *at < 8 && *digit >= '0' && *digit <= '9'; digit++)
        few = few * 10 + (*digit - '0');
    bool is_plain = digit > *at && (**at != '0' || digit == *at + 1) && few <= max;
    if (is_plain && end - digit >= 2 && digit[0] == '\r' && digit[1] == '\n') {
        *count = few;
        *at = digit + 2;
        return RESP_COMPLETE;
    }
    size_t left = (size_t)(end - *at);
    size_t looked_at = left < NUMBER_MAX + 2 ? left : NUMBER_MAX + 2;
    const char *line_end = memchr(*at, '\n', looked_at);
    if (!line_end)
        return looked_at < NUMBER_MAX + 2 ? RESP_INCOMPLETE : RESP_BROKEN;
    if (line_end == *at || line_end[-1] != '\r' ||
        !resp_number((tr_bytes){*at, (size_t)(line_end - 1 - *at)}, count) || *count > max)
        return RESP_BROKEN;
    *at = line_end + 1;
    return RESP_COMPLETE;
}

/* Reads "$5\r\ncolor\r\n" at *at, and moves *at behind it. */
static enum resp_status read_word(const char **at, const char *end, struct resp_command *command)
{
    int64_t size;
    if (*at == end)
        return RESP_INCOMPLETE;
    if (**at != '$')
        return broken(command, "expected '$'");
    ++*at;
    enum resp_status status = read_count(at, end, RESP_WORD_MAX, &size);
    if (status == RESP_BROKEN || (status == RESP_COMPLETE && size < 0))
        return broken(command, "invalid bulk length");
    if (status == RESP_INCOMPLETE || end - *at < size + 2)
        return RESP_INCOMPLETE;
    if (memcmp(*at + size, "\r\n", 2) != 0)
        return broken(command, "expected CR LF behind a bulk");
    command->words[command->count++] = (tr_bytes){*at, (size_t)size};
    *at += size + 2;
    return RESP_COMPLETE;
}

static enum resp_status parse_array(const char *begin, const char *end,
                                    struct resp_command *command)
{
    const char *at = begin + 1;
    int64_t count;
    enum resp_status status = read_count(&at, end, RESP_WORDS_MAX, &count);
    if (status == RESP_BROKEN)
        return broken(command, "invalid multibulk length");
    for (int64_t i = 0; status == RESP_COMPLETE && i < count; i++)
        status = read_word(&at, end, command);
    command->size = (size_t)(at - begin);
    return status;
}

/* ---- What people type: words with spaces between them. ---- */

static enum resp_status parse_line(const char *begin, const char *end, struct resp_command *command)
{
    size_t left = (size_t)(end - begin);
    const char *line_end = memchr(begin, '\n', left < RESP_LINE_MAX ? left : RESP_LINE_MAX);
    if (!line_end)
        return left < RESP_LINE_MAX ? RESP_INCOMPLETE : broken(command, "too big inline request");
    command->size = (size_t)(line_end - begin) + 1;
    for (const char *at = begin; at < line_end; at++) {
        const char *word = at;
        while (at < line_end && *at != ' ' && *at != '\t' && *at != '\r')
            at++;
        if (at == word)
            continue;
        if (command->count == RESP_WORDS_MAX)
            return broken(command, "too many words");
        command->words[command->count++] = (tr_bytes){word, (size_t)(at - word)};
    }
    return RESP_COMPLETE;
}

enum resp_status resp_parse(tr_bytes bytes, struct resp_command *command)
{
    const char *begin = bytes.data;
    command->size = command->count = 0;
    command->error = NULL;
    if (bytes.size == 0)
        return RESP_INCOMPLETE;
    if (begin[0] == '*')
        return parse_array(begin, begin + bytes.size, command);
    return parse_line(begin, begin + bytes.size, command);
}

/* ---- Patterns. ---- */

/* Matches one character against what the pattern has at *at, and moves *at behind that. */
static bool matches_one(const unsigned char **at, const unsigned char *end, unsigned char c)
{
    const unsigned char *pattern = *at;
    unsigned char first = *pattern++;
    if (first == '\\' && pattern < end)
        first = *pattern++;
    else if (first == '[') {
        bool is_negated = pattern < end && *pattern == '^';
        bool is_in = false;
        for (pattern += is_negated; pattern < end && *pattern != ']'; pattern++) {
            if (*pattern == '\\' && end - pattern >= 2)
                pattern++;
            unsigned char low = *pattern;
            unsigned char high = low;
            if (end - pattern >= 3 && pattern[1] == '-') {
                high = pattern[2];
                pattern += 2;
            }
            is_in |= (c >= low && c <= high) || (c >= high && c <= low);
        }
        *at = pattern + (pattern < end); /* a class without its end goes up to the end */
        return is_in != is_negated;
    } else if (first == '?') {
        first = c;
    }
    *at = pattern;
    return first == c;
}

bool resp_matches(tr_bytes pattern, tr_bytes text)
{
    const unsigned char *at = pattern.data;
    const unsigned char *end = pattern.size ? at + pattern.size : at;
    const unsigned char *c = text.data;
    const unsigned char *text_end = text.size ? c + text.size : c;
    /* Where to continue when nothing fits: behind the last star, one character later each time. */
    const unsigned char *after_star = NULL;
    const unsigned char *retry = NULL;
    while (c < text_end) {
        if (at < end && *at == '*') {
            after_star = ++at;
            retry = c;
        } else if (at < end && matches_one(&at, end, *c)) {
            c++;
        } else if (after_star) {
            at = after_star;
            c = ++retry;
        } else {
            return false;
        }
    }
    while (at < end && *at == '*')
        at++;
    return at == end;
}
