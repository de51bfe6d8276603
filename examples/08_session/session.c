/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Passivation: a session keeps what it was given in memory, writes it out at a fixed rate, and
 * stops when nobody has spoken to it for a while. The next user starts it again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <troupe/troupe.h>

#define FLUSH_EVERY (50 * TR_MILLISECOND) /* a second, say, in real life */
#define IDLE_AFTER (300 * TR_MILLISECOND) /* and some minutes */

TR_MESSAGE(put, (str, text));
TR_MESSAGE(flush);
TR_MESSAGE(open_session, (ref, store));
TR_ACTOR(session, put);

TR_MESSAGE(save, (u32, texts));
TR_MESSAGE(session_ended, (u32, flushes), (bool, was_idle));

struct session {
    tr_ref store;
    uint32_t texts;   /* not yet written out */
    uint32_t flushes; /* so far */
    bool is_idle;
};

static tr_next set_up(tr_self *self, struct session *session, const struct open_session *message)
{
    session->store = message->store;
    tr_timer_fixed_rate(self, "flush", FLUSH_EVERY, flush);
    tr_set_receive_timeout(self, IDLE_AFTER);
    return TR_SAME;
}

static tr_next on_put(struct session *session, const struct put *message)
{
    printf("put %s\n", message->text);
    session->texts++;
    return TR_SAME;
}

static void write_out(tr_self *self, struct session *session)
{
    if (session->texts == 0)
        return;
    tr_tell(self, session->store, save, .texts = session->texts);
    session->texts = 0;
    session->flushes++;
}

/* The message of a timer is no reason to stay: only messages of other actors reset the timeout. */
static tr_next on_flush(tr_self *self, struct session *session)
{
    write_out(self, session);
    return TR_SAME;
}

static tr_next on_idle(struct session *session)
{
    session->is_idle = true;
    return TR_STOP;
}

/* Whatever stops it, nothing that it was given is lost. */
static tr_next on_stop(tr_self *self, struct session *session)
{
    write_out(self, session);
    tr_tell(self,
            session->store,
            session_ended,
            .flushes = session->flushes,
            .was_idle = session->is_idle);
    return TR_SAME;
}

TR_BEHAVIOR(session, struct session, TR_SETUP_WITH(open_session, set_up), TR_ON(put, on_put),
            TR_ON(flush, on_flush), TR_ON(tr_receive_timeout, on_idle),
            TR_ON(tr_post_stop, on_stop));

/* ---- The app: the store of what sessions write, and their user. ---- */

struct app {
    uint32_t texts;
};

static tr_next on_start(tr_self *self)
{
    session_ref session = tr_spawn(self, session, "alice", open_session, .store = tr_me(self));
    tr_tell(self, session, put, .text = "one");
    tr_tell(self, session, put, .text = "two");
    return TR_SAME;
}

static tr_next on_save(tr_self *self, struct app *app, const struct save *message)
{
    app->texts += message->texts;
    printf("saved %" PRIu32 "\n", app->texts);
    if (app->texts == 2)
        tr_tell(self, tr_child(self, session, "alice"), put, .text = "three");
    return TR_SAME;
}

static tr_next on_ended(struct app *app, const struct session_ended *message)
{
    printf("the session ended, %s, after %" PRIu32 " flushes; %" PRIu32 " texts are saved\n",
           message->was_idle ? "idle" : "stopped",
           message->flushes,
           app->texts);
    return TR_STOP;
}

TR_BEHAVIOR(app, struct app, TR_ON(tr_pre_start, on_start), TR_ON(save, on_save),
            TR_ON(session_ended, on_ended));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, app);
}
