/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/page.h"

#include <stdio.h>
#include <string.h>

/* Copies the name of a page for lines of the log. Replaces bytes that could control a terminal or
 * begin a new line by "?". */
static void via_copy(char to[VISITOR_VIA_MAX], const char *from)
{
    (void)snprintf(to, VISITOR_VIA_MAX, "%s", from);
    for (char *at = to; *at; at++) {
        if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
            *at = '?';
    }
}

void tr__verb_session(struct visitor *visitor, const struct control_request *request)
{
    struct observer *observer = visitor->observer;
    if (!visitor->is_page && observer->page_count == OBSERVER_PAGES) {
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_LIMIT,
                           "%d pages of inspectors are open, which is the most; close one",
                           OBSERVER_PAGES);
        return;
    }
    observer->page_count += !visitor->is_page;
    visitor->is_page = true;
    visitor->reads_only |= request->reads_only;
    if (!visitor->via[0])
        via_copy(visitor->via, request->text && *request->text ? request->text : "a page");
    tr__visitor_begin(visitor, request->id, false);
    tr__json_bool(&visitor->output, "reads_only", visitor->reads_only);
    tr__json_unsigned(&visitor->output, "pages", observer->page_count);
    tr__json_unsigned(&visitor->output, "pages_max", OBSERVER_PAGES);
    tr__visitor_end(visitor);
}

bool tr__page_may(struct visitor *visitor, struct control_request *request, const struct verb *verb)
{
    const char *why = NULL;
    if (!visitor->is_page)
        return true;
    if (request->secrets)
        why =
            "values of secret fields are not for a page; troupe durable export --secrets has them";
    else if (visitor->reads_only && (verb->changes || request->writes))
        why = "this inspector only reads; --inspect-allow of the program, or --allow of troupe "
              "inspect, lets it change something";
    if (why)
        tr__visitor_refuse(visitor, request->id, TR_NOT_PERMITTED, "%s", why);
    else if (visitor->reads_only)
        request->may = false; /* a verb must not take this flag for a permission */
    return !why;
}

void tr__page_leave(struct visitor *visitor)
{
    visitor->observer->page_count -= visitor->is_page;
    visitor->is_page = false;
}
