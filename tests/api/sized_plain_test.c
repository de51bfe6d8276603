/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The structs of the public headers whose size neither side says: they are compiled into programs, and keep their size as
 * long as the soname stays. tools/check-headers finds a struct that no test of sized_*_test.c names.
 */
#include <stdlib.h>
#include <troupe/app.h>
#include <troupe/callback.h>
#include <troupe/filter.h>
#include <troupe/kit_net.h>
#include <troupe/node.h>
#include <troupe/places.h>
#include <troupe/platform.h>
#include <troupe/shutdown.h>
#include <troupe/sql.h>
#include <troupe/troupe.h>

#include "support/test.h"

struct pinned {
    const char *name;
    size_t size;
    size_t expected;
};
#define PINNED(type, expected)                                                                     \
    {                                                                                              \
#type, sizeof(type), expected                                                              \
    }

static void check(const struct pinned *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(
            all[i].size == all[i].expected,
            "%s has %zu bytes and not %zu any more: programs that were compiled before do not "
            "run with this library; see docs/guide/upgrade.md",
            all[i].name,
            all[i].size,
            all[i].expected);
}

/* They are compiled into programs, and the library does not know what the program has. */
TEST(plain_values_keep_their_sizes, "U-02")
{
    static const struct pinned all[] = {
        PINNED(tr_alarm_mark, 32),
        PINNED(tr_later, 8),
        PINNED(tr_answer, 32),
        PINNED(tr_next, 4),
        PINNED(tr_kv, 32),
        PINNED(tr_hold, 16),
        PINNED(tr_event, 24),
        PINNED(tr_connection_id, 8),
        PINNED(struct tr_http_form_part, 24),
        PINNED(tr_http_call_ask, 8),
        PINNED(tr_bytes, 16),
        PINNED(tr_message, 16),
        PINNED(tr_pending, 8),
        PINNED(tr_channel, 8),
        PINNED(tr_channel_ask, 8),
        PINNED(tr_node_address, 256),
        PINNED(tr_node_error, 144),
        PINNED(tr_location, 16),
        PINNED(tr_packet, 64),
        PINNED(tr_io_event, 16),
        PINNED(tr_process_handle, 32),
        PINNED(tr_process_exit, 8),
        PINNED(tr_queued, 8),
        PINNED(tr_queue_entry, 56),
        PINNED(tr_ref, 8),
        PINNED(tr_error_link, 16),
        PINNED(tr_error, 648),
        PINNED(tr_schedule, 8),
        PINNED(tr_timer, 8),
        PINNED(tr_usage, 32),
        PINNED(tr_sql_value, 48),
        PINNED(tr_sql_result, 40),
        PINNED(tr_topic, 8),
        PINNED(tr_published, 24),
        PINNED(tr_wire_error, 304),
    };
    check(all, sizeof all / sizeof all[0]);
}

/* One side makes the array, and the other one goes from row to row. */
TEST(rows_and_members_of_other_structs_keep_their_sizes, "U-02")
{
    static const struct pinned all[] = {
        PINNED(tr_flag, 80),
        PINNED(tr_tls_host, 24),
        PINNED(tr_outgoing, 48),
        PINNED(tr_queue_options, 32),
        PINNED(tr_retry, 24),
        PINNED(tr_durable_key, 24),
        PINNED(tr_filters, 32),
        PINNED(struct tr_http_field, 16),
        PINNED(tr_reason, 352),
        PINNED(tr_mail_info, 16),
        PINNED(tr_report_busy, 400),
        PINNED(tr_report_slow, 264),
        PINNED(tr_report_actor, 288),
        PINNED(tr_report_hook, 80),
    };
    check(all, sizeof all / sizeof all[0]);
}

TEST(descriptors_that_macros_make_keep_their_sizes, "U-02")
{
    static const struct pinned all[] = {
        PINNED(tr_type, 64),
        PINNED(tr_field, 40),
        PINNED(tr_secrets, 64),
        PINNED(struct tr_behavior, 248),
        PINNED(tr_handler, 88),
        PINNED(tr_options, 88),
        PINNED(tr_supervision, 64),
        PINNED(tr_backoff, 32),
        PINNED(tr_child_spec, 48),
        PINNED(tr_migration, 32),
        PINNED(tr_event_row, 48),
        PINNED(tr_snapshots, 12),
        PINNED(tr_exposed_message, 16),
        PINNED(tr_exposed, 24),
        PINNED(tr_filter, 80),
        PINNED(struct tr_framing, 40),
        PINNED(tr_route, 24),
        PINNED(tr_callback, 16),
        PINNED(tr_then, 104),
    };
    check(all, sizeof all / sizeof all[0]);
}

TEST(messages_of_the_library_keep_their_sizes, "U-02")
{
    static const struct pinned all[] = {
        PINNED(struct tr_address, 32),
        PINNED(struct tr_alarm_given_up, 32),
        PINNED(struct tr_pre_start, 1),
        PINNED(struct tr_post_stop, 1),
        PINNED(struct tr_pre_restart, 648),
        PINNED(struct tr_post_restart, 648),
        PINNED(struct tr_child_failed, 664),
        PINNED(struct tr_terminated, 8),
        PINNED(struct tr_receive_timeout, 8),
        PINNED(struct tr_args, 16),
        PINNED(struct tr_dead_letter, 72),
        PINNED(struct tr_created, 1),
        PINNED(struct tr_awake, 16),
        PINNED(struct tr_sleeping, 1),
        PINNED(struct tr_destroying, 1),
        PINNED(struct tr_state_changed, 1),
        PINNED(struct tr_principal, 16),
        PINNED(struct tr_authorize, 72),
        PINNED(struct tr_connected, 24),
        PINNED(struct tr_disconnected, 16),
        PINNED(struct tr_http_request, 96),
        PINNED(struct tr_ws_message, 32),
        PINNED(struct tr_http_stream, 16),
        PINNED(struct tr_http_answer, 72),
        PINNED(struct tr_done, 1),
        PINNED(struct tr_none, 1),
        PINNED(struct tr_opened, 56),
        PINNED(struct tr_received, 24),
        PINNED(struct tr_datagram, 64),
        PINNED(struct tr_drained, 8),
        PINNED(struct tr_closed, 24),
        PINNED(struct tr_connection_taken, 8),
        PINNED(struct tr_connection, 48),
        PINNED(struct tr_process_ended, 24),
        PINNED(struct tr_signal, 16),
        PINNED(struct tr_run, 1),
        PINNED(struct tr_queue_given_up, 32),
    };
    check(all, sizeof all / sizeof all[0]);
}

/* Their size is their first member, so that each side finds it whatever else they have. */
TEST(structs_that_say_their_size_begin_with_it, "U-02")
{
#define SAYS(type)                                                                                 \
    {                                                                                              \
#type, offsetof(type, size) + sizeof((type *)0)->size, sizeof(size_t)                      \
    }
    static const struct pinned all[] = {
        SAYS(tr_system_options), SAYS(tr_app),          SAYS(tr_kit_options),
        SAYS(tr_kit_network),    SAYS(tr_endpoint),     SAYS(tr_http_options),
        SAYS(tr_http_response),  SAYS(tr_http_call),    SAYS(tr_ws_call),
        SAYS(tr_process),        SAYS(tr_alarm),        SAYS(tr_spawn_args),
        SAYS(tr_group_args),     SAYS(tr_listen_args),  SAYS(tr_durable_range),
        SAYS(tr_durables),       SAYS(tr_durable_kind), SAYS(tr_events),
        SAYS(tr_exposed),        SAYS(tr_actor_query),  SAYS(tr_socket_spec),
        SAYS(tr_process_spec),   SAYS(tr_platform),     SAYS(tr_places),
        SAYS(tr_ring),           SAYS(tr_directory),    SAYS(tr_transport),
    };
    check(all, sizeof all / sizeof all[0]);
    /* The options of a kind may grow, because nothing comes behind them. */
    ck_assert_uint_eq(offsetof(tr_durable_kind, options) + sizeof(tr_durable_options),
                      sizeof(tr_durable_kind));
}

/* The library makes them for the call, so they may become longer, and nothing in them moves. */
TEST(structs_for_callbacks_grow_at_their_ends, "U-02")
{
    ck_assert_uint_eq(offsetof(tr_stall, peer), 72);
}

SUITE("sized plain", plain_values_keep_their_sizes,
      rows_and_members_of_other_structs_keep_their_sizes,
      descriptors_that_macros_make_keep_their_sizes, messages_of_the_library_keep_their_sizes,
      structs_that_say_their_size_begin_with_it, structs_for_callbacks_grow_at_their_ends)
