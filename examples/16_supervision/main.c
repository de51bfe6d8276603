/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A tree that heals itself, as constant data: three strategies, a decider, a budget of restarts.
 *
 * A worker fails on job 13. Its supervisor decides what happens to it and to its siblings.
 */
#include <stdio.h>
#include <troupe/troupe.h>

TR_MESSAGE(label, (str, text));
TR_REQUEST(job, tr_done, (u32, number));
TR_ACTOR(worker, job);
TR_ACTOR(crew);
TR_ACTOR(pair);
TR_ACTOR(line);
TR_ACTOR(top);

/* ---- A worker that fails now and then. ---- */

struct worker {
    const char *name;
    unsigned jobs;
};

static tr_next set_up(tr_self *self, struct worker *worker, const struct label *message)
{
    worker->name = tr_strdup(self, message->text);
    return TR_SAME;
}

static tr_next on_job(tr_self *self, struct worker *worker, const struct job *message)
{
    if (message->number == 13)
        return tr_fail(self, TR_BAD_DATA, "job 13");
    if (message->number == 0)
        return tr_fail(self, TR_TIMEOUT, "a lazy day");
    printf("  %s: job %u, the %u. of this life\n", worker->name, message->number, ++worker->jobs);
    return tr_reply(self, tr_done);
}

static tr_next on_restarted(struct worker *worker, const struct tr_post_restart *message)
{
    printf("  %s restarts after: %s\n", worker->name, message->cause.text);
    return TR_SAME;
}

static tr_next on_stopped(struct worker *worker)
{
    printf("  %s stops\n", worker->name);
    return TR_SAME;
}

TR_BEHAVIOR(worker, struct worker, TR_SETUP_WITH(label, set_up), TR_ON(job, on_job),
            TR_ON(tr_post_restart, on_restarted), TR_ON(tr_post_stop, on_stopped));

/* ---- One for one: each failure concerns one child. A lazy day is no reason for a restart. ---- */

static tr_directive decide(tr_self *self, const tr_error *cause)
{
    (void)self;
    return cause->status == TR_TIMEOUT ? TR_RESUME : TR_RESTART;
}

TR_BEHAVIOR(crew, void,
            TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 1, .window_ns = TR_HOUR, .decide = decide),
            TR_CHILD(worker, "anna", .setup = TR_WITH(label, .text = "anna")),
            TR_CHILD(worker, "ben", .setup = TR_WITH(label, .text = "ben"),
                     .restart = TR_TEMPORARY));

/* ---- All for one: two that cannot do without each other. ---- */

TR_BEHAVIOR(pair, void, TR_SUPERVISE(TR_ALL_FOR_ONE),
            TR_CHILD(worker, "left", .setup = TR_WITH(label, .text = "left")),
            TR_CHILD(worker, "right", .setup = TR_WITH(label, .text = "right")));

/* ---- Rest for one: a stage restarts together with the later ones. ---- */

TR_BEHAVIOR(line, void, TR_SUPERVISE(TR_REST_FOR_ONE),
            TR_CHILD(worker, "read", .setup = TR_WITH(label, .text = "read")),
            TR_CHILD(worker, "parse", .setup = TR_WITH(label, .text = "parse")),
            TR_CHILD(worker, "write", .setup = TR_WITH(label, .text = "write")));

/* ---- The top of the tree gives them work. ---- */

static void work(tr_self *self, const char *path, uint32_t number)
{
    worker_ref worker = tr_find(self, worker, path);
    const struct tr_done *done;
    job_ask ask = tr_ask(self, worker, job, .number = number);
    tr_status status = tr_try_await(self, ask, &done);
    if (status == TR_OK)
        return;
    printf("  %s: %s\n", path, tr_status_text(status));
    tr_sleep(self, 20 * TR_MILLISECOND); /* others are stopped and restarted meanwhile */
}

static tr_next on_start(tr_self *self)
{
    printf("one for one\n");
    work(self, "/user/top/crew/anna", 1);
    work(self, "/user/top/crew/anna", 0);
    work(self, "/user/top/crew/anna", 2);
    work(self, "/user/top/crew/anna", 13);
    work(self, "/user/top/crew/anna", 3);
    printf("once too often\n");
    work(self, "/user/top/crew/anna", 13);
    work(self, "/user/top/crew/anna", 4);
    printf("temporary\n");
    work(self, "/user/top/crew/ben", 13);
    work(self, "/user/top/crew/ben", 5);
    printf("all for one\n");
    work(self, "/user/top/pair/left", 13);
    work(self, "/user/top/pair/right", 6);
    printf("rest for one\n");
    work(self, "/user/top/line/parse", 13);
    work(self, "/user/top/line/write", 7);
    work(self, "/user/top/line/read", 8);
    printf("the end\n");
    return TR_STOP;
}

TR_MESSAGE(begin);

static tr_next on_pre_start(tr_self *self)
{
    tr_tell(self, tr_me(self), begin); /* a signal may not wait for answers, a message may */
    return TR_SAME;
}

TR_BEHAVIOR(top, void, TR_CHILD(crew, "crew"), TR_CHILD(pair, "pair"), TR_CHILD(line, "line"),
            TR_ON(tr_pre_start, on_pre_start), TR_ON(begin, on_start));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, top, .workers = 1);
}
