/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A restart: what stays, what goes, and in which order.
 */
#include "support/crew.h"

/* ---- An actor that has something of everything. ---- */

static tr_ref extra_child;
static tr_status slept;

static void word(void *text)
{
    say("%s", (const char *)text);
}

struct rich {
    uint64_t sum;
    tr_later later;
    unsigned char large[200];
};

static tr_next rich_setup(tr_self *self, struct rich *state, const struct label *message)
{
    say("set-up %s", message->text.data);
    ck_assert_uint_eq(state->sum, 0);
    ck_assert_uint_eq(state->large[199], 0);
    ck_assert_uint_eq(tr_stash_count(self), 0);
    ck_assert_uint_eq(tr_children(self, NULL, 0), 0);
    memset(state->large, 1, sizeof state->large);
    tr_clean(self, (char[]){0}, NULL);
    return TR_SAME;
}
