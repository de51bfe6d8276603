/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every declaration and every verb once, in C.
 */
#include <troupe/kit.h>
#include <troupe/troupe.h>

enum color { RED, GREEN };

TR_ACTOR(account, deposit, get_balance, paint, );
TR_MESSAGE(balance, (u64, cents));
TR_MESSAGE(deposit, (u64, amount), (str, memo));
TR_MESSAGE(open_account, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_REQUEST(transfer, tr_done, (ref_of(account), to), (u64, cents), );
TR_MESSAGE(paint, (bool, is_shiny), (i8, a), (i16, b), (i32, c), (i64, d), (u8, e), (u16, f),
           (u32, g), (u64, h), (f32, i), (f64, j), (int32_t, k), (double, l), (size_t, m),
           (tr_time, n), (int, o), (enum_of(color), shade), (str, name), (bytes, raw),
           (buffer, pixels), (ref, who), (ref_of(account), owner), (message(deposit), first),
           (array(u8, 4), rgba), (array(message(deposit), 2), two), (list(u32), numbers),
           (list(str), names), (list(message(deposit)), all), (list(enum_of(color)), shades),
           (optional(u32), width), (optional(str), note), (optional(message(deposit)), last),
           (optional(enum_of(color)), hint));

struct point {
    int x, y;
    const char *name;
    double weights[3];
    char hidden;
};
TR_DESCRIBE(point, x, y, name, weights);

struct account {
    uint64_t cents;
    char *memo;
};
TR_BEHAVIOR_DECLARE(closed);
TR_BEHAVIOR_DECLARE(frozen);

static void release(void *resource)
{
    (void)resource;
}

static tr_next set_up(tr_self *self, struct account *account, const struct open_account *message)
{
    account->cents = message->cents;
    account->memo = tr_alloc(self, 10);
    account->memo = tr_realloc(self, account->memo, 20);
    tr_at_end(self, account->memo, release);
    return TR_SAME;
}

static tr_next on_deposit(struct account *account, const struct deposit *message)
{
    account->cents += message->amount;
    return TR_SAME;
}

static tr_next on_get_balance(tr_self *self, struct account *account)
{
    if (account->cents == 0)
        return tr_fail(self, TR_BAD_DATA, "no %s", "money");
    if (tr_try_reply(self, balance, .cents = account->cents) == TR_NO_SENDER)
        tr_crash(self, TR_NO_SENDER, "nobody asked");
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_paint(tr_self *self, const struct paint *message)
{
    static const struct deposit two[] = {{.amount = 1}, {.amount = 2, .memo = "second"}};
    tr_buffer *pixels = tr_buffer_of_turn(self, 100);
    tr_buffer_keep(self, message->pixels);
    tr_tell(self,
            message->owner,
            paint,
            .is_shiny = true,
            .shade = GREEN,
            .raw = {"abc", 3},
            .pixels = pixels,
            .who = tr_me(self),
            .first = {.amount = 3},
            .rgba = {1, 2, 3, 4},
            .all = {two, 2},
            .width = {true, 5},
            .note = {.has = false},
            .last = {true, {.amount = 4}},
            .names = {(const char *const[]){"a", "b"}, 2});
    tr_tell_copy(self, message->owner, deposit, &message->first);
    return tr_forward(self, message->owner);
}

static tr_next on_transfer(tr_self *self, const struct transfer *message)
{
    if (message->cents == 0)
        return tr_become(self, closed);
    return tr_become(self, frozen, open_account, .cents = message->cents);
}

static tr_next on_any(tr_self *self, const tr_message *message)
{
    tr_log_debug(self, "%s", message->type->name);
    tr_log_info(self, "plain");
    tr_log_warn(self, "%d", 1);
    tr_log_error(self, "%d", 2);
    tr_log(self, TR_LEVEL_INFO, "%s", tr_path(self));
    return TR_DECLINE;
}

static tr_next on_stop(void)
{
    return TR_STOP;
}

TR_BEHAVIOR(account, struct account, TR_SETUP_WITH(open_account, set_up),
            TR_ON(deposit, on_deposit), TR_ON(get_balance, on_get_balance), TR_ON(paint, on_paint),
            TR_ON(transfer, on_transfer), TR_ON(tr_post_stop, on_stop), TR_ON_ANY(on_any),
            TR_OPTIONS(.ordering = TR_BY_KIND, .is_pinned = true), );

static tr_next set_up_closed(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(closed, void, TR_SETUP(set_up_closed));
TR_BEHAVIOR(frozen, struct account, TR_SETUP_WITH(open_account, set_up));

static tr_next on_start(tr_self *self)
{
    account_ref alice = tr_spawn(self, account, "alice", open_account, .cents = 100);
    account_ref bob = tr_spawn(self, account, NULL, open_account);
    account_ref carl = tr_spawn_at(self, 1, account, "carl", open_account, .cents = 1);
    account_ref none = tr_spawn(self, account, "none");
    tr_error error;
    tr_ref children[4];
    if (tr_try_spawn(self, &alice, account, "alice") != TR_OK ||
        tr_try_spawn(self, &alice, account, "alice", open_account, .cents = 1) != TR_OK ||
        tr_try_spawn_at(self, &alice, 1, account, "alice", open_account) != TR_OK ||
        tr_try_spawn_at(self, &alice, 1, account, "alice") != TR_OK ||
        tr_try_spawn_error(self, &alice, &error, account, "alice") != TR_OK ||
        tr_try_spawn_error(self, &alice, &error, account, "alice", open_account, .cents = 1) !=
            TR_OK)
        tr_log_error(self, "%s: %s at %s", tr_status_name(error.status), error.text, error.where);
    tr_tell(self, bob, deposit, .amount = 5, .memo = tr_format(self, "%d", 5));
    tr_tell(self, tr_any(bob), transfer, .to = alice);
    tr_tell(self, bob, get_balance);
    if (tr_tell(self, tr_sender(self), tr_done) == TR_STOPPED)
        tr_stop_child(self, tr_child(self, account, "bob"));
    tr_tell(self, account_ref_of(tr_parent(self)), deposit, .amount = tr_random(self));
    tr_kill(self, tr_find(self, account, "/user/app/carl"));
    tr_stop(self, carl);
    tr_watch(self, alice);
    tr_watch(self, tr_any(alice));
    if (tr_try_watch(self, bob) == TR_OK)
        tr_unwatch(self, bob);
    if (!tr_is_same(alice, bob) && !tr_is_nobody(none) && tr_is_nobody(TR_NOBODY))
        tr_log_info(self,
                    "%zu children, worker %d of %d",
                    tr_children(self, children, 4),
                    tr_worker(self),
                    tr_system_workers(tr_system_of(self)));
    tr_log_info(self,
                "%s %s %lld %lld %llu",
                tr_name(self),
                tr_strdup(self, "kept"),
                (long long)tr_now(self),
                (long long)tr_wall_now(self),
                (unsigned long long)tr_causal_id(self));
    tr_defer(self, tr_scratch(self, 100), release);
    tr_free(self, tr_try_alloc(self, 5));
    tr_free(self, tr_try_realloc(self, tr_try_scratch(self, 5), 6));
    return TR_SAME;
}

static tr_next on_args(const struct tr_args *args)
{
    return args->argv.count > 1 ? TR_STOP : TR_SAME;
}

static tr_next on_dead_letter(tr_self *self, const struct tr_dead_letter *letter)
{
    tr_log_info(self, "%s %s", letter->type, tr_status_text((tr_status)letter->reason));
    return TR_SAME;
}

TR_BEHAVIOR(app, void, TR_ON(tr_pre_start, on_start), TR_ON(tr_args, on_args),
            TR_ON(tr_dead_letter, on_dead_letter));

static tr_next close_down(tr_self *self, void *argument)
{
    tr_log_info(self, "%p", argument);
    tr_system_shutdown(tr_system_of(self), 5 * TR_SECOND);
    return TR_STOP;
}

static tr_status outside(void)
{
    tr_system *system;
    tr_client *client;
    account_ref alice;
    tr_error error;
    tr_counters counters;
    tr_dead_letter_record last[10];
    size_t count;
    tr_status status =
        tr_system_new(&(tr_system_options){.name = "test", .workers = 2, .spin_ns = -1}, &system);
    if (status || (status = tr_system_start(system)) || (status = tr_client_new(system, &client)))
        return status;
    if ((status = tr_try_spawn(client, &alice, account, "alice", open_account, .cents = 5)) ||
        (status = tr_try_spawn_at(client, &alice, 1, account, "bob")) ||
        (status = tr_try_spawn_error(client, &alice, &error, account, "carl")) ||
        (status = tr_spawn_wait(client, alice, TR_SECOND, &error)))
        return status;
    struct deposit deposit = {.amount = 5};
    tr_tell(client, alice, get_balance);
    tr_tell_copy(client, alice, deposit, &deposit);
    const struct balance *balance = tr_receive(client, balance, TR_NEVER);
    tr_message message = tr_receive_any(client, 0);
    const struct balance *any = tr_message_as(&message, balance);
    if (any && any->cents == 4)
        tr_stop(client, alice);
    if (balance && balance->cents == 5)
        tr_stop(client, tr_find(client, account, "/user/alice"));
    if (tr_watch(client, alice) == TR_OK && tr_try_watch(client, alice) == TR_OK)
        tr_unwatch(client, alice);
    tr_kill(client, alice);
    tr_schedule schedule;
    if ((status = tr_schedule_once(system, NULL, TR_SECOND, alice, get_balance)) ||
        (status =
             tr_schedule_fixed_rate(system, &schedule, TR_HOUR, alice, deposit, .amount = 5)) ||
        (status = tr_schedule_fixed_delay(
             system, &schedule, TR_HOUR, alice, deposit, .amount = 5, .memo = "fee")) ||
        (status = tr_schedule_call(system, NULL, TR_TIMER_ONCE, TR_HOUR, close_down, NULL)))
        return status;
    if (tr_schedule_cancel(system, schedule) == TR_TIMER_CANCELLED)
        schedule = (tr_schedule){0};
    tr_system_counters(system, &counters);
    if (tr_system_dead_letters(tr_client_system(client), last, 10, &count) > counters.dead_letters)
        tr_system_subscribe_dead_letters(system, tr_client_ref(client));
    tr_system_unsubscribe_dead_letters(system, tr_client_ref(client));
    tr_client_free(client);
    tr_system_shutdown(system, TR_MINUTE);
    status = tr_system_wait(system);
    tr_system_free(system);
    return status;
}

static bool in_the_kit(void)
{
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.seed = 3});
    tr_tell(tr_kit_client(kit), TR_NOBODY, deposit, .amount = 1);
    tr_kit_fail_allocation(kit, 3, false);
    tr_kit_advance(kit, TR_HOUR);
    tr_kit_check(kit);
    bool is_new = tr_kit_step(kit) && tr_kit_settle(kit) > 0 && tr_kit_now(kit) > 0 &&
                  tr_kit_wall_now(kit) > 0 && tr_kit_trace(kit) != tr_kit_allocations(kit) &&
                  tr_system_fd(tr_kit_system(kit)) > 0;
    tr_kit_free(kit);
    return is_new;
}

int main(int argc, char **argv)
{
    if (outside() != TR_OK || in_the_kit())
        return 1;
    char text[10];
    struct point point = {.x = 1};
    struct point *copy = tr_message_copy(&tr_type_point, &point);
    tr_type_print(&tr_type_point, copy, text, sizeof(text));
    tr_message_free(&tr_type_point, copy);
    return tr_app_main(argc, argv, app, .name = "app", .workers = 2) +
           tr_app_main(argc, argv, account);
}
