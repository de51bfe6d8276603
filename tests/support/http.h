/* SPDX-License-Identifier: Apache-2.0 */
/** For tests of HTTP on kits: requests as text, and answers without their Date. */
#ifndef TROUPE_TESTS_SUPPORT_HTTP_H
#define TROUPE_TESTS_SUPPORT_HTTP_H

#include "support/net.h"

#include <troupe/http.h>

/* The length that a header says is that of what follows, unless other answers or no body follow. */
static void http_check_length(const char *field)
{
    const char *body = strstr(field, "\r\n\r\n");
    ck_assert_ptr_nonnull(body);
    size_t size = strlen(body + 4);
    if (size && !strstr(body, "HTTP/1.1 "))
        ck_assert_uint_eq(size, strtoul(field + 16, NULL, 10));
}

/** Removes what is the same in each answer, or checked here: Date, the Content-Type of JSON, and Content-Length. */
KITS_UNUSED static const char *http_plain(const char *text)
{
    static char plain[1 << 16];
    char *to = plain;
    while (*text) {
        size_t line = strcspn(text, "\n");
        line += text[line] == '\n';
        bool is_left_out = strncmp(text, "Date: ", 6) == 0 ||
                           strncmp(text, "Content-Type: application/json", 30) == 0;
        if (strncmp(text, "Content-Length: ", 16) == 0) {
            http_check_length(text);
            is_left_out = true;
        }
        ck_assert_uint_lt((size_t)(to - plain) + line, sizeof plain);
        if (!is_left_out) {
            memcpy(to, text, line);
            to += line;
        }
        text += line;
    }
    *to = '\0';
    return plain;
}

/** What has come for a peer within a second is this, without what http_plain removes. */
#define HTTP_GETS(peer, text) HTTP_GETS_WITHIN(peer, TR_SECOND, text)
/** The same within another time. */
#define HTTP_GETS_WITHIN(peer, ns, text)                                                           \
    ck_assert_str_eq(http_plain(tr_kit_receive_text(peer, ns)), text)

/** Sends a request and compares the answer. */
#define HTTP_ASK(peer, request, answer)                                                            \
    do {                                                                                           \
        peer_send(peer, request);                                                                  \
        HTTP_GETS(peer, answer);                                                                   \
    } while (0)

/** The text of an answer with this body. */
#define HTTP_OK(body) "HTTP/1.1 200 OK\r\n\r\n" body

#endif
