/* SPDX-License-Identifier: Apache-2.0 */
/** The counter on the test kit: one thread, virtual time. */
#include <troupe/kit.h>

#include "check.h"
#include "counter.h"

static void numbers_add_up(void)
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_client *test = tr_kit_client(kit);
    counter_ref counter;
    const struct count *count;
    CHECK(tr_try_spawn(test, &counter, counter, "counter") == TR_OK);
    tr_tell(test, counter, add, .n = 40);
    tr_tell(test, counter, add, .n = 2);
    CHECK(tr_try_await(test, tr_ask(test, counter, get_count), &count) == TR_OK);
    CHECK(count->value == 42);
    tr_kit_free(kit); /* aborts if memory has leaked or a message was lost */
}

int main(void)
{
    numbers_add_up();
    return 0;
}
