/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The authority and the notes: one end, both ends, and both ends over a network that loses, doubles,
 * delays and cuts.
 */
#include "support/sleepers.h"

#include "base/rng.h"
#include "sleep/authority.h"

static const struct generation first = {3, 7};
static const struct generation second = {3, 8};
static const struct generation next_epoch = {4, 1};

static struct note send_note(struct note_end *end, enum note_kind kind)
{
    struct note note;
    ck_assert_int_eq(tr__note_send(end, (struct note){.kind = kind}, 0, &note), TR_OK);
    return note;
}

/* ---- one end ---- */

TEST(notes_are_taken_in_order_each_once, "Z-01")
{
    struct note_end actor, authority;
    struct note_receipt receipt = {0};
    tr__note_end_init(&actor, 1, first);
    tr__note_end_init(&authority, 1, first);
    struct note one = send_note(&actor, NOTE_SLEEP);
    struct note two = send_note(&actor, NOTE_DESTROY);
    ck_assert_int_eq(tr__note_receive(&authority, &two, &receipt), NOTE_DROP);
    ck_assert_int_eq(tr__note_receive(&authority, &one, &receipt), NOTE_TAKE);
    ck_assert_uint_eq(receipt.index, 1);
    ck_assert_int_eq(tr__note_receive(&authority, &one, &receipt), NOTE_REPEATED);
    ck_assert_uint_eq(receipt.index, 1);
    ck_assert_int_eq(tr__note_receive(&authority, &two, &receipt), NOTE_TAKE);
    /* The receipt of a repeated note says all that was taken. */
    ck_assert_int_eq(tr__note_receive(&authority, &one, &receipt), NOTE_REPEATED);
    ck_assert_uint_eq(receipt.index, 2);
    tr__note_acknowledge(&actor, &receipt);
    ck_assert_uint_eq(note_pending(&actor), 0);
}

TEST(notes_of_others_and_of_other_generations_are_dropped, "Z-01")
{
    struct note_end end, other;
    struct note_receipt receipt = {0};
    tr__note_end_init(&end, 1, second);
    tr__note_end_init(&other, 1, first);
    struct note note = send_note(&other, NOTE_SLEEP);
    ck_assert_int_eq(tr__note_receive(&end, &note, &receipt), NOTE_OLD);
    ck_assert_int_eq(generation_compare(receipt.generation, first), 0);
    tr__note_acknowledge(&other, &receipt);
    ck_assert_uint_eq(note_pending(&other), 0);
    note.generation = next_epoch;
    ck_assert_int_eq(tr__note_receive(&end, &note, &receipt), NOTE_DROP);
    note.generation = second;
    note.actor = 2;
    ck_assert_int_eq(tr__note_receive(&end, &note, &receipt), NOTE_DROP);
    note.actor = 1;
    note.index = 0;
    ck_assert_int_eq(tr__note_receive(&end, &note, &receipt), NOTE_DROP);
    note.index = UINT32_MAX;
    ck_assert_int_eq(tr__note_receive(&end, &note, &receipt), NOTE_DROP);
    ck_assert_uint_eq(end.taken, 0);
}

TEST(a_note_is_kept_until_its_receipt_and_no_other, "Z-01")
{
    struct note_end end;
    tr__note_end_init(&end, 1, first);
    send_note(&end, NOTE_SLEEP);
    send_note(&end, NOTE_DESTROY);
    const struct note_receipt wrong[] = {
        {2, first, 1}, {1, second, 1}, {1, first, 0}, {1, first, 3}, {1, first, UINT32_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        tr__note_acknowledge(&end, &wrong[i]);
    ck_assert_uint_eq(note_pending(&end), 2);
    ck_assert_int_eq(tr__note_pending_at(&end, 0)->kind, NOTE_SLEEP);
    tr__note_acknowledge(&end, &(struct note_receipt){1, first, 1});
    ck_assert_uint_eq(note_pending(&end), 1);
    ck_assert_int_eq(tr__note_pending_at(&end, 0)->kind, NOTE_DESTROY);
    ck_assert_int_ne(end.resend_at, SLEEP_NEVER);
    tr__note_acknowledge(&end, &(struct note_receipt){1, first, 2});
    ck_assert_int_eq(end.resend_at, SLEEP_NEVER);
    ck_assert(!tr__note_resend(&end, SLEEP_NEVER - 1));
    /* An end sends so many and no more, acknowledged or not. */
    send_note(&end, NOTE_ENDED);
    struct note note;
    ck_assert_int_eq(tr__note_send(&end, (struct note){.kind = NOTE_ENDED}, 0, &note), TR_LIMIT);
    ck_assert_uint_eq(note_pending(&end), 1);
}

TEST(a_note_goes_again_after_a_time_that_doubles_up_to_a_limit, "Z-01")
{
    struct note_end end;
    tr__note_end_init(&end, 1, first);
    ck_assert(!tr__note_resend(&end, TR_HOUR));
    send_note(&end, NOTE_SLEEP);
    tr_time now = 0;
    tr_time after = NOTE_RESEND_FIRST_NS;
    for (int i = 0; i < 10; i++) {
        ck_assert(!tr__note_resend(&end, now + after - 1));
        now += after;
        ck_assert(tr__note_resend(&end, now));
        after = after * 2 < NOTE_RESEND_LAST_NS ? after * 2 : NOTE_RESEND_LAST_NS;
    }
    ck_assert_int_eq(end.resend_after, NOTE_RESEND_LAST_NS);
}

/* ---- the authority ---- */

static struct authority awake_authority(void)
{
    struct authority authority;
    tr__authority_init(&authority, 1);
    ck_assert_int_eq(tr__authority_begin(&authority, first), TR_OK);
    return authority;
}

TEST(an_intent_is_answered_by_one_command, "Z-01")
{
    struct authority authority = awake_authority();
    struct authority_answer answer;
    struct note_end actor;
    tr__note_end_init(&actor, 1, first);
    struct note sleep = send_note(&actor, NOTE_SLEEP);
    tr__authority_receive(&authority, &sleep, 0, &answer);
    ck_assert(answer.has_receipt);
    ck_assert(answer.has_command);
    ck_assert_int_eq(answer.command.kind, NOTE_STOP_SLEEP);
    ck_assert_int_eq(authority.phase, AUTHORITY_TO_SLEEP);
    tr__authority_receive(&authority, &sleep, 0, &answer);
    ck_assert(answer.has_receipt);
    ck_assert(!answer.has_command);
    /* A destroy upgrades; a sleep after it changes nothing. */
    struct note destroy = send_note(&actor, NOTE_DESTROY);
    tr__authority_receive(&authority, &destroy, 0, &answer);
    ck_assert_int_eq(answer.command.kind, NOTE_STOP_DESTROY);
    ck_assert_uint_eq(answer.command.index, 2);
    tr__authority_stop(&authority, SLEEP_REASON_SLEEP, 0, 0, &answer);
    ck_assert(!answer.has_command);
    tr__authority_stop(&authority, SLEEP_REASON_DESTROY, 0, 0, &answer);
    ck_assert(!answer.has_command);
    ck_assert_uint_eq(note_pending(&authority.end), 2);
    ck_assert_int_eq(tr__authority_begin(&authority, second), TR_INVALID_TRANSITION);
}

TEST(a_destroy_that_came_too_late_ends_with_its_generation, "Z-01")
{
    struct authority authority = awake_authority();
    struct authority_answer answer;
    struct note_end actor;
    struct note note;
    tr__note_end_init(&actor, 1, first);
    tr__authority_stop(&authority, SLEEP_REASON_SLEEP, 5, 0, &answer);
    ck_assert_int_eq(answer.command.grace_ns, 5);
    tr__authority_stop(&authority, SLEEP_REASON_DESTROY, 0, 0, &answer);
    ck_assert(answer.has_command);
    struct note content = {.kind = NOTE_ENDED, .outcome = SLEEP_ENDED_ASLEEP};
    ck_assert_int_eq(tr__note_send(&actor, content, 0, &note), TR_OK);
    tr__authority_receive(&authority, &note, 0, &answer);
    ck_assert(answer.has_ended);
    ck_assert_uint_eq(note_pending(&authority.end), 0); /* Nobody is there to take them. */
    ck_assert_int_eq(tr__authority_begin(&authority, first), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__authority_begin(&authority, second), TR_OK);
    ck_assert_uint_eq(note_pending(&authority.end), 0);
    /* What the old generation still says is acknowledged, and that is all. */
    tr__authority_receive(&authority, &note, 0, &answer);
    ck_assert(answer.has_receipt);
    ck_assert(!answer.has_ended);
    tr__note_end_init(&actor, 1, second);
    content.outcome = SLEEP_ENDED_DESTROYED;
    ck_assert_int_eq(tr__note_send(&actor, content, 0, &note), TR_OK);
    tr__authority_receive(&authority, &note, 0, &answer);
    ck_assert(answer.has_ended);
}

TEST(a_sleeper_gets_no_command_and_a_lost_node_ends_its_generation, "")
{
    struct authority authority;
    struct authority_answer answer;
    tr__authority_init(&authority, 1);
    tr__authority_lost(&authority, &answer);
    ck_assert(!answer.has_ended);
    tr__authority_stop(&authority, SLEEP_REASON_SLEEP, 0, 0, &answer);
    ck_assert(!answer.has_command);
    tr__authority_stop(&authority, SLEEP_REASON_DESTROY, 0, 0, &answer);
    ck_assert(!answer.has_command);
    ck_assert_int_eq(tr__authority_begin(&authority, first), TR_OK);
    tr__authority_lost(&authority, &answer);
    ck_assert(answer.has_ended);
    ck_assert_int_eq(answer.outcome, SLEEP_ENDED_CRASHED);
    ck_assert_int_eq(tr__authority_begin(&authority, next_epoch), TR_OK);
}

/* ---- both ends over a bad network ---- */

enum { PACKETS_MAX = 64, ENDS_MAX = 4 };

struct packet {
    bool is_receipt;
    bool to_authority;
    struct note note;
    struct note_receipt receipt;
};

struct world {
    struct rng rng;
    unsigned badness; /* percent of packets that are lost, and of those that are doubled */
    bool is_cut;
    tr_time now;
    struct authority authority;
    struct note_end ends[ENDS_MAX]; /* by generation: the last is the present one */
    int end_count;
    struct sleep_machine machine;
    bool is_awake;
    bool is_stored;
    bool is_marked; /* the store has the mark of a destroy, which comes before the intent */
    struct packet packets[PACKETS_MAX];
    int packet_count;
    int stops; /* commands that reached the machine */
};

static bool chance(struct world *world, unsigned percent)
{
    return rng_below(&world->rng, 100) < percent;
}

static void post(struct world *world, struct packet packet)
{
    if (world->is_cut || chance(world, world->badness) || world->packet_count == PACKETS_MAX)
        return;
    world->packets[world->packet_count++] = packet;
    if (chance(world, world->badness))
        post(world, packet);
}

static void follow(struct world *world, const struct authority_answer *answer)
{
    if (answer->has_receipt)
        post(world, (struct packet){.is_receipt = true, .receipt = answer->receipt});
    if (answer->has_command)
        post(world, (struct packet){.note = answer->command});
}

static void wake(struct world *world)
{
    struct generation generation = {1, (uint64_t)world->end_count + 1};
    ck_assert(!world->is_awake);
    ck_assert_int_lt(world->end_count, ENDS_MAX);
    struct sleep_options options = {.has_on_sleep = true, .has_on_destroy = true};
    tr__sleep_init(&world->machine, &options, world->now);
    tr__note_end_init(&world->ends[world->end_count++], 9, generation);
    world->is_awake = true;
    world->is_stored = true;
    ck_assert_int_eq(tr__authority_begin(&world->authority, generation), TR_OK);
}

static void say(struct world *world, enum note_kind kind, enum sleep_outcome outcome)
{
    struct note note;
    struct note_end *end = &world->ends[world->end_count - 1];
    struct note content = {.kind = kind, .outcome = outcome};
    ck_assert_int_eq(tr__note_send(end, content, world->now, &note), TR_OK);
    post(world, (struct packet){.to_authority = true, .note = note});
}

static void perform(struct world *world)
{
    struct sleep_action action;
    while (world->is_awake && tr__sleep_next(&world->machine, world->now, &action)) {
        if (action.step == STEP_SEND_SLEEP)
            say(world, NOTE_SLEEP, 0);
        else if (action.step == STEP_SEND_DESTROY)
            say(world, NOTE_DESTROY, 0);
        else if (action.step == STEP_SERIALIZE)
            ck_assert_int_eq(tr__sleep_serialized(&world->machine, TR_OK), TR_OK);
        else if (action.step == STEP_WAIT_WRITES)
            ck_assert_int_eq(tr__sleep_written(&world->machine, TR_OK), TR_OK);
        else if (action.step == STEP_ERASE)
            world->is_stored = false;
        else if (action.step == STEP_TERMINATED) {
            world->is_awake = false;
            world->is_stored &=
                !world->is_marked; /* the end of a generation removes what is marked */
            say(world, NOTE_ENDED, action.outcome);
        }
    }
}

static void actor_gets(struct world *world, const struct packet *packet)
{
    struct note_receipt receipt;
    struct note_end *end = &world->ends[world->end_count - 1];
    if (packet->is_receipt) {
        for (int i = 0; i < world->end_count; i++)
            tr__note_acknowledge(&world->ends[i], &packet->receipt);
        return;
    }
    enum note_verdict verdict = tr__note_receive(end, &packet->note, &receipt);
    if (verdict == NOTE_DROP)
        return;
    if (verdict == NOTE_TAKE && world->is_awake) {
        bool destroys = packet->note.kind == NOTE_STOP_DESTROY;
        enum sleep_reason reason = destroys ? SLEEP_REASON_DESTROY : SLEEP_REASON_SLEEP;
        tr_status status = tr__sleep_stop(&world->machine, reason, 0, world->now);
        ck_assert(status == TR_OK || status == TR_STOPPING);
        world->stops++;
    }
    post(world, (struct packet){.is_receipt = true, .to_authority = true, .receipt = receipt});
}

static void deliver_one(struct world *world)
{
    if (world->packet_count == 0)
        return;
    /* Any of them: the order is lost. */
    int i = (int)rng_below(&world->rng, (uint64_t)(world->badness ? world->packet_count : 1));
    struct packet packet = world->packets[i];
    world->packet_count--;
    memmove(&world->packets[i],
            &world->packets[i + 1],
            sizeof packet * (size_t)(world->packet_count - i));
    if (!packet.to_authority) {
        actor_gets(world, &packet);
    } else if (packet.is_receipt) {
        tr__note_acknowledge(&world->authority.end, &packet.receipt);
    } else {
        struct authority_answer answer;
        tr__authority_receive(&world->authority, &packet.note, world->now, &answer);
        follow(world, &answer);
    }
}

static void replay(struct world *world, struct note_end *end, bool to_authority)
{
    for (uint32_t i = 0; i < note_pending(end); i++)
        post(world,
             (struct packet){.to_authority = to_authority, .note = *tr__note_pending_at(end, i)});
}

/* A connection that comes back begins with all that is not acknowledged. */
static void reconnect(struct world *world)
{
    world->is_cut = false;
    replay(world, &world->authority.end, false);
    for (int i = 0; i < world->end_count; i++)
        replay(world, &world->ends[i], true);
}

static void tick(struct world *world)
{
    world->now += 10 * TR_MILLISECOND;
    if (world->is_cut && chance(world, 10))
        reconnect(world);
    else if (chance(world, world->badness / 10)) {
        world->is_cut = true;
        world->packet_count = 0;
    }
    deliver_one(world);
    if (tr__note_resend(&world->authority.end, world->now))
        replay(world, &world->authority.end, false);
    for (int i = 0; i < world->end_count; i++)
        if (tr__note_resend(&world->ends[i], world->now))
            replay(world, &world->ends[i], true);
    if (world->is_awake) {
        struct sleep_machine *machine = &world->machine;
        if (machine->state == SLEEP_LOADING && chance(world, 20))
            ck_assert_int_eq(tr__sleep_started(machine, world->now), TR_OK);
        if (wake_lock_is_raised(&machine->on_sleep) && chance(world, 10))
            ck_assert_int_eq(tr__sleep_hook_end(machine, SLEEP_REASON_SLEEP, world->now), TR_OK);
        if (wake_lock_is_raised(&machine->on_destroy) && chance(world, 10))
            ck_assert_int_eq(tr__sleep_hook_end(machine, SLEEP_REASON_DESTROY, world->now), TR_OK);
        if (machine->due <= world->now)
            tr__sleep_timer(machine, world->now);
    }
    perform(world);
}

static bool is_quiet(const struct world *world)
{
    uint32_t pending = note_pending(&world->authority.end);
    for (int i = 0; i < world->end_count; i++)
        pending += note_pending(&world->ends[i]);
    return !world->is_awake && pending == 0 && world->authority.phase == AUTHORITY_ASLEEP;
}

/* One life: the user asks for what the script says, and what was accepted must come true. */
static void live(struct world *world, unsigned script, unsigned badness, uint64_t seed)
{
    *world = (struct world){.badness = badness};
    rng_init(&world->rng, seed);
    tr__authority_init(&world->authority, 9);
    wake(world);
    bool asks_sleep = script & 1;
    bool asks_destroy = script & 2;
    bool host_destroys = script & 4;
    for (int i = 0; i < 1000000 && !is_quiet(world); i++) {
        if (asks_sleep && chance(world, 5))
            asks_sleep = tr__sleep_ask(&world->machine, SLEEP_REASON_SLEEP, world->now) != TR_OK &&
                         world->is_awake;
        if (asks_destroy && world->is_awake && chance(world, 5) &&
            tr__sleep_ask(&world->machine, SLEEP_REASON_DESTROY, world->now) == TR_OK) {
            world->is_marked = true;
            asks_destroy = false;
        }
        if (host_destroys && world->is_awake && chance(world, 5)) {
            struct authority_answer answer;
            tr__authority_stop(&world->authority, SLEEP_REASON_DESTROY, 0, world->now, &answer);
            follow(world, &answer);
            world->is_marked = true;
            host_destroys = false;
        }
        tick(world);
    }
    ck_assert(is_quiet(world));
    ck_assert_int_eq(world->is_stored, !world->is_marked);
    ck_assert_int_le(world->stops, 2 * world->end_count);
}

TEST(loss_doubles_disorder_and_replay_give_the_same_final_state, "SL-18", "Z-01")
{
    static struct world world;
    uint64_t seed = test_seed();
    uint64_t lives = test_scale(400, 20000);
    for (uint64_t i = 0; i < lives; i++)
        for (unsigned script = 0; script < 8; script++) {
            static const unsigned badnesses[] = {0, 5, 20, 50};
            live(&world, script, badnesses[i % 4], seed + i * 8 + script);
        }
}

SUITE("durable authority", notes_are_taken_in_order_each_once,
      notes_of_others_and_of_other_generations_are_dropped,
      a_note_is_kept_until_its_receipt_and_no_other,
      a_note_goes_again_after_a_time_that_doubles_up_to_a_limit,
      an_intent_is_answered_by_one_command, a_destroy_that_came_too_late_ends_with_its_generation,
      a_sleeper_gets_no_command_and_a_lost_node_ends_its_generation,
      loss_doubles_disorder_and_replay_give_the_same_final_state)
