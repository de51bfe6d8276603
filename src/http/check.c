/* SPDX-License-Identifier: Apache-2.0 */
#include "http/check.h"

#include <string.h>

/* clang-format off */
const unsigned char tr__http_token[256] = {
    ['!'] = '!', ['#'] = '#', ['$'] = '$', ['%'] = '%', ['&'] = '&', ['\''] = '\'', ['*'] = '*', ['+'] = '+',
    ['-'] = '-', ['.'] = '.', ['^'] = '^', ['_'] = '_', ['`'] = '`', ['|'] = '|', ['~'] = '~',
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '6', ['7'] = '7',
    ['8'] = '8', ['9'] = '9',
    ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd', ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h',
    ['I'] = 'i', ['J'] = 'j', ['K'] = 'k', ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p',
    ['Q'] = 'q', ['R'] = 'r', ['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x',
    ['Y'] = 'y', ['Z'] = 'z',
    ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd', ['e'] = 'e', ['f'] = 'f', ['g'] = 'g', ['h'] = 'h',
    ['i'] = 'i', ['j'] = 'j', ['k'] = 'k', ['l'] = 'l', ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p',
    ['q'] = 'q', ['r'] = 'r', ['s'] = 's', ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x',
    ['y'] = 'y', ['z'] = 'z',
};
/* clang-format on */

static int head_refuse(struct http_head *head, int status, const char *why)
{
    head->why = why;
    return status;
}

/* Bits that say in which parts of a request a byte may be. */
enum { IN_TARGET = 1, IN_HOST = 2 };

/* clang-format off */
static const unsigned char classes[256] = {
    /* Values are sums of the bits above. IN_TARGET: RFC 3986, 3.3 and 3.4, path and query, without
     * '%'. IN_HOST: RFC 3986, 3.2.2, without brackets, which are checked elsewhere. */
    ['-'] = 3, ['.'] = 3, ['_'] = 3, ['~'] = 3, ['!'] = 3, ['$'] = 3, ['&'] = 3, ['\''] = 3, ['('] = 3, [')'] = 3,
    ['*'] = 3, ['+'] = 3, [','] = 1, [';'] = 3, ['='] = 3, [':'] = 1, ['@'] = 1, ['/'] = 1, ['?'] = 1, ['%'] = 2,
    ['0'] = 3, ['1'] = 3, ['2'] = 3, ['3'] = 3, ['4'] = 3, ['5'] = 3, ['6'] = 3, ['7'] = 3, ['8'] = 3, ['9'] = 3,
    ['A'] = 3, ['B'] = 3, ['C'] = 3, ['D'] = 3, ['E'] = 3, ['F'] = 3, ['G'] = 3, ['H'] = 3, ['I'] = 3, ['J'] = 3,
    ['K'] = 3, ['L'] = 3, ['M'] = 3, ['N'] = 3, ['O'] = 3, ['P'] = 3, ['Q'] = 3, ['R'] = 3, ['S'] = 3, ['T'] = 3,
    ['U'] = 3, ['V'] = 3, ['W'] = 3, ['X'] = 3, ['Y'] = 3, ['Z'] = 3,
    ['a'] = 3, ['b'] = 3, ['c'] = 3, ['d'] = 3, ['e'] = 3, ['f'] = 3, ['g'] = 3, ['h'] = 3, ['i'] = 3, ['j'] = 3,
    ['k'] = 3, ['l'] = 3, ['m'] = 3, ['n'] = 3, ['o'] = 3, ['p'] = 3, ['q'] = 3, ['r'] = 3, ['s'] = 3, ['t'] = 3,
    ['u'] = 3, ['v'] = 3, ['w'] = 3, ['x'] = 3, ['y'] = 3, ['z'] = 3,
};
/* clang-format on */

static bool is_in(char c, int class)
{
    return classes[(unsigned char)c] & class;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* ---- The first line. ---- */

static enum http_method method_of(const char *method, size_t size)
{
    static const struct {
        const char *name;
        enum http_method id;
    } methods[] = {{"GET", METHOD_GET},
                   {"HEAD", METHOD_HEAD},
                   {"POST", METHOD_POST},
                   {"PUT", METHOD_PUT},
                   {"PATCH", METHOD_PATCH},
                   {"DELETE", METHOD_DELETE},
                   {"OPTIONS", METHOD_OPTIONS}};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (strlen(methods[i].name) == size && memcmp(methods[i].name, method, size) == 0)
            return methods[i].id;
    }
    return METHOD_OTHER;
}

/*
 * RFC 9112, 2.3: "HTTP/" DIGIT "." DIGIT, in upper case only. A minor version above 1 counts as
 * version 1.1.
 */
static int check_version(const char *version, size_t size, struct http_head *head)
{
    if (size != 8 || memcmp(version, "HTTP/", 5) != 0 || !is_digit(version[5]) ||
        version[6] != '.' || !is_digit(version[7]))
        return head_refuse(head, 400, "the version is malformed");
    if (version[5] != '1')
        return head_refuse(head, 505, "only HTTP/1.1 and HTTP/1.0 are served here");
    head->is_http_10 = version[7] == '0';
    return 0;
}

static bool is_host(const char *host, size_t size)
{
    size_t i = 0;
    if (size && host[0] == '[') {
        const char *end = memchr(host, ']', size);
        if (!end)
            return false;
        for (i = 1; host + i < end; i++) {
            if (!is_hex(host[i]) && host[i] != ':' && host[i] != '.')
                return false;
        }
        i++;
    } else {
        while (i < size && is_in(host[i], IN_HOST))
            i++;
    }
    if (!i)
        return false;
    if (i == size)
        return true;
    if (host[i++] != ':' || size - i > 5)
        return false;
    while (i < size && is_digit(host[i]))
        i++;
    return i == size;
}

/* Divides a target into path and query. The target begins with '/' or '?', or is empty. */
static int cut_path(char *at, struct http_head *head)
{
    static char root[] = "/";
    char *query = strchr(at, '?');
    head->path = *at == '/' ? at : root;
    head->path_size = *at == '/' ? (query ? (size_t)(query - at) : strlen(at)) : 1;
    head->query = query ? query + 1 : NULL;
    return 0;
}

static int check_target(char *target, size_t size, struct http_head *head)
{
    for (size_t i = 0; i < size; i++) {
        char c = target[i];
        if (c == '%' && i + 2 < size && is_hex(target[i + 1]) && is_hex(target[i + 2]))
            continue;
        if (!is_in(c, IN_TARGET))
            return head_refuse(head, 400, "the target has a character that must be escaped");
    }
    target[size] = '\0'; /* this overwrites the space before the version */
    head->target = target;
    if (size == 1 && target[0] == '*') {
        head->is_asterisk = true;
        if (head->method_id != METHOD_OPTIONS)
            return head_refuse(head, 400, "the target * is for OPTIONS only");
        return cut_path(target + 1, head);
    }
    if (target[0] == '/')
        return cut_path(target, head);
    bool is_plain = strncasecmp(target, "http://", 7) == 0;
    if (!is_plain && strncasecmp(target, "https://", 8) != 0)
        return head_refuse(head, 400, "the target is neither a path nor an absolute URI");
    char *host = target + (is_plain ? 7 : 8);
    size_t length = strcspn(host, "/?");
    if (!is_host(host, length))
        return head_refuse(head, 400, "the target has an invalid host");
    cut_path(host + length, head);
    head->host = host;
    head->host_size = length;
    return 0;
}

int tr__http_check_line(char *line, size_t size, struct http_head *head)
{
    size_t method = 0;
    while (method < size && tr__http_token[(unsigned char)line[method]])
        method++;
    if (!method || method == size || line[method] != ' ')
        return head_refuse(head, 400, "the first line does not begin with a method and a space");
    const char *space = memrchr(line, ' ', size);
    char *target = line + method + 1;
    if (space < target)
        return head_refuse(head, 400, "the first line has no version");
    if (space == target)
        return head_refuse(head, 400, "the first line has no target");
    if (memchr(target, ' ', (size_t)(space - target)))
        return head_refuse(head, 400, "the first line has more than two spaces");
    head->method_id = method_of(line, method);
    line[method] = '\0';
    head->method = line;
    int status = check_version(space + 1, (size_t)(line + size - space - 1), head);
    if (status)
        return status;
    if (head->method_id == METHOD_OTHER &&
        (strcmp(line, "CONNECT") == 0 || strcmp(line, "TRACE") == 0))
        return head_refuse(head, 501, "the method is not known here");
    return check_target(target, (size_t)(space - target), head);
}

/* ---- Fields. ---- */

/*
 * Reads a length (RFC 9112, 6.2): digits without a sign and without leading zeros. Returns -1 if
 * the text is no such number.
 */
static int64_t length_of(const char *value)
{
    int64_t length = 0;
    size_t size = strlen(value);
    if (!size || size > 18 || (size > 1 && value[0] == '0'))
        return -1;
    for (size_t i = 0; i < size; i++) {
        if (!is_digit(value[i]))
            return -1;
        length = length * 10 + (value[i] - '0');
    }
    return length;
}

static int take_length(const char *value, bool is_odd, struct http_head *head)
{
    if (head->length >= 0)
        return head_refuse(head, 400, "there are two fields Content-Length");
    head->length = length_of(value);
    if (head->length < 0)
        return head_refuse(head, 400, "Content-Length is not a number");
    if (is_odd)
        /* a proxy may have understood another length, so do not reuse the connection */
        head->keeps = false;
    return 0;
}

/* Takes the field Transfer-Encoding (RFC 9112, 6.1). It must have exactly one coding, "chunked";
 * other codings are not supported. */
static int take_coding(const char *value, struct http_head *head)
{
    if (head->has_coding)
        return head_refuse(head, 400, "there are two fields Transfer-Encoding");
    head->has_coding = true;
    if (strcasecmp(value, "chunked") == 0) {
        head->is_chunked = true;
        return 0;
    }
    size_t size = strlen(value);
    size_t name = 0;
    while (name < size && tr__http_token[(unsigned char)value[name]])
        name++;
    bool is_one = size && name == size;
    bool ends_well = size > 9 && strcasecmp(value + size - 9, ", chunked") == 0;
    head->is_unknown = is_one || (ends_well && name && !strcasestr(value, "chunked,"));
    if (head->is_unknown)
        return 0;
    return head_refuse(head, 400, "Transfer-Encoding is ambiguous");
}

/* Whether a list such as "keep-alive, Upgrade" contains this word. */
static bool has_word(const char *list, const char *word)
{
    size_t size = strlen(word);
    while (*list) {
        list += strspn(list, " \t,");
        size_t length = strcspn(list, " \t,");
        if (length == size && strncasecmp(list, word, size) == 0)
            return true;
        list += length;
    }
    return false;
}

/*
 * Notes a field that says where the message ends or what happens to the connection. `is_odd`: there
 * is more than one space, or a tab, before the value, or there is space after it.
 */
static int take_field(const struct tr_http_field *field, bool is_odd, struct http_head *head)
{
    const char *name = field->name;
    const char *value = field->value;
    switch (name[0]) {
    case 'h':
        if (strcmp(name, "host") != 0)
            return 0;
        for (uint32_t i = 0; i + 1 < head->field_count; i++) {
            if (strcmp(head->fields[i].name, "host") == 0)
                return head_refuse(head, 400, "there are two fields Host");
        }
        return is_host(value, strlen(value)) ? 0 : head_refuse(head, 400, "Host is malformed");
    case 'c':
        if (strcmp(name, "content-length") == 0)
            return take_length(value, is_odd, head);
        if (strcmp(name, "connection") == 0) {
            if (has_word(value, "close"))
                head->keeps = false;
            else if (head->is_http_10 && has_word(value, "keep-alive"))
                head->keeps = true;
        }
        return 0;
    case 't':
        return strcmp(name, "transfer-encoding") == 0 ? take_coding(value, head) : 0;
    case 'e':
        if (strcmp(name, "expect") != 0)
            return 0;
        if (strcasecmp(value, "100-continue") != 0)
            return head_refuse(head, 417, "only 100-continue can be expected");
        head->expects = !head->is_http_10; /* RFC 9110, 10.1.1: Expect is ignored in HTTP/1.0 */
        return 0;
    default:
        return 0;
    }
}

int tr__http_check_field(char *line, size_t size, struct http_head *head)
{
    size_t name = 0;
    unsigned char lower;
    while (name < size && (lower = tr__http_token[(unsigned char)line[name]])) {
        line[name] = (char)lower;
        name++;
    }
    if (!name || name == size || line[name] != ':')
        return head_refuse(head, 400, "the name of a field is malformed");
    line[name] = '\0';
    char *value = line + name + 1;
    char *end = line + size;
    size_t before = 0;
    while (value < end && (*value == ' ' || *value == '\t')) {
        value++;
        before++;
    }
    bool is_odd = before > 1 || (before && value[-1] == '\t');
    while (end > value && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
        is_odd = true;
    }
    if (!http_value_is_clean(value, (size_t)(end - value)))
        return head_refuse(head, 400, "the value of a field has a control character");
    *end = '\0'; /* this ends the value; if no space follows the value, the NUL overwrites the CR */
    head->fields[head->field_count++] = (struct tr_http_field){line, value};
    return take_field(&head->fields[head->field_count - 1], is_odd, head);
}

int tr__http_check_whole(struct http_head *head)
{
    char *host = NULL;
    for (uint32_t i = 0; i < head->field_count && !host; i++) {
        if (strcmp(head->fields[i].name, "host") == 0)
            host = (char *)(uintptr_t)head->fields[i].value;
    }
    if (!host && !head->is_http_10)
        return head_refuse(head, 400, "there is no field Host");
    if (!head->host) { /* RFC 9112, 3.2.2: a host in the target replaces the field Host */
        head->host = host ? host : (char *)(uintptr_t) "";
        head->host_size = strlen(head->host);
    }
    if (head->has_coding && head->is_http_10)
        return head_refuse(head, 400, "HTTP/1.0 has no Transfer-Encoding");
    if (head->has_coding && head->length >= 0)
        return head_refuse(head, 400, "Content-Length stands beside Transfer-Encoding");
    if (head->is_unknown)
        return head_refuse(head, 501, "the transfer coding is not known here");
    bool has_body = head->is_chunked || head->length > 0;
    bool needs_none = head->method_id == METHOD_GET || head->method_id == METHOD_HEAD ||
                      head->method_id == METHOD_OPTIONS;
    /*
     * RFC 9110, 9.3.1: a proxy or another server may take the body of such a request for the next
     * request.
     */
    if (has_body && needs_none)
        head->keeps = false;
    return 0;
}
