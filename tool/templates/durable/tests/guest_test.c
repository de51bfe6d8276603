/* SPDX-License-Identifier: Apache-2.0 */
/** Guests on the test kit: one thread, virtual time, a store in memory. */
#include <string.h>
#include <troupe/kit.h>

#include "check.h"
#include "guest.h"

static void a_guest_is_remembered_over_its_sleep(void)
{
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.durable = TR_DURABLES(guest)});
    tr_client *test = tr_kit_client(kit);
    const struct seen *seen;
    CHECK(tr_try_await(test, tr_ask_key(test, guest, "anna", visit, .page = "/a"), &seen) == TR_OK);
    CHECK(seen->times == 1);
    tr_kit_advance(kit, TR_MINUTE); /* nobody asks, so it sleeps */
    CHECK(tr_try_await(test, tr_ask_key(test, guest, "anna", visit, .page = "/b"), &seen) == TR_OK);
    CHECK(seen->times == 2 && strcmp(seen->last_page, "/a") == 0);
    tr_kit_free(kit);
}

static void a_visit_of_no_page_is_refused(void)
{
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.durable = TR_DURABLES(guest)});
    tr_client *test = tr_kit_client(kit);
    CHECK(tr_try_await(test, tr_ask_key(test, guest, "anna", visit), NULL) == TR_REFUSED);
    tr_kit_free(kit);
}

int main(void)
{
    a_guest_is_remembered_over_its_sleep();
    a_visit_of_no_page_is_refused();
    return 0;
}
