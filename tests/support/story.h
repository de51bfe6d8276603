/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What happened, in order, as one line of words: actors of a test write it, the test compares it.
 *
 *     story_add("start %s", tr_name(self));
 *     ck_assert_str_eq(story_take(), "start a; stop a");
 *
 * One thread.
 */
#ifndef TROUPE_TESTS_SUPPORT_STORY_H
#define TROUPE_TESTS_SUPPORT_STORY_H

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct {
    char text[16384];
    char taken[16384];
    size_t length;
} story;

__attribute__((__format__(__printf__, 1, 2), __unused__)) static void story_add(const char *format,
                                                                                ...)
{
    va_list list;
    va_start(list, format);
    size_t room = sizeof story.text - story.length;
    int first = snprintf(story.text + story.length, room, "%s", story.length ? "; " : "");
    ck_assert_int_lt(first, (int)room);
    story.length += (size_t)first;
    room -= (size_t)first;
    int written = vsnprintf(story.text + story.length, room, format, list);
    va_end(list);
    ck_assert_int_lt(written, (int)room);
    story.length += (size_t)written;
}

/** The story so far; a new one begins. Valid until the next call. */
__attribute__((__unused__)) static const char *story_take(void)
{
    memcpy(story.taken, story.text, story.length + 1);
    story.length = 0;
    story.text[0] = '\0';
    return story.taken;
}

/** For tr_at_end and tr_defer: the resource is a text that is added to the trace. */
__attribute__((__unused__)) static void story_release(void *text)
{
    story_add("%s", (const char *)text);
}

#endif
