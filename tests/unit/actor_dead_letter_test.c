/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The log of dead letters: the first ten of a second, and a count of the rest.
 */
#include "support/test.h"

#include <string.h>
#include <troupe/kit.h>

#include "actor/cell/system.h"
#include "os/virtual.h"

TR_MESSAGE(note, (u64, n));
TR_ACTOR(sink, note);
static tr_next on_note(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(sink, void, TR_ON(note, on_note));

/* Passes each note on to a sink, which has no handler for it. */
TR_MESSAGE(lost, (u64, n), (u64, m));
TR_ACTOR(source, note);
static tr_next on_note_of_source(tr_self *self)
{
    tr_tell(self, tr_any(tr_find(self, sink, "/user/sink")), lost, .n = 1);
    return TR_SAME;
}
TR_BEHAVIOR(source, void, TR_ON(note, on_note_of_source));

static tr_kit *kit;
static struct virtual_platform *virtual;

static void begin(void)
{
    kit = tr_kit_new(NULL);
    /* The table comes first in the platform. */
    virtual = (struct virtual_platform *)(uintptr_t)tr_kit_system(kit)->platform;
}

static void lose(int count)
{
    for (int i = 0; i < count; i++)
        tr_tell(tr_kit_client(kit), TR_NOBODY, note, .n = 1);
}

TEST(ten_lines_a_second_are_logged, "M-03", "MB-11")
{
    begin();
    lose(10);
    ck_assert_uint_eq(virtual->lines_count, 10);
    lose(1000);
    ck_assert_uint_eq(virtual->lines_count, 10);
    tr_kit_advance(kit, TR_SECOND - 1);
    lose(1);
    ck_assert_uint_eq(virtual->lines_count, 10);
    ck_assert(!tr__virtual_has_line(virtual, "more were not logged"));
    /* The next second has ten lines again, and its first says what was left out. */
    tr_kit_advance(kit, 1);
    lose(1);
    ck_assert_uint_eq(virtual->lines_count, 11);
    ck_assert_ptr_nonnull(
        strstr(tr__virtual_line(virtual, 0)->text, "(1001 more were not logged)"));
    lose(20);
    ck_assert_uint_eq(virtual->lines_count, 20);
    ck_assert_ptr_null(strstr(tr__virtual_line(virtual, 0)->text, "more"));
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 1032);
    tr_kit_free(kit);
}

TEST(a_line_names_the_message_the_reason_and_the_behavior, "M-03")
{
    begin();
    lose(1);
    const struct virtual_line *line = tr__virtual_line(virtual, 0);
    ck_assert_ptr_nonnull(strstr(line->text, "note"));
    ck_assert_ptr_nonnull(strstr(line->text, "TR_STOPPED"));
    ck_assert_int_eq(line->level, TR_LEVEL_INFO);
    sink_ref sink;
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &sink, sink, NULL), TR_OK);
    tr_tell(tr_kit_client(kit), tr_any(sink), tr_done);
    (void)tr_kit_settle(kit);
    line = tr__virtual_line(virtual, 0);
    ck_assert_ptr_nonnull(strstr(line->text, "tr_done"));
    ck_assert_ptr_nonnull(strstr(line->text, "sink"));
    ck_assert_ptr_nonnull(strstr(line->text, "TR_UNHANDLED"));
    tr_kit_free(kit);
}

TEST(a_line_names_the_size_and_both_paths, "M-03")
{
    begin();
    lose(1);
    ck_assert_ptr_nonnull(
        strstr(tr__virtual_line(virtual, 0)->text, " of 8 bytes from a client to nobody: "));
    sink_ref sink;
    source_ref source;
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &sink, sink, "sink"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &source, source, "source"), TR_OK);
    tr_tell(tr_kit_client(kit), source, note, .n = 1);
    (void)tr_kit_settle(kit);
    ck_assert_ptr_nonnull(strstr(tr__virtual_line(virtual, 0)->text,
                                 "lost of 16 bytes from /user/source to /user/sink, for which sink "
                                 "has no handler: TR_UNHANDLED"));
    tr_kit_free(kit);
}

TEST(a_steady_trickle_is_logged_in_full, "M-03", "MB-11")
{
    begin();
    for (int i = 0; i < 100; i++) {
        lose(1);
        tr_kit_advance(kit, 100 * TR_MILLISECOND);
    }
    ck_assert_uint_eq(virtual->lines_count, 100);
    tr_kit_free(kit);
}

SUITE("actor dead letters", ten_lines_a_second_are_logged,
      a_line_names_the_message_the_reason_and_the_behavior, a_line_names_the_size_and_both_paths,
      a_steady_trickle_is_logged_in_full)
