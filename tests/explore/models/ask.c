/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The slot of an ask: one word of generation and state, which the reply and the timeout fight for.
 *
 * The asker gives a first ask up at any moment and asks again in the same slot. A late reply must
 * never end the second ask. The protocol is the model's own: a reply claims the word by
 * compare-exchange from (its generation, WAITING), writes the answer, and sets DONE.
 */
#include "models/office.h"

enum { FREE, WAITING, CLAIMED, DONE, STATE_BITS = 2 };

#if CANARY == 5
#define WORD(generation, state) ((void)(generation), (uint32_t)(state))
#else
#define WORD(generation, state) ((uint32_t)(generation) << STATE_BITS | (uint32_t)(state))
#endif

static atom32 slot;
static int answer; /* plain: written by who claims, read by the asker after DONE */
static struct explore_parker asker_parker;
static atom32 requests[2]; /* the generation that each replier is asked for; 0 for not yet */
static int outcomes[2];
static int replies_late;

static void setup(void)
{
    atom32_init(&slot, WORD(0, FREE));
    explore_name(&slot, "slot");
    for (int i = 0; i < 2; i++)
        atom32_init(&requests[i], 0);
    explore_name(&requests[0], "request 1");
    explore_name(&requests[1], "request 2");
    explore_name(&answer, "answer");
    explore_name(&asker_parker, "asker");
    asker_parker = (struct explore_parker){.may_wake_early = true, .orders_memory = true};
    outcomes[0] = outcomes[1] = 0;
    replies_late = 0;
    answer = 0;
}

/* True when the answer is there. */
static bool slot_is_done(uint32_t generation)
{
    return atom32_load(&slot, ATOM_ACQUIRE) == WORD(generation, DONE);
}

static void outcome_add(uint32_t ask, int generation_answered)
{
    EXPLORE_CHECK(!outcomes[ask - 1]++, "an ask has two outcomes");
    EXPLORE_CHECK(generation_answered == (int)ask, "a late reply ends the next ask");
}

static void wait_for_answer(uint32_t generation)
{
    while (!slot_is_done(generation))
        explore_park(&asker_parker);
    explore_plain_read(&answer);
    outcome_add(generation, answer);
}

static void asker(int index)
{
    (void)index;
    for (uint32_t generation = 1; generation <= 2; generation++) {
        atom32_store(&slot, WORD(generation, WAITING), ATOM_RELEASE);
        atom32_store(&requests[generation - 1], generation, ATOM_RELEASE);
        explore_note("ask %u", generation);
        uint32_t waiting = WORD(generation, WAITING);
        if (generation == 1 && explore_choose(2) &&
            atom32_compare_exchange(
                &slot, &waiting, WORD(generation, FREE), ATOM_ACQUIRE, ATOM_RELAXED)) {
            explore_note("ask %u times out", generation);
            outcomes[0]++;
            continue;
        }
        wait_for_answer(generation);
    }
}

static void replier(int index)
{
    uint32_t generation;
    while (!(generation = atom32_load(&requests[index], ATOM_ACQUIRE)))
        atom_pause();
    uint32_t waiting = WORD(generation, WAITING);
    if (!atom32_compare_exchange(
            &slot, &waiting, WORD(generation, CLAIMED), ATOM_ACQUIRE, ATOM_RELAXED)) {
        replies_late++;
        explore_note("the reply to ask %u is late", generation);
        return;
    }
    explore_plain_write(&answer);
    answer = (int)generation;
    atom32_store(&slot, WORD(generation, DONE), ATOM_RELEASE);
    explore_unpark(&asker_parker);
}

static void check(void)
{
    EXPLORE_CHECK(outcomes[0] == 1, "the first ask has no outcome");
    EXPLORE_CHECK(outcomes[1] == 1, "the second ask has no outcome");
}

#define THREADS .threads = {{"replier 1", replier}, {"replier 2", replier}, {"asker", asker}}

#if CANARY == 0
EXPLORE_MODEL(ask, .about = "a late reply never ends the next ask in the same slot", .ids = "",
              .setup = setup, .check = check, THREADS);
#elif CANARY == 5
EXPLORE_MODEL(canary5_ask_generation, .about = "canary 5: an ask slot without generation",
              .ids = "", .is_wrong = true, .setup = setup, .check = check, THREADS);
#endif
