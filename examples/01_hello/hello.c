/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One actor greets. The root starts it, tells it whom to greet, and ends the app when it is done.
 */
#include <stdio.h>
#include <troupe/troupe.h>

TR_REQUEST(greet, tr_done, (str, whom));
TR_ACTOR(greeter, greet);

static tr_next on_greet(tr_self *self, const struct greet *message)
{
    printf("Hello, %s!\n", message->whom);
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(greeter, void, TR_ON(greet, on_greet));

static tr_next on_start(tr_self *self)
{
    greeter_ref greeter = tr_spawn(self, greeter, "greeter");
    tr_tell(self, greeter, greet, .whom = "world");
    return TR_SAME;
}

static tr_next on_done(void)
{
    return TR_STOP;
}

TR_BEHAVIOR(hello, void, TR_ON(tr_pre_start, on_start), TR_ON(tr_done, on_done));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, hello);
}
