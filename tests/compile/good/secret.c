/* SPDX-License-Identifier: Apache-2.0 */
/* Secret fields, the descriptor of a state, and lists of actors. */
#include <troupe/troupe.h>

TR_MESSAGE(card, (str, holder), (str, number), (u32, code));
TR_SECRET(card, number, code);
TR_REQUEST(pay, tr_done, (message(card), card), (u64, cents));
TR_SECRET(pay, card);
TR_MESSAGE(plain, (u64, cents));
TR_ACTOR(till, pay);

static tr_next on_pay(tr_self *self, struct plain *state, const struct pay *message)
{
    state->cents += message->cents;
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(till, struct plain, TR_ON(pay, on_pay), TR_OPTIONS(.shows = &tr_type_plain));

tr_status look(tr_system *system, tr_client *client, tr_actor_info *info, tr_actor_report *report);

tr_status look(tr_system *system, tr_client *client, tr_actor_info *info, tr_actor_report *report)
{
    tr_actor_query query = {.behavior = "till"};
    size_t count;
    tr_status status = tr_system_actors(system, &query, info, 1, &count);
    return status == TR_OK ? tr_actor_show(client, info->actor, report) : status;
}
