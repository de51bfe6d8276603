/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions of http/head.h in a build without llhttp. In such a build no endpoint of HTTP can
 * be made, so most functions are never called.
 */
#include "http/head.h"

bool tr__http_is_built(void)
{
    return false;
}

size_t tr__http_head_cut(tr_bytes bytes, size_t seen, size_t head_max, tr_bytes *head)
{
    (void)seen;
    (void)head_max;
    *head = bytes;
    return bytes.size;
}

int tr__http_head_parse(char *bytes, size_t size, const struct http_limits *limits,
                        struct http_head *head)
{
    (void)bytes;
    (void)size;
    (void)limits;
    *head = (struct http_head){.fields = head->fields, .length = -1, .why = "built without HTTP"};
    return 501;
}

tr_status tr__http_answer_parse(char *bytes, size_t size, const struct http_limits *limits,
                                struct http_answer_head *answer)
{
    (void)bytes;
    (void)size;
    (void)limits;
    answer->head.why = "built without HTTP";
    return TR_NOT_SUPPORTED;
}

size_t tr__http_answer_cut(tr_bytes bytes, size_t seen, size_t head_max, tr_bytes *head)
{
    return tr__http_head_cut(bytes, seen, head_max, head);
}
