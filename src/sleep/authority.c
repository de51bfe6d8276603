/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Both ends of the exchange of notes about a generation: the actor's end, and its authority, which
 * begins and ends generations.
 */
#include "sleep/authority.h"

#include "base/assert.h"

/* ---- One end of the exchange. ---- */

void tr__note_end_init(struct note_end *end, uint64_t actor, struct generation generation)
{
    *end = (struct note_end){
        .actor = actor,
        .generation = generation,
        .resend_at = SLEEP_NEVER,
        .resend_after = NOTE_RESEND_FIRST_NS,
    };
}

tr_status tr__note_send(struct note_end *end, struct note content, tr_time now, struct note *note)
{
    if (end->sent == NOTES_MAX)
        return TR_LIMIT;
    content.actor = end->actor;
    content.generation = end->generation;
    content.index = ++end->sent;
    end->notes[content.index - 1] = content;
    end->resend_after = NOTE_RESEND_FIRST_NS;
    end->resend_at = now + end->resend_after;
    *note = content;
    return TR_OK;
}

enum note_verdict tr__note_receive(struct note_end *end, const struct note *note,
                                   struct note_receipt *receipt)
{
    if (note->actor != end->actor)
        return NOTE_DROP;
    int age = generation_compare(note->generation, end->generation);
    if (age > 0)
        return NOTE_DROP;
    *receipt = (struct note_receipt){note->actor, note->generation, note->index};
    if (age < 0)
        return NOTE_OLD;
    if (note->index == 0 || note->index > end->taken + 1)
        return NOTE_DROP;
    receipt->index = end->taken;
    if (note->index <= end->taken)
        return NOTE_REPEATED;
    receipt->index = ++end->taken;
    return NOTE_TAKE;
}

void tr__note_acknowledge(struct note_end *end, const struct note_receipt *receipt)
{
    bool is_mine = receipt->actor == end->actor &&
                   generation_compare(receipt->generation, end->generation) == 0;
    if (!is_mine || receipt->index > end->sent || receipt->index <= end->acknowledged)
        return;
    end->acknowledged = receipt->index;
    end->resend_after = NOTE_RESEND_FIRST_NS;
    if (end->acknowledged == end->sent)
        end->resend_at = SLEEP_NEVER;
}

const struct note *tr__note_pending_at(const struct note_end *end, uint32_t i)
{
    TR_ASSERT(i < note_pending(end));
    return &end->notes[end->acknowledged + i];
}

bool tr__note_resend(struct note_end *end, tr_time now)
{
    if (now < end->resend_at)
        return false;
    end->resend_after *= 2;
    if (end->resend_after > NOTE_RESEND_LAST_NS)
        end->resend_after = NOTE_RESEND_LAST_NS;
    end->resend_at = now + end->resend_after;
    return true;
}

/* ---- The authority. ---- */

/*
 * Enters a phase and sends its command. Each phase is entered once in a generation, so each command is sent once and
 * NOTES_MAX is enough.
 */
static void authority_command(struct authority *authority, enum authority_phase phase,
                              tr_time grace_ns, tr_time now, struct authority_answer *answer)
{
    TR_ASSERT(phase > authority->phase);
    authority->phase = phase;
    struct note content = {
        .kind = phase == AUTHORITY_TO_DESTROY ? NOTE_STOP_DESTROY : NOTE_STOP_SLEEP,
        .grace_ns = grace_ns,
    };
    tr_status status = tr__note_send(&authority->end, content, now, &answer->command);
    TR_ASSERT(status == TR_OK);
    answer->has_command = true;
}

static void authority_ended(struct authority *authority, enum sleep_outcome outcome,
                            struct authority_answer *answer)
{
    authority->phase = AUTHORITY_ASLEEP;
    /* The generation is over, so the authority sends none of its commands again. */
    authority->end.acknowledged = authority->end.sent;
    authority->end.resend_at = SLEEP_NEVER;
    answer->has_ended = true;
    answer->outcome = outcome;
}

void tr__authority_init(struct authority *authority, uint64_t actor)
{
    *authority = (struct authority){.phase = AUTHORITY_ASLEEP};
    tr__note_end_init(&authority->end, actor, (struct generation){0, 0});
}

tr_status tr__authority_begin(struct authority *authority, struct generation generation)
{
    if (authority->phase != AUTHORITY_ASLEEP)
        return TR_INVALID_TRANSITION;
    if (generation_compare(generation, authority->end.generation) <= 0)
        return TR_INVALID_ARGUMENT;
    tr__note_end_init(&authority->end, authority->end.actor, generation);
    authority->phase = AUTHORITY_AWAKE;
    return TR_OK;
}

static void authority_want(struct authority *authority, enum sleep_reason reason, tr_time grace_ns,
                           tr_time now, struct authority_answer *answer)
{
    enum authority_phase phase =
        reason == SLEEP_REASON_DESTROY ? AUTHORITY_TO_DESTROY : AUTHORITY_TO_SLEEP;
    if (authority->phase != AUTHORITY_ASLEEP && authority->phase < phase)
        authority_command(authority, phase, grace_ns, now, answer);
}

void tr__authority_stop(struct authority *authority, enum sleep_reason reason, tr_time grace_ns,
                        tr_time now, struct authority_answer *answer)
{
    *answer = (struct authority_answer){0};
    authority_want(authority, reason, grace_ns, now, answer);
}

void tr__authority_receive(struct authority *authority, const struct note *note, tr_time now,
                           struct authority_answer *answer)
{
    *answer = (struct authority_answer){0};
    /* A note of a generation that is over changes nothing, but still gets a receipt. */
    enum note_verdict verdict = tr__note_receive(&authority->end, note, &answer->receipt);
    answer->has_receipt = verdict != NOTE_DROP;
    if (verdict != NOTE_TAKE || authority->phase == AUTHORITY_ASLEEP)
        return;
    switch (note->kind) {
    case NOTE_SLEEP:
        authority_want(authority, SLEEP_REASON_SLEEP, note->grace_ns, now, answer);
        break;
    case NOTE_DESTROY:
        authority_want(authority, SLEEP_REASON_DESTROY, note->grace_ns, now, answer);
        break;
    case NOTE_ENDED:
        authority_ended(authority, note->outcome, answer);
        break;
    case NOTE_STOP_SLEEP:
    case NOTE_STOP_DESTROY:
        break; /* Commands come from the authority itself, never from the actor. */
    }
}

void tr__authority_lost(struct authority *authority, struct authority_answer *answer)
{
    *answer = (struct authority_answer){0};
    if (authority->phase != AUTHORITY_ASLEEP)
        authority_ended(authority, SLEEP_ENDED_CRASHED, answer);
}
