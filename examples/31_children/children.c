/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs of the operating system as children of actors: one sorts and is done, one is served again and again and is
 * started again by a supervisor when it dies.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

/* ---- A filter that is asked many times: `cat`, with one answer for each line. ---- */

TR_MESSAGE(filtered, (str, text));
TR_REQUEST(filter, filtered, (str, text));
TR_MESSAGE(kill_it);
TR_ACTOR(filter_keeper, filter, kill_it);

struct filter_keeper {
    tr_channel cat;
};

static tr_next on_start(tr_self *self, struct filter_keeper *keeper)
{
    keeper->cat = tr_process_start(self, TR_PROCESS("cat", .framing = TR_LINES));
    return TR_SAME;
}

static tr_next on_filter(tr_self *self, struct filter_keeper *keeper, const struct filter *message)
{
    const char *line = tr_format(self, "%s\n", message->text);
    const struct tr_received *answer =
        tr_await(self, tr_exchange(self, keeper->cat, (tr_bytes){line, strlen(line)}));
    return tr_reply(self, filtered, .text = answer->bytes.data);
}

/* Nothing here handles the end of `cat`: the actor fails with it, and its supervisor starts both again. */
static tr_next on_kill_it(tr_self *self, struct filter_keeper *keeper)
{
    tr_process_signal(self, keeper->cat, SIGKILL);
    return TR_SAME;
}

TR_BEHAVIOR(filter_keeper, struct filter_keeper, TR_ON(tr_pre_start, on_start),
            TR_ON(filter, on_filter), TR_ON(kill_it, on_kill_it));

/* ---- The top. ---- */

static const char *ask_filter(tr_self *self, filter_keeper_ref keeper, const char *text)
{
    const struct filtered *answer = tr_await(self, tr_ask(self, keeper, filter, .text = text));
    return answer->text;
}

static tr_next on_args(tr_self *self)
{
    tr_bytes line;
    tr_channel sort = tr_process_start(self, TR_PROCESS("sort", .arguments = TR_ARGUMENTS("-n")));
    tr_write_text(self, sort, "100\n9\n10\n");
    tr_finish(self, sort);
    while (tr_read_line(self, sort, &line))
        printf("sort: %s\n", (const char *)line.data);
    return TR_SAME;
}

static tr_next on_ended(tr_self *self, const struct tr_process_ended *message)
{
    printf("sort has ended with %d\n", (int)message->code);
    filter_keeper_ref keeper = tr_spawn(self, filter_keeper, "filter");
    printf("cat: %s\n", ask_filter(self, keeper, "hello"));
    tr_tell(self, keeper, kill_it);
    return TR_SAME;
}

static tr_next on_child_failed(tr_self *self, const struct tr_child_failed *message)
{
    printf("failed: %s\n", message->cause.text);
    filter_keeper_ref keeper = filter_keeper_ref_of(message->child);
    printf("cat: %s\n", ask_filter(self, keeper, "hello again"));
    return TR_STOP;
}

TR_BEHAVIOR(app, void, TR_SUPERVISE(TR_ONE_FOR_ONE), TR_ON(tr_args, on_args),
            TR_ON(tr_process_ended, on_ended), TR_ON(tr_child_failed, on_child_failed));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
