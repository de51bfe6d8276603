/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The head of a request: its first line and its fields. The functions below cut a head from the
 * input, check it, and parse it in place.
 *
 * Parsing is a pure function over the bytes of one head. llhttp reads the head, and check.c refuses
 * what is forbidden but passes llhttp. A head that two servers could understand differently is
 * refused with 400, and its connection ends. Parsing changes the bytes: names become lower case,
 * and each name and value gets a NUL behind it.
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
    /*
     * a GET that asks for the upgrade to WebSocket; only rows have this method, a head never has it
     */
    METHOD_WEBSOCKET
};

struct http_head {
    enum http_method method_id;
    /*
     * The texts `method` to `host` point into the bytes of the head, except where a text is said to be a constant.
     * `method`, `target` and `query` end with a NUL.
     */
    char *method;
    char *target; /* the target as it was received */
    /*
     * The path in `target`, not decoded. It begins with '/', and a '?' or a NUL is behind it. If the target has no
     * path: the constant "/".
     */
    char *path;
    size_t path_size;
    char *query; /* the part of `target` behind '?', not decoded; NULL: there is none */
    /*
     * The host in the target. '/', '?' or a NUL is behind it. If the target has no host: the value of the field Host,
     * or the constant "" if there is no such field. These two end with a NUL.
     */
    char *host;
    size_t host_size;
    struct tr_http_field *fields; /* array of the caller with headers_max elements */
    uint32_t field_count;
    int64_t length; /* value of Content-Length; -1: there is none */
    bool is_chunked;
    bool has_coding; /* the head has a field Transfer-Encoding */
    bool is_unknown; /* Transfer-Encoding names another coding than chunked */
    bool is_http_10;
    bool is_asterisk; /* the target was "*" */
    bool keeps; /* the client wants to keep the connection, and nothing in the head forbids that */
    bool expects;    /* 100-continue */
    const char *why; /* error text, if the head was refused */
};

/** Whether the library was built with llhttp. */
bool tr__http_is_built(void);

/**
 * Looks for the end of a head, as the `cut` of a tr_framing does. An earlier call has searched the
 * first `seen` bytes. Skips empty lines before the head. Returns the size of the head together with
 * these lines, and sets *head to the bytes to parse. Returns 0 if the end of the head has not come.
 * If the bytes cannot become a head, or are too many, returns the size of all bytes;
 * tr__http_head_parse will refuse them.
 */
size_t tr__http_head_cut(tr_bytes bytes, size_t seen, size_t head_max, tr_bytes *head);

/**
 * Parses a head. Returns 0, or the status of the refusal: 400, 414, 417, 431, 501, 505. The caller
 * must have set head->fields. Any thread.
 */
int tr__http_head_parse(char *bytes, size_t size, const struct http_limits *limits,
                        struct http_head *head);

/** The head of an answer, for a client. */
struct http_answer_head {
    int status; /* 100 to 599 */
    /* the fields, and what they mean for the body; method, target and host are not set */
    struct http_head head;
};

/**
 * Parses the head of an answer, which tr__http_answer_cut has found. TR_BAD_DATA: the head is
 * malformed or ambiguous. TR_TOO_LARGE: the head exceeds the limits. In both cases head.why is the
 * error text. The caller must have set head.fields. Any thread.
 */
TR_MUST_CHECK tr_status tr__http_answer_parse(char *bytes, size_t size,
                                              const struct http_limits *limits,
                                              struct http_answer_head *answer);
/**
 * Does what tr__http_head_cut does, for the head of an answer. No empty lines may be before such a
 * head.
 */
size_t tr__http_answer_cut(tr_bytes bytes, size_t seen, size_t head_max, tr_bytes *head);

#endif
