/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The sleep machine under random events, against a small reference written from the contract: each
 * event is followed by all its steps, and both must say the same.
 */
#include "support/test.h"

#include "support/sleep_events.h"

enum { EXPECTED_MAX = 40 };

static tr_time least(tr_time left, tr_time right)
{
    return left < right ? left : right;
}

/* ---- the reference: the contract in plain words ---- */

struct model {
    enum sleep_state state;
    int counts[COUNTER_COUNT];
    enum sleep_counter works[WORKS]; /* COUNTER_NONE: not raised */
    bool has_on_sleep, has_on_destroy;
    bool runs_on_sleep, runs_on_destroy;
    bool asked_sleep, asked_destroy;
    bool is_overdue, is_serializing;
    enum sleep_reason stop_waits;
    tr_time stop_grace, idle_ns, grace_ns, armed, deadline, shutdown_at;
    enum sleep_step expected[EXPECTED_MAX];
    int expected_count;
};

static bool is_idle(const struct model *model)
{
    const int *counts = model->counts;
    return model->state == SLEEP_STARTED && !counts[COUNTER_NOT_READY] &&
           !counts[COUNTER_NO_SLEEP] && !counts[COUNTER_REQUESTS] && !counts[COUNTER_KEEP_AWAKE] &&
           !counts[COUNTER_INTERNAL] && !counts[COUNTER_RUN] && !counts[COUNTER_DISCONNECTS] &&
           !counts[COUNTER_CONNECTIONS] && !counts[COUNTER_SOCKETS] && !counts[COUNTER_MAIL] &&
           !counts[COUNTER_LATERS] && !counts[COUNTER_STASH];
}

static bool is_drained(const struct model *model)
{
    const int *counts = model->counts;
    /* A destroy refuses what is sent: it waits neither for mail nor for a stash, nor for a run handler. */
    bool holds_sleep = counts[COUNTER_RUN] || counts[COUNTER_RUN_WAITS] || counts[COUNTER_MAIL] ||
                       counts[COUNTER_STASH];
    if (holds_sleep && model->state != SLEEP_DESTROY_GRACE)
        return false;
    return !counts[COUNTER_LATERS] && !counts[COUNTER_HOOKS] && !counts[COUNTER_TASKS] &&
           !counts[COUNTER_KEEP_AWAKE] && !counts[COUNTER_INTERNAL] && !counts[COUNTER_REQUESTS] &&
           !counts[COUNTER_SOCKETS] && !counts[COUNTER_DISCONNECTS];
}

static bool is_idle_input(enum sleep_counter counter)
{
    return counter != COUNTER_RUN_WAITS && counter != COUNTER_HOOKS && counter != COUNTER_TASKS &&
           counter != COUNTER_HIBERNATING;
}

static void expect(struct model *model, enum sleep_step step)
{
    ck_assert_int_lt(model->expected_count, EXPECTED_MAX);
    model->expected[model->expected_count++] = step;
}

static void expect_close(struct model *model)
{
    expect(model, STEP_CLEAR_TIMER);
    expect(model, STEP_CLOSE_EVENTS);
    expect(model, STEP_JOIN_RUN);
    expect(model, STEP_CANCEL_TURNS);
    model->armed = SLEEP_NEVER;
}

static void expect_end(struct model *model, enum sleep_step alarms)
{
    expect(model, alarms);
    expect(model, STEP_CLOSE_STORE);
    expect(model, STEP_REPLY);
    expect(model, STEP_TERMINATED);
    model->state = SLEEP_TERMINATED;
    model->armed = SLEEP_NEVER;
    model->is_serializing = false;
    for (int i = 0; i < WORKS; i++)
        model->works[i] = COUNTER_NONE;
}

static void model_grace(struct model *model, enum sleep_reason reason, tr_time span, tr_time now)
{
    bool destroys = reason == SLEEP_REASON_DESTROY;
    bool is_new = model->state == SLEEP_STARTED;
    model->state = destroys ? SLEEP_DESTROY_GRACE : SLEEP_GRACE;
    tr_time grace = span ? least(span, model->grace_ns) : model->grace_ns;
    if (model->shutdown_at != SLEEP_NEVER) {
        tr_time left = model->shutdown_at > now ? model->shutdown_at - now : 0;
        grace = least(grace, left - left / 5);
    }
    model->deadline = now + grace;
    model->armed = least(model->deadline, now + TR_SECOND);
    expect(model, STEP_ACCEPT_STOP);
    expect(model, STEP_DRAIN_DISPATCH);
    if (is_new) {
        expect(model, STEP_SUSPEND_ALARMS);
        expect(model, STEP_CLEAR_IDLE);
        expect(model, STEP_FIRE_ABORT);
    }
    expect(model, STEP_ARM_GRACE);
    expect(model, STEP_SETTLE_CONNECTIONS);
    if (!destroys && model->has_on_sleep) {
        expect(model, STEP_RUN_ON_SLEEP);
        model->runs_on_sleep = true;
        model->counts[COUNTER_HOOKS]++;
    }
    if (destroys && model->has_on_destroy) {
        expect(model, STEP_RUN_ON_DESTROY);
        model->runs_on_destroy = true;
        model->counts[COUNTER_HOOKS]++;
    }
}

static tr_status model_stop(struct model *model, enum sleep_reason reason, const struct told *told)
{
    bool is_upgrade = model->state == SLEEP_GRACE && reason == SLEEP_REASON_DESTROY;
    if (model->state == SLEEP_TERMINATED)
        return TR_STOPPED;
    if (model->state == SLEEP_LOADING) {
        if (model->stop_waits == SLEEP_REASON_DESTROY || model->stop_waits == reason)
            return TR_STOPPING;
        model->stop_waits = reason;
        if (told->span && (!model->stop_grace || told->span < model->stop_grace))
            model->stop_grace = told->span;
        return TR_OK;
    }
    if (model->state != SLEEP_STARTED && !is_upgrade)
        return TR_STOPPING;
    model_grace(model, reason, told->span, told->now);
    return TR_OK;
}

static void model_shut_down(struct model *model, const struct told *told)
{
    model->shutdown_at = least(model->shutdown_at, told->now + told->span);
    if (model->state == SLEEP_GRACE || model->state == SLEEP_DESTROY_GRACE) {
        model->deadline = least(model->deadline, told->now + (told->span - told->span / 5));
        model->armed = least(model->armed, model->deadline);
        expect(model, STEP_ARM_GRACE);
    } else if (model->is_serializing) {
        model->armed = least(model->armed, model->shutdown_at);
        expect(model, STEP_ARM_CAP);
    }
}

static void model_serialized(struct model *model, tr_status status)
{
    model->is_serializing = false;
    expect_close(model);
    if (status == TR_OK)
        expect(model, STEP_COMMIT_STATE);
    expect(model, STEP_WAIT_WRITES);
}

static void model_timer(struct model *model, tr_time now)
{
    bool is_grace = model->state == SLEEP_GRACE || model->state == SLEEP_DESTROY_GRACE;
    if (model->armed == SLEEP_NEVER)
        return;
    if (is_grace && now < model->deadline) {
        if (now >= model->armed)
            model->armed = least(model->deadline, now + TR_SECOND);
        expect(model, STEP_ARM_GRACE);
    } else if (is_grace) {
        model->armed = SLEEP_NEVER;
        model->is_overdue = true;
        expect(model, STEP_NAME_WAKE_LOCKS);
        expect(model, STEP_CANCEL_RUN);
        expect(model, STEP_FIRE_DEADLINE);
        expect(model, STEP_WARN);
    } else if (model->is_serializing) {
        if (now < model->armed)
            expect(model, STEP_ARM_CAP);
        else
            model_serialized(model, TR_TIMEOUT);
    } else if (now < model->armed) {
        expect(model, STEP_ARM_IDLE);
    } else {
        model->armed = SLEEP_NEVER;
        model->asked_sleep = true;
        expect(model, STEP_SEND_SLEEP);
    }
}

/* What a change of the whole leads to, after the event. */
static void model_settle(struct model *model, bool is_changed, tr_time now)
{
    if (model->state == SLEEP_STARTED && is_changed) {
        if (is_idle(model) && !model->asked_sleep && !model->asked_destroy) {
            model->armed = now + model->idle_ns;
            expect(model, STEP_ARM_IDLE);
        } else if (model->armed != SLEEP_NEVER) {
            model->armed = SLEEP_NEVER;
            expect(model, STEP_CLEAR_IDLE);
        }
    } else if (model->state == SLEEP_GRACE && (model->is_overdue || is_drained(model))) {
        model->state = SLEEP_FINALIZE;
        model->is_serializing = true;
        model->armed = least(now + 15 * TR_SECOND, model->shutdown_at);
        expect(model, STEP_ARM_CAP);
        expect(model, STEP_SERIALIZE);
    } else if (model->state == SLEEP_DESTROY_GRACE && (model->is_overdue || is_drained(model))) {
        model->state = SLEEP_DESTROYING;
        expect_close(model);
        expect(model, STEP_ERASE);
        expect(model, STEP_WAIT_WRITES);
    }
}

static tr_status model_crash(struct model *model)
{
    if (model->state == SLEEP_TERMINATED)
        return TR_STOPPED;
    expect(model, STEP_CLEAR_TIMER);
    expect(model, STEP_CLOSE_EVENTS);
    expect(model, STEP_CANCEL_TURNS);
    expect_end(model, STEP_KEEP_ALARMS);
    return TR_OK;
}

static tr_status model_work(struct model *model, const struct told *told, bool *is_changed)
{
    enum sleep_counter *work = &model->works[told->work];
    bool is_raised = *work != COUNTER_NONE;
    if (told->event == RAISE && model->state == SLEEP_TERMINATED)
        return TR_STOPPED;
    if (told->event == RAISE ? is_raised : !is_raised)
        return told->event == RAISE ? TR_INVALID_TRANSITION : TR_OK;
    enum sleep_counter after = told->event == DROP ? COUNTER_NONE : told->counter;
    if (after == *work)
        return TR_OK;
    if (is_raised) {
        model->counts[*work]--;
        *is_changed |= is_idle_input(*work);
    }
    if (after != COUNTER_NONE) {
        model->counts[after]++;
        *is_changed |= is_idle_input(after);
    }
    *work = after;
    return TR_OK;
}

static tr_status model_ask(struct model *model, enum event event)
{
    bool *asked = event == ASK_DESTROY ? &model->asked_destroy : &model->asked_sleep;
    if (model->state == SLEEP_LOADING)
        return TR_STARTING;
    bool is_in_time =
        model->state == SLEEP_STARTED || (event == ASK_DESTROY && model->state == SLEEP_GRACE);
    if (!is_in_time || (event == ASK_DESTROY && *asked))
        return TR_STOPPING;
    if (!*asked)
        expect(model, event == ASK_DESTROY ? STEP_SEND_DESTROY : STEP_SEND_SLEEP);
    *asked = true;
    return TR_OK;
}

static tr_status model_hook_end(struct model *model, bool *runs)
{
    if (model->state == SLEEP_TERMINATED)
        return TR_STOPPED;
    if (!*runs)
        return TR_INVALID_TRANSITION;
    *runs = false;
    model->counts[COUNTER_HOOKS]--;
    return TR_OK;
}

static tr_status model_answer(struct model *model, const struct told *told)
{
    bool is_end = model->state == SLEEP_TERMINATED;
    bool awaits_written = (model->state == SLEEP_FINALIZE && !model->is_serializing) ||
                          model->state == SLEEP_DESTROYING;
    if (told->event == SERIALIZED ? !model->is_serializing || is_end : !awaits_written)
        return is_end ? TR_STOPPED : TR_INVALID_TRANSITION;
    if (told->event == SERIALIZED)
        model_serialized(model, told->status);
    else if (model->state == SLEEP_DESTROYING && told->status == TR_OK)
        expect_end(model, STEP_CLEAR_ALARMS);
    else
        expect_end(model, STEP_KEEP_ALARMS);
    return TR_OK;
}

static tr_status model_start(struct model *model, const struct told *told)
{
    if (model->state != SLEEP_LOADING)
        return model->state == SLEEP_TERMINATED ? TR_STOPPED : TR_INVALID_TRANSITION;
    if (told->event == START_FAILED)
        return model_crash(model);
    model->state = SLEEP_STARTED;
    if (model->stop_waits)
        model_grace(model, model->stop_waits, model->stop_grace, told->now);
    return TR_OK;
}

static tr_status model_told(struct model *model, const struct told *told, bool *is_changed)
{
    switch (told->event) {
    case STARTED:
    case START_FAILED:
        *is_changed = model->state == SLEEP_LOADING;
        return model_start(model, told);
    case RAISE:
    case DROP:
    case MOVE:
        return model_work(model, told, is_changed);
    case ASK_SLEEP:
    case ASK_DESTROY:
        *is_changed = !(told->event == ASK_SLEEP && model->asked_sleep);
        return model_ask(model, told->event);
    case EVICT:
        if (!is_idle(model) || model->asked_sleep || model->asked_destroy)
            return TR_REFUSED;
        *is_changed = true;
        return model_ask(model, ASK_SLEEP);
    case STOP_SLEEP:
        return model_stop(model, SLEEP_REASON_SLEEP, told);
    case STOP_DESTROY:
        return model_stop(model, SLEEP_REASON_DESTROY, told);
    case SHUT_DOWN:
        model_shut_down(model, told);
        return TR_OK;
    case TIMER:
        model_timer(model, told->now);
        return TR_OK;
    case END_ON_SLEEP:
        return model_hook_end(model, &model->runs_on_sleep);
    case END_ON_DESTROY:
        return model_hook_end(model, &model->runs_on_destroy);
    case SERIALIZED:
    case WRITTEN:
        return model_answer(model, told);
    case CRASH:
    case EVENTS:
        break;
    }
    return model_crash(model);
}

/* ---- both ---- */

static void compare(struct model *model, struct sleep_machine *machine, const struct told *told)
{
    struct sleep_action action;
    for (int i = 0; i < model->expected_count; i++) {
        enum sleep_step step = model->expected[i];
        ck_assert_msg(tr__sleep_next(machine, told->now, &action),
                      "event %d: no step, not %s",
                      told->event,
                      tr__sleep_step_name(step));
        ck_assert_msg(action.step == step,
                      "event %d: %s, not %s",
                      told->event,
                      tr__sleep_step_name(action.step),
                      tr__sleep_step_name(step));
        if (step == STEP_ARM_IDLE || step == STEP_ARM_CAP)
            ck_assert_int_eq(action.at, model->armed);
    }
    if (model->state != SLEEP_TERMINATED)
        ck_assert(!tr__sleep_next(machine, told->now, &action));
    ck_assert_int_eq(machine->state, model->state);
    ck_assert_int_eq(machine->due, model->armed);
    for (int i = 0; i < COUNTER_COUNT && model->state != SLEEP_TERMINATED; i++)
        ck_assert_int_eq(machine->wake_locks.counts[i], model->counts[i]);
}

TEST(the_machine_does_what_the_reference_says, "Z-02", "Z-04", "Z-05", "Z-10", "Z-12")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    uint64_t events = test_scale(1000000, 20000000);
    uint64_t lives = 0;
    uint64_t reached[SLEEP_TERMINATED + 1] = {0};
    while (events > 0) {
        struct teller teller;
        teller_init(&teller, &rng);
        struct model model = {
            .has_on_sleep = teller.options.has_on_sleep,
            .has_on_destroy = teller.options.has_on_destroy,
            .counts[COUNTER_NO_SLEEP] = teller.options.no_sleep,
            .idle_ns = teller.machine.options.idle_ns,
            .grace_ns = teller.machine.options.grace_ns,
            .armed = SLEEP_NEVER,
            .deadline = SLEEP_NEVER,
            .shutdown_at = SLEEP_NEVER,
        };
        for (int i = 0; i < WORKS; i++)
            model.works[i] = COUNTER_NONE;
        /* A little longer than its life: what comes after the end must be refused. */
        for (int after = 0; after < 10 && events > 0; events--) {
            struct told told = teller_choose(&teller);
            bool is_changed = false;
            model.expected_count = 0;
            tr_status expected = model_told(&model, &told, &is_changed);
            model_settle(&model, is_changed, told.now);
            tr_status status = teller_tell(&teller, &told);
            ck_assert_msg(status == expected,
                          "event %d in %s: %s, not %s",
                          told.event,
                          tr__sleep_state_name(model.state),
                          tr_status_name(status),
                          tr_status_name(expected));
            compare(&model, &teller.machine, &told);
            reached[model.state]++;
            after += model.state == SLEEP_TERMINATED;
        }
        lives++;
    }
    /* The test is worth something only if it has been everywhere, often. */
    ck_assert_uint_gt(lives, 1000);
    for (int i = 0; i <= SLEEP_TERMINATED; i++)
        ck_assert_uint_gt(reached[i], lives / 10);
}

SUITE("durable sleep model", the_machine_does_what_the_reference_says)
