/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fuzzes the sequence of events of the sleep machine against its rules. Four bytes are an event: which
 * (its high bit: it comes while a step is performed, if one is), a work, a counter, a time.
 */
#include "support/sleep_rules.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENT_BYTES = 4, INNER = 0x80 };

struct input {
    const uint8_t *data;
    size_t left;
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void tell(struct teller *teller, struct sleep_witness *witness, struct input *input)
{
    const uint8_t *bytes = input->data;
    /* Times from 0 to 36 s, finer where they are small. */
    tr_time span = (tr_time)bytes[3] * bytes[3] * bytes[3] * 2200;
    struct told told = {
        .event = (enum event)((bytes[0] & ~INNER) % EVENTS),
        .work = bytes[1] % WORKS,
        .counter = (enum sleep_counter)(bytes[2] % COUNTER_COUNT),
        .span = span,
        .status = bytes[2] & INNER ? TR_FAILED : TR_OK,
    };
    if (bytes[1] & INNER)
        teller->now += span;
    told.now = teller->now;
    input->data += EVENT_BYTES;
    input->left -= EVENT_BYTES;
    sleep_witness_event(witness, &told, teller_tell(teller, &told));
}

static void perform(struct teller *teller, struct sleep_witness *witness, struct input *input)
{
    struct sleep_action action;
    while (!(witness->seen & SEEN(TERMINATED)) &&
           tr__sleep_next(&teller->machine, teller->now, &action)) {
        require(!sleep_witness_step(witness, &teller->machine, &action));
        if (action.step == STEP_TERMINATED)
            break;
        while (input->left >= EVENT_BYTES && input->data[0] & INNER)
            tell(teller, witness, input);
    }
    require(!sleep_witness_rest(witness, &teller->machine, teller->now));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct teller teller = {.now = TR_SECOND};
    struct sleep_witness witness;
    struct input input = {data + 1, size - 1};
    char why[64];
    teller.options = (struct sleep_options){
        .has_on_sleep = data[0] & 1,
        .has_on_destroy = data[0] & 2,
        .no_sleep = data[0] & 4,
        .idle_ns = data[0] & 8 ? TR_SECOND : 0,
        .grace_ns = data[0] & 16 ? TR_SECOND : 0,
    };
    sleep_witness_init(&witness);
    tr__sleep_init(&teller.machine, &teller.options, teller.now);
    while (input.left >= EVENT_BYTES) {
        tell(&teller, &witness, &input);
        perform(&teller, &witness, &input);
        require(tr__sleep_why(&teller.machine, teller.now, why, sizeof why) < sizeof why);
    }
    return 0;
}
