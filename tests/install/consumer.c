/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A user's first program: built against the installed package only. One actor doubles a number.
 */
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(number, (i32, value));
TR_ACTOR(doubler, number);

static tr_next on_number(tr_self *self, const struct number *message)
{
    return tr_reply(self, number, .value = 2 * message->value);
}

TR_BEHAVIOR(doubler, void, TR_ON(number, on_number));

int main(void)
{
    tr_system_options options = {.size = sizeof options, .workers = 2};
    tr_system *system;
    tr_client *client;
    doubler_ref doubler;

    if (tr_system_new(&options, &system) != TR_OK || tr_system_start(system) != TR_OK)
        return 1;
    if (tr_client_new(system, &client) != TR_OK)
        return 2;
    if (tr_try_spawn(client, &doubler, doubler, "doubler") != TR_OK)
        return 3;
    if (tr_tell(client, doubler, number, .value = 21) != TR_OK)
        return 4;
    const struct number *answer = tr_receive(client, number, 10 * TR_SECOND);
    bool is_right = answer != NULL && answer->value == 42;
    printf("21 doubled is %d\n", answer != NULL ? (int)answer->value : -1);
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    bool is_over = tr_system_wait(system) == TR_OK;
    tr_system_free(system);
    return is_right && is_over ? 0 : 5;
}
