/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The sleep machine under random events that also come while steps are performed, which no simple
 * reference can follow: the rules of support/sleep_rules.h hold at each step and after all.
 */
#include "support/test.h"

#include "support/sleep_rules.h"

struct life {
    struct teller teller;
    struct sleep_witness witness;
    uint64_t events;
};

static void tell_one(struct life *life)
{
    struct told told = teller_choose(&life->teller);
    sleep_witness_event(&life->witness, &told, teller_tell(&life->teller, &told));
    life->events++;
}

static void perform_all(struct life *life)
{
    struct sleep_machine *machine = &life->teller.machine;
    struct sleep_action action;
    while (!(life->witness.seen & SEEN(TERMINATED)) &&
           tr__sleep_next(machine, life->teller.now, &action)) {
        const char *broken = sleep_witness_step(&life->witness, machine, &action);
        ck_assert_msg(!broken, "%s: %s", tr__sleep_step_name(action.step), broken);
        while (action.step != STEP_TERMINATED && teller_chance(&life->teller, 20))
            tell_one(life);
    }
    const char *broken = sleep_witness_rest(&life->witness, machine, life->teller.now);
    ck_assert_msg(!broken, "at rest in %s: %s", tr__sleep_state_name(machine->state), broken);
}

TEST(the_rules_hold_when_events_come_while_steps_are_performed, "Z-02")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    uint64_t events = test_scale(1000000, 20000000);
    uint64_t ends[SLEEP_ENDED_CRASHED + 1] = {0};
    uint64_t lives = 0;
    uint64_t warnings = 0;
    for (uint64_t done = 0; done < events; lives++) {
        struct life life = {0};
        teller_init(&life.teller, &rng);
        sleep_witness_init(&life.witness);
        while (!(life.witness.seen & SEEN(TERMINATED))) {
            tell_one(&life);
            if (teller_chance(&life.teller, 70))
                perform_all(&life);
        }
        for (int i = 0; i < WORKS; i++)
            ck_assert(!wake_lock_is_raised(&life.teller.works[i]));
        ends[life.teller.machine.outcome]++;
        warnings += (life.witness.seen & SEEN(WARN)) != 0;
        done += life.events;
    }
    ck_assert_uint_gt(warnings, lives / 100);
    for (int i = SLEEP_ENDED_ASLEEP; i <= SLEEP_ENDED_CRASHED; i++)
        ck_assert_uint_gt(ends[i], lives / 100);
}

SUITE("durable sleep rules", the_rules_hold_when_events_come_while_steps_are_performed)
