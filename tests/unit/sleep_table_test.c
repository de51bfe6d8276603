/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every event in every state of the sleep machine: what it says, and where the machine is then.
 */
#include "support/sleepers.h"

/* The states, Finalize once for each answer that it waits for. */
enum place { LOADING, STARTED, GRACE, SERIALIZES, WRITES, D_GRACE, DESTROYING, ENDED, PLACES };

static const enum sleep_state state_of[PLACES] = {
    SLEEP_LOADING,
    SLEEP_STARTED,
    SLEEP_GRACE,
    SLEEP_FINALIZE,
    SLEEP_FINALIZE,
    SLEEP_DESTROY_GRACE,
    SLEEP_DESTROYING,
    SLEEP_TERMINATED,
};

static void reach_destroying(struct sleeper *sleeper, enum place place)
{
    struct sleep_machine *machine = &sleeper->machine;
    sleeper_stop(sleeper, SLEEP_REASON_DESTROY);
    sleeper_steps(sleeper);
    if (place == D_GRACE)
        return;
    ck_assert_int_eq(tr__sleep_hook_end(machine, SLEEP_REASON_DESTROY, sleeper->now), TR_OK);
    sleeper_steps(sleeper);
}

static void reach_asleep(struct sleeper *sleeper, enum place place)
{
    struct sleep_machine *machine = &sleeper->machine;
    sleeper_stop(sleeper, SLEEP_REASON_SLEEP);
    sleeper_steps(sleeper);
    if (place == GRACE)
        return;
    ck_assert_int_eq(tr__sleep_hook_end(machine, SLEEP_REASON_SLEEP, sleeper->now), TR_OK);
    sleeper_steps(sleeper);
    if (place == SERIALIZES)
        return;
    ck_assert_int_eq(tr__sleep_serialized(machine, TR_OK), TR_OK);
    sleeper_steps(sleeper);
    if (place == WRITES)
        return;
    ck_assert_int_eq(tr__sleep_written(machine, TR_OK), TR_OK);
    sleeper_steps(sleeper);
}

static void reach(struct sleeper *sleeper, enum place place)
{
    sleeper_init(sleeper, (struct sleep_options){.has_on_sleep = true, .has_on_destroy = true});
    if (place != LOADING)
        sleeper_start(sleeper);
    if (place == D_GRACE || place == DESTROYING)
        reach_destroying(sleeper, place);
    else if (place > STARTED)
        reach_asleep(sleeper, place);
    ck_assert_int_eq(sleeper->machine.state, state_of[place]);
}

/* ---- the events; those that say nothing say TR_OK ---- */

static tr_status started(struct sleeper *sleeper)
{
    return tr__sleep_started(&sleeper->machine, sleeper->now);
}

static tr_status start_failed(struct sleeper *sleeper)
{
    return tr__sleep_start_failed(&sleeper->machine, TR_FAILED);
}

static tr_status raise_one(struct sleeper *sleeper)
{
    struct wake_lock *wake_lock = &sleeper->wake_locks[0];
    return tr__sleep_raise(&sleeper->machine, wake_lock, COUNTER_REQUESTS, sleeper->now);
}

static tr_status drop_none(struct sleeper *sleeper)
{
    tr__sleep_drop(&sleeper->machine, &sleeper->wake_locks[0], sleeper->now);
    tr__sleep_move(&sleeper->machine, &sleeper->wake_locks[0], COUNTER_RUN, sleeper->now);
    return TR_OK;
}

static tr_status ask_sleep(struct sleeper *sleeper)
{
    return tr__sleep_ask(&sleeper->machine, SLEEP_REASON_SLEEP, sleeper->now);
}

static tr_status ask_destroy(struct sleeper *sleeper)
{
    return tr__sleep_ask(&sleeper->machine, SLEEP_REASON_DESTROY, sleeper->now);
}

static tr_status evict(struct sleeper *sleeper)
{
    return tr__sleep_evict(&sleeper->machine) ? TR_OK : TR_REFUSED;
}

static tr_status stop_sleep(struct sleeper *sleeper)
{
    return tr__sleep_stop(&sleeper->machine, SLEEP_REASON_SLEEP, 0, sleeper->now);
}

static tr_status stop_destroy(struct sleeper *sleeper)
{
    return tr__sleep_stop(&sleeper->machine, SLEEP_REASON_DESTROY, 0, sleeper->now);
}

static tr_status shut_down(struct sleeper *sleeper)
{
    tr__sleep_shut_down(&sleeper->machine, TR_SECOND, sleeper->now);
    return TR_OK;
}

static tr_status early_timer(struct sleeper *sleeper)
{
    tr__sleep_timer(&sleeper->machine, sleeper->now);
    return TR_OK;
}

static tr_status late_timer(struct sleeper *sleeper)
{
    sleeper->now += TR_HOUR;
    tr__sleep_timer(&sleeper->machine, sleeper->now);
    return TR_OK;
}

static tr_status on_sleep_begins(struct sleeper *sleeper)
{
    return tr__sleep_hook_begin(&sleeper->machine, SLEEP_REASON_SLEEP);
}

static tr_status on_sleep_ends(struct sleeper *sleeper)
{
    return tr__sleep_hook_end(&sleeper->machine, SLEEP_REASON_SLEEP, sleeper->now);
}

static tr_status on_destroy_begins(struct sleeper *sleeper)
{
    return tr__sleep_hook_begin(&sleeper->machine, SLEEP_REASON_DESTROY);
}

static tr_status on_destroy_ends(struct sleeper *sleeper)
{
    return tr__sleep_hook_end(&sleeper->machine, SLEEP_REASON_DESTROY, sleeper->now);
}

static tr_status serialized(struct sleeper *sleeper)
{
    return tr__sleep_serialized(&sleeper->machine, TR_OK);
}

static tr_status written(struct sleeper *sleeper)
{
    return tr__sleep_written(&sleeper->machine, TR_OK);
}

static tr_status crash(struct sleeper *sleeper)
{
    return tr__sleep_crash(&sleeper->machine, TR_FAULT);
}

/* ---- the table ---- */

enum {
    OK = TR_OK,
    BAD = TR_INVALID_TRANSITION,
    STARTS = TR_STARTING,
    STOPS = TR_STOPPING,
    GONE = TR_STOPPED,
    NO = TR_REFUSED,
};

struct outcome {
    int status;
    enum place place; /* after the event and all steps that follow; meaningless unless OK */
};

/* clang-format off */
static const struct row {
    const char *name;
    tr_status (*event)(struct sleeper *sleeper);
    struct outcome outcomes[PLACES];
} rows[] = {
    /*            Loading            Started           SleepGrace        serializes
                  writes             DestroyGrace      Destroying        Terminated */
    {"started", started,
                {{OK, STARTED},      {BAD, 0},         {BAD, 0},         {BAD, 0},
                 {BAD, 0},           {BAD, 0},         {BAD, 0},         {GONE, 0}}},
    {"start_failed", start_failed,
                {{OK, ENDED},        {BAD, 0},         {BAD, 0},         {BAD, 0},
                 {BAD, 0},           {BAD, 0},         {BAD, 0},         {GONE, 0}}},
    {"raise", raise_one,
                {{OK, LOADING},      {OK, STARTED},    {OK, GRACE},      {OK, SERIALIZES},
                 {OK, WRITES},       {OK, D_GRACE},    {OK, DESTROYING}, {GONE, 0}}},
    {"drop", drop_none,
                {{OK, LOADING},      {OK, STARTED},    {OK, GRACE},      {OK, SERIALIZES},
                 {OK, WRITES},       {OK, D_GRACE},    {OK, DESTROYING}, {OK, ENDED}}},
    {"ask for sleep", ask_sleep,
                {{STARTS, 0},        {OK, STARTED},    {STOPS, 0},       {STOPS, 0},
                 {STOPS, 0},         {STOPS, 0},       {STOPS, 0},       {STOPS, 0}}},
    {"ask for the end", ask_destroy,
                {{STARTS, 0},        {OK, STARTED},    {OK, GRACE},      {STOPS, 0},
                 {STOPS, 0},         {STOPS, 0},       {STOPS, 0},       {STOPS, 0}}},
    {"evict", evict,
                {{NO, 0},            {OK, STARTED},    {NO, 0},          {NO, 0},
                 {NO, 0},            {NO, 0},          {NO, 0},          {NO, 0}}},
    {"stop to sleep", stop_sleep,
                {{OK, LOADING},      {OK, GRACE},      {STOPS, 0},       {STOPS, 0},
                 {STOPS, 0},         {STOPS, 0},       {STOPS, 0},       {GONE, 0}}},
    {"stop to destroy", stop_destroy,
                {{OK, LOADING},      {OK, D_GRACE},    {OK, D_GRACE},    {STOPS, 0},
                 {STOPS, 0},         {STOPS, 0},       {STOPS, 0},       {GONE, 0}}},
    {"shutdown", shut_down,
                {{OK, LOADING},      {OK, STARTED},    {OK, GRACE},      {OK, SERIALIZES},
                 {OK, WRITES},       {OK, D_GRACE},    {OK, DESTROYING}, {OK, ENDED}}},
    {"early timer", early_timer,
                {{OK, LOADING},      {OK, STARTED},    {OK, GRACE},      {OK, SERIALIZES},
                 {OK, WRITES},       {OK, D_GRACE},    {OK, DESTROYING}, {OK, ENDED}}},
    {"late timer", late_timer,
                {{OK, LOADING},      {OK, STARTED},    {OK, SERIALIZES}, {OK, WRITES},
                 {OK, WRITES},       {OK, DESTROYING}, {OK, DESTROYING}, {OK, ENDED}}},
    {"on_sleep begins", on_sleep_begins,
                {{BAD, 0},           {BAD, 0},         {OK, GRACE},      {BAD, 0},
                 {BAD, 0},           {BAD, 0},         {BAD, 0},         {GONE, 0}}},
    {"on_sleep ends", on_sleep_ends,
                {{BAD, 0},           {BAD, 0},         {OK, SERIALIZES}, {BAD, 0},
                 {BAD, 0},           {BAD, 0},         {BAD, 0},         {GONE, 0}}},
    {"on_destroy begins", on_destroy_begins,
                {{BAD, 0},           {BAD, 0},         {BAD, 0},         {BAD, 0},
                 {BAD, 0},           {OK, D_GRACE},    {BAD, 0},         {GONE, 0}}},
    {"on_destroy ends", on_destroy_ends,
                {{BAD, 0},           {BAD, 0},         {BAD, 0},         {BAD, 0},
                 {BAD, 0},           {OK, DESTROYING}, {BAD, 0},         {GONE, 0}}},
    {"serialized", serialized,
                {{BAD, 0},           {BAD, 0},         {BAD, 0},         {OK, WRITES},
                 {BAD, 0},           {BAD, 0},         {BAD, 0},         {GONE, 0}}},
    {"written", written,
                {{BAD, 0},           {BAD, 0},         {BAD, 0},         {BAD, 0},
                 {OK, ENDED},        {BAD, 0},         {OK, ENDED},      {GONE, 0}}},
    {"crash", crash,
                {{OK, ENDED},        {OK, ENDED},      {OK, ENDED},      {OK, ENDED},
                 {OK, ENDED},        {OK, ENDED},      {OK, ENDED},      {GONE, 0}}},
};
/* clang-format on */

enum { ROWS = sizeof rows / sizeof rows[0] };

static bool is_at(const struct sleep_machine *machine, enum place place)
{
    if (machine->state != state_of[place])
        return false;
    return machine->state != SLEEP_FINALIZE || machine->awaits_serialized == (place == SERIALIZES);
}

TEST(every_event_in_every_state_does_what_the_table_says, "Z-02", "Z-10")
{
    for (int row = 0; row < ROWS; row++) {
        for (enum place place = 0; place < PLACES; place++) {
            struct sleeper sleeper;
            reach(&sleeper, place);
            struct outcome expected = rows[row].outcomes[place];
            tr_status status = rows[row].event(&sleeper);
            ck_assert_msg((int)status == expected.status,
                          "%s in %s: %s",
                          rows[row].name,
                          tr__sleep_state_name(state_of[place]),
                          tr_status_name(status));
            sleeper_steps(&sleeper);
            enum place after = expected.status == OK ? expected.place : place;
            ck_assert_msg(is_at(&sleeper.machine, after),
                          "%s in %s leads to %s",
                          rows[row].name,
                          tr__sleep_state_name(state_of[place]),
                          tr__sleep_state_name(sleeper.machine.state));
            if (expected.status != OK)
                ck_assert_str_eq(sleeper.text, "");
        }
    }
}

TEST(a_second_event_finds_the_machine_in_order, "Z-02")
{
    /* Every pair of events in every state, without the steps in between: then the end is reached. */
    for (int first = 0; first < ROWS; first++)
        for (int second = 0; second < ROWS; second++)
            for (enum place place = 0; place < ENDED; place++) {
                struct sleeper sleeper;
                reach(&sleeper, place);
                (void)rows[first].event(&sleeper);
                (void)rows[second].event(&sleeper);
                sleeper_steps(&sleeper);
                (void)crash(&sleeper);
                sleeper_steps(&sleeper);
                ck_assert_int_eq(sleeper.machine.state, SLEEP_TERMINATED);
                ck_assert_int_eq(sleeper.last.step, STEP_TERMINATED);
                ck_assert_uint_eq(sleeper.machine.wake_locks.raised, 0);
            }
}

TEST(the_door_and_the_readiness_of_every_state_are_those_of_the_contract, "")
{
    static const enum sleep_door doors[PLACES] = {
        SLEEP_DOOR_HOLD,
        SLEEP_DOOR_SERVE,
        SLEEP_DOOR_SERVE,
        SLEEP_DOOR_NEXT,
        SLEEP_DOOR_NEXT,
        SLEEP_DOOR_REFUSE,
        SLEEP_DOOR_REFUSE,
        SLEEP_DOOR_NEXT,
    };
    for (enum place place = 0; place < PLACES; place++) {
        struct sleeper sleeper;
        reach(&sleeper, place);
        ck_assert_int_eq(tr__sleep_door(&sleeper.machine), doors[place]);
        ck_assert_int_eq(tr__sleep_can_arm(&sleeper.machine),
                         place == STARTED ? COUNTER_NONE : COUNTER_NOT_READY);
    }
}

TEST(every_state_says_why, "")
{
    static const char *const texts[PLACES] = {
        "Loading, waits for its start",
        "Started, 30.000 s left, waits for its idle time",
        "SleepGrace, 15.000 s left, waits for dispatched hooks: on_sleep, not started (0.000 s)",
        "SleepFinalize, 15.000 s left, waits for its state to be serialized",
        "SleepFinalize, waits for its writes",
        ("DestroyGrace, 15.000 s left, waits for dispatched hooks: on_destroy, "
         "not started (0.000 s)"),
        "Destroying, waits for its writes",
        "Terminated, waits for nothing: asleep",
    };
    for (enum place place = 0; place < PLACES; place++) {
        struct sleeper sleeper;
        char text[WAKE_LOCKS_TEXT_SIZE];
        reach(&sleeper, place);
        tr__sleep_why(&sleeper.machine, sleeper.now, text, sizeof text);
        ck_assert_str_eq(text, texts[place]);
    }
}

TEST(the_one_timer_is_armed_exactly_when_something_is_due, "")
{
    for (enum place place = 0; place < PLACES; place++) {
        struct sleeper sleeper;
        reach(&sleeper, place);
        bool is_armed =
            place == STARTED || place == GRACE || place == SERIALIZES || place == D_GRACE;
        ck_assert_int_eq(sleeper.machine.due != SLEEP_NEVER, is_armed);
    }
}

SUITE("durable sleep table", every_event_in_every_state_does_what_the_table_says,
      a_second_event_finds_the_machine_in_order,
      the_door_and_the_readiness_of_every_state_are_those_of_the_contract, every_state_says_why,
      the_one_timer_is_armed_exactly_when_something_is_due)
