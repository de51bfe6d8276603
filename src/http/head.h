/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The head of a request: its first line and its fields, cut from the input, checked and parsed in place.
 *
 * Parsing is a pure function over the bytes of one head. llhttp reads the head, and check.c refuses what llhttp lets
 * through. Nothing ambiguous is guessed: a head that two servers could read in two ways is 400, and its connection ends.
 * The bytes are changed: names get lower case, and a NUL stands behind each name and each value.
 */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

#include <troupe/http.h>

/** The limits of a head. */
struct http_limits {
    size_t head_max;
    uint32_t headers_max;
};

enum http_method {
    METHOD_OTHER,
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OPTIONS,
    METHOD_WEBSOCKET /* of a row alone: a GET that asks for the upgrade */
};

struct http_head {
    enum http_method method_id;
    char *method; /* all texts are in the bytes of the head, and end with a NUL */
    char *target; /* the target as it came */
    char *path;   /* inside `target`, or "/": it begins with '/' and is not decoded */
    size_t path_size;
    char *query; /* inside `target`, or NULL: what is behind '?', not decoded */
    char *host;  /* from the target, then without a NUL behind it; else from Host, or "" */
    size_t host_size;
    struct tr_http_field *fields; /* array of the caller with headers_max elements */
    uint32_t field_count;
    int64_t length; /* value of Content-Length; -1: there is none */
    bool is_chunked;
    bool has_coding; /* Transfer-Encoding is there */
    bool is_unknown; /* Transfer-Encoding names another coding than chunked */
    bool is_http_10;
    bool is_asterisk; /* the target is "*" */
    bool keeps;       /* the client wants the connection kept, and nothing in the head is odd */
    bool expects;     /* 100-continue */
    const char *why;  /* what is wrong, after a status that is not 0 */
};

/** Whether the library was built with llhttp. */
bool tr__http_is_built(void);

/**
 * Looks for the end of a head, as the `cut` of a tr_framing: the first `seen` bytes were looked at
 * before. Empty lines before the head are skipped. Returns the size with these lines, and in *head
 * the bytes to parse. 0: the head has not come yet. Bytes that cannot become a head, or that are
 * too many, are returned as they are; tr__http_head_parse refuses them.
 */
size_t tr__http_head_cut(tr_bytes bytes, size_t seen, size_t head_max, tr_bytes *head);

/**
 * Parses a head. Returns 0, or the status of the refusal: 400, 414, 417, 431, 501, 505. The caller has set head->fields.
 * Any thread.
 */
int tr__http_head_parse(char *bytes, size_t size, const struct http_limits *limits,
                        struct http_head *head);

/** The head of an answer, for a client. */
struct http_answer_head {
    int status; /* 100 to 599 */
    struct http_head
        head; /* the fields and what they mean for the body; no method, target or host */
};

/**
 * Parses the head of an answer, which was cut by tr__http_answer_cut. TR_OK; TR_BAD_DATA: it is malformed or can be read
 * in two ways; TR_TOO_LARGE: more than the limits. head.why says what is wrong. The caller has set head.fields. Any thread.
 */
TR_MUST_CHECK tr_status tr__http_answer_parse(char *bytes, size_t size,
                                              const struct http_limits *limits,
                                              struct http_answer_head *answer);
/** Does what tr__http_head_cut does, for the head of an answer, which must have no empty line before it. */
size_t tr__http_answer_cut(tr_bytes bytes, size_t seen, size_t head_max, tr_bytes *head);

#endif
