/* SPDX-License-Identifier: Apache-2.0 */
/** @NAME@ NUMBER...: adds them up. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "counter.h"

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    counter_ref counter = tr_spawn(self, counter, "counter");
    for (size_t i = 1; i < args->argv.count; i++)
        tr_tell(self, counter, add, .n = strtoll(args->argv.items[i], NULL, 10));
    const struct count *count = tr_await(self, tr_ask(self, counter, get_count));
    printf("the sum is %" PRId64 "\n", count->value);
    return TR_STOP; /* the program ends with its root */
}

TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app, .name = "@NAME@");
}
