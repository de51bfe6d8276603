/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The limits. Each has a name here, and says what happens when it is reached.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/limits.h>
 *
 * int main(void)
 * {
 *     char path[TR_PATH_MAX + 1];
 *     int length = snprintf(path, sizeof path, "/user/%.*s", TR_NAME_MAX, "alice");
 *     printf("%s: a message has at most %u bytes, an ask %d s\n", path, TR_PAYLOAD_MAX,
 *            (int)(TR_ASK_NS / TR_SECOND));
 *     return length <= TR_PATH_MAX ? 0 : 1;
 * }
 * ```
 */
#ifndef TROUPE_LIMITS_H
#define TROUPE_LIMITS_H

#include <troupe/status.h>

/**
 * Characters of an actor's name; an escape (name.h) counts as one. A longer name gives
 * TR_NAME_INVALID.
 */
#define TR_NAME_MAX 128
/** Characters of an actor's path. A spawn that would make a longer path gives TR_LIMIT. */
#define TR_PATH_MAX 1024
/**
 * Most levels of actors below actors, of messages inside messages, and of nested values in a part of a document that
 * its reader skips. More levels give TR_TOO_DEEP.
 */
#define TR_DEPTH_MAX 64
/** Secret fields of a message (TR_SECRET). More do not compile. */
#define TR_SECRETS_MAX 8
/** Supervisors that a tr_error names. tr_error.link_count counts all of them. */
#define TR_ERROR_LINKS_MAX 8
/** Bytes of a message with all it points to, without buffers. More gives TR_TOO_LARGE. */
#define TR_PAYLOAD_MAX (8u * 1024 * 1024)
/** Fields of a TR_MESSAGE, messages of a TR_ACTOR, clauses of a TR_BEHAVIOR. More does not compile. */
#define TR_FIELDS_MAX 63
/** Characters of a number in JSON that becomes a float. More gives TR_TOO_LARGE. */
#define TR_JSON_NUMBER_MAX 512
/** The largest restarts_max of a tr_supervision. With more the behavior is not valid. */
#define TR_RESTARTS_MAX 10000
/** How long a restart waits at most. tr_backoff.max_ns sets another time. */
#define TR_BACKOFF_MAX_NS TR_MINUTE
/** Calls of tr_defer in one turn. One more ends the turn with TR_LIMIT. */
#define TR_DEFERS_MAX 64
/** Messages in the stash of an actor. With one more the turn fails with TR_STASH_FULL. */
#define TR_STASH_MAX 1024
/** Bytes of the messages in a stash. With more the turn fails with TR_STASH_FULL. */
#define TR_STASH_BYTES_MAX (64u * 1024 * 1024)
/** Messages of one batch. More in .batch_max gives TR_INVALID_ARGUMENT. */
#define TR_BATCH_MAX 1024
/** Messages that wait in a mailbox; for more see tr_overflow. tr_options.mailbox_max sets another limit. */
#define TR_MAILBOX_MAX (1024u * 1024)
/** Bytes of the messages in a mailbox; for more see tr_overflow. tr_options.mailbox_bytes_max sets another limit. */
#define TR_MAILBOX_BYTES_MAX (64u * 1024 * 1024)
/** The largest tr_options.mailbox_max. A spawn with more gives TR_LIMIT. */
#define TR_MAILBOX_LARGEST (4u * 1024 * 1024)
/** The largest tr_options.mailbox_bytes_max. A spawn with more gives TR_LIMIT. */
#define TR_MAILBOX_BYTES_LARGEST (256u * 1024 * 1024)
/**
 * With TR_DROP_OLDEST this many messages from other workers and threads, and this many times 64 bytes of memory, may
 * exceed the bound of a mailbox. They do so until the receiver's worker takes the messages in and drops the oldest
 * ones. One more gives TR_MAILBOX_FULL.
 */
#define TR_OVERDRAFT_MAX 65536
/** How long an ask waits for its reply; then its outcome is TR_TIMEOUT. tr_ask_within sets another time. */
#define TR_ASK_NS (5 * TR_SECOND)
/**
 * How long tr_actor_why waits for the worker of an actor to answer. After that, tr_actor_why
 * reports what this worker is running.
 */
#define TR_WHY_NS (100 * TR_MILLISECOND)
/** Reasons in a tr_why_report. More are left out. */
#define TR_REASONS_MAX 16
/** How long a sender waits for capacity with TR_PARK. Then its status is TR_MAILBOX_FULL. */
#define TR_PARK_NS (5 * TR_SECOND)
/**
 * Helper threads of a system for tr_blocking. One more function waits for a thread.
 * tr_system_options.blocking_threads_max sets another number.
 */
#define TR_BLOCKING_THREADS_MAX 64
/** The largest tr_system_options.blocking_threads_max. More gives TR_LIMIT. */
#define TR_BLOCKING_THREADS_LARGEST 1024
/** Functions of tr_blocking in a system that wait for a thread. One more gives TR_LIMIT. */
#define TR_BLOCKING_QUEUE_MAX (64 * 1024)
/** How long a helper thread stays without work. Then it ends. */
#define TR_BLOCKING_IDLE_NS (10 * TR_SECOND)
/**
 * How many names are looked up at once; further look-ups wait. Turns that ask for the same name share one look-up.
 * Look-ups run on helper threads. If the system has at most this many helper threads, but more than one, look-ups leave
 * one of them to functions of tr_blocking.
 */
#define TR_LOOKUPS_MAX 8
/** How many look-ups of names run or wait. A dial or connect that needs one more ends with TR_LIMIT. */
#define TR_LOOKUPS_WAITING_MAX 1024
/** How long a shutdown without a timeout waits for actors. Then it kills them. */
#define TR_SHUTDOWN_TIMEOUT_NS (10 * TR_SECOND)
/**
 * How long a shutdown waits, after its deadline, for a function that does not return. It waits between half of this
 * time and the whole time. Then the result is TR_SHUTDOWN_INCOMPLETE.
 */
#define TR_SHUTDOWN_GRACE_NS (50 * TR_MILLISECOND)
/**
 * How much longer than TR_SHUTDOWN_GRACE_NS a shutdown may take if all functions have returned, but the shutdown itself
 * needs time: because it kills very many actors, makes dead letters of millions of messages, or gets no CPU. Then the
 * result is TR_SHUTDOWN_INCOMPLETE.
 */
#define TR_SHUTDOWN_EXTRA_NS (10 * TR_SECOND)
/** Hooks of a system. One more gives TR_LIMIT. */
#define TR_HOOKS_MAX 32
/** How long a hook may take; then its status is TR_TIMEOUT. tr_system_add_hook can set another time. */
#define TR_HOOK_TIMEOUT_NS (5 * TR_SECOND)
/** Functions that had not returned, in a shutdown report. busy_count counts all of them. */
#define TR_REPORT_BUSY_MAX 8
/** Actors that took longest to stop, in a shutdown report. More are left out. */
#define TR_REPORT_SLOW_MAX 4
/** Actors with their numbers, in a shutdown report. actor_count counts all of them. */
#define TR_REPORT_ACTORS_MAX 16
/** Bytes that are enough for every shutdown report as text, with its NUL. */
#define TR_REPORT_TEXT_MAX (32 * 1024)
/** Timers of one actor at once. One more gives TR_LIMIT. */
#define TR_TIMERS_MAX (1024 * 1024)
/** Bytes of the key of a timer. More, or none, gives TR_INVALID_ARGUMENT. */
#define TR_TIMER_KEY_MAX 128
/** Schedules of one system at once. One more gives TR_LIMIT. */
#define TR_SCHEDULES_MAX (64 * 1024)
/** Most turns that a worker runs of one actor in a row. Then the worker runs other actors. */
#define TR_RUN_TURNS_MAX 64
/**
 * How long a worker runs turns of one actor in a row. Then the worker runs other actors. The worker notices the end of
 * this time only at a tick, or after TR_RUN_TURNS_MAX turns. A tick comes each millisecond, or each fourth millisecond
 * while no worker needs ticks. So when the turns of an actor suddenly become long, the actor may once run 4 ms longer.
 */
#define TR_RUN_NS_MAX (200 * TR_MICROSECOND)
/**
 * A turn that takes longer is reported. The time of a turn is measured in ticks of a millisecond, so a turn that takes
 * less than about a millisecond longer may not be reported. tr_system_options.turn_report_ns sets another limit.
 */
#define TR_TURN_REPORT_NS (10 * TR_MILLISECOND)
/** Lines of the log about long turns in one second. The next line says how many were left out. */
#define TR_STALL_LOGS_MAX 10
/**
 * Threads that a system with handoff_after_ns makes for workers whose handler does not return. If all are in use, the
 * next such worker has to wait for its handler, and the log says so. tr_system_options.handoff_threads_max sets another
 * number.
 */
#define TR_HANDOFF_THREADS_MAX 4
/** The largest tr_system_options.handoff_threads_max. More gives TR_LIMIT. */
#define TR_HANDOFF_THREADS_LARGEST 1024
/** An actor with more timers than this does not move to another worker. */
#define TR_MOVED_TIMERS_MAX 64
/** An actor that has moved stays on its new worker at least this long. */
#define TR_MOVED_STAYS_NS (10 * TR_MILLISECOND)
/** How long a worker without work spins. Then it sleeps. */
#define TR_SPIN_NS (20 * TR_MICROSECOND)
/**
 * How long a worker without work spins to wait for IO. It does so only if IO ended its last sleep and came soon. If no
 * IO comes in this time, the worker spins for IO less often.
 */
#define TR_SPIN_IO_NS (100 * TR_MICROSECOND)
/**
 * How long a worker without work spins after it has woken another worker, because that worker may answer soon. If no
 * answer comes in this time, the worker spins for answers less often.
 */
#define TR_SPIN_ANSWER_NS (100 * TR_MICROSECOND)
/**
 * If the last commits of the store took no longer than this, a worker without other work spins until the next commit is
 * done. It spins for at most twice the time of a commit, and yields its CPU to other threads. If the commit does not
 * come in that time, it spins for commits less often. If commits take longer than this limit, the worker sleeps
 * instead, because waking it adds less than a tenth to the time of a commit.
 */
#define TR_SPIN_COMMIT_NS (1 * TR_MILLISECOND)
/** Dead letters that a system remembers. Older dead letters are only counted. */
#define TR_DEAD_LETTERS_MAX 1000
/** Longest path in the record of a dead letter. The beginning of a longer path is cut. */
#define TR_DEAD_LETTER_PATH_MAX 127
/** Subscribers to dead letters at once. One more gives TR_LIMIT. */
#define TR_DEAD_LETTER_SUBSCRIBERS_MAX 16
/** Lines of the log about dead letters in one second. The next line says how many were left out. */
#define TR_DEAD_LETTER_LOGS_MAX 10
/** Longest text of the message in the record of a dead letter. A longer text is cut. */
#define TR_DEAD_LETTER_TEXT_MAX 255
/** A message of more bytes has no text in the record of its dead letter. */
#define TR_DEAD_LETTER_SHOWN_MAX 4096
/**
 * How many records of dead letters get the text of their message in one second. Further records of
 * the same second have no text.
 */
#define TR_DEAD_LETTER_TEXTS_MAX 100
/** Failures and restarts that a system remembers for tr_system_failures. */
#define TR_FAILURES_KEPT 256
/** Actors whose messages tools, such as `troupe trace`, can follow at once. */
#define TR_FOLLOWED_MAX 16
/**
 * Records of followed messages that each worker keeps. With more than 8 workers, each keeps 16,384 divided by the
 * number of workers.
 */
#define TR_FOLLOW_RECORDS_MAX 2048
/** Behaviors for which a system counts failures one by one; see tr_behavior_info. */
#define TR_FAILED_BEHAVIORS_MAX 128
/** Actors that one call of tr_system_actors examines at most. */
#define TR_LOOK_MAX 65536
/** Behaviors that tr_system_behaviors can tell apart. More gives TR_LIMIT. */
#define TR_LOOKED_BEHAVIORS_MAX 1024
/** Failed spawns that a client remembers. For older failures tr_spawn_wait gives TR_STOPPED. */
#define TR_CLIENT_FAILURES_MAX 64
/** Asks of a client that were not awaited yet, or whose callback was not called yet. One more gives TR_LIMIT. */
#define TR_CLIENT_ASKS_MAX 262144
/**
 * Behaviors that an actor becomes one after another in one set-up or by one tr_become, because the
 * set-up of each becomes the next. More gives TR_TOO_DEEP.
 */
#define TR_BEHAVIORS_NESTED_MAX 10
/**
 * Set-ups that run inside one another, because a set-up spawns an actor. A deeper set-up runs
 * later, like the set-up of an actor on another worker.
 */
#define TR_SETUPS_NESTED_MAX 16
/** Claimed paths of a tr_directory at once. One more gives TR_LIMIT. */
#define TR_CLAIMS_MAX (1024 * 1024)
/** Characters of each of the four parts of the address of a node. Longer gives TR_LIMIT. */
#define TR_NODE_PART_MAX 63
/** Characters of the address of a node. */
#define TR_NODE_ADDRESS_MAX (4 * TR_NODE_PART_MAX + 3)
/** Nodes of a cluster. More gives TR_LIMIT. */
#define TR_NODES_MAX 256
/** Workers of a system. More gives TR_LIMIT. */
#define TR_WORKERS_MAX 256
/**
 * Living actors and clients of a system. One more gives TR_LIMIT. tr_system_options.actors_max sets another limit. If
 * the limit is a thousand or more, TR_LIMIT may already come a few percent below it.
 */
#define TR_ACTORS_MAX (16u * 1024 * 1024)
/** Members of a group or router. More gives TR_LIMIT. */
#define TR_GROUP_MEMBERS_MAX 1024
/** Groups and routers of a system at once. One more gives TR_LIMIT. */
#define TR_GROUPS_MAX (16 * 1024)
/** Topics of a system at once. One more gives TR_LIMIT. */
#define TR_TOPICS_MAX (64 * 1024)
/** Subscribers of a topic at once. One more gives TR_LIMIT. */
#define TR_SUBSCRIBERS_MAX (1024 * 1024)
/**
 * The largest spin_ns, round_min_ns, turn_report_ns and handoff_after_ns of tr_system_options. More gives
 * TR_INVALID_ARGUMENT.
 */
#define TR_OPTION_NS_MAX TR_HOUR
/**
 * Bytes of one block of tr_alloc or tr_scratch. More gives TR_NO_MEMORY. This is so far below the largest size_t that
 * sums of sizes do not overflow.
 */
#define TR_ALLOC_MAX ((size_t)1 << 36)
/** Bytes of the key of a durable actor. More, or none, gives TR_INVALID_ARGUMENT. */
#define TR_KEY_MAX 256
/**
 * If awake_max or awake_bytes_max of tr_system_options is reached, durable actors wait to wake until another actor has
 * become idle. If none has become idle for this time, each worker wakes one of the actors that wait on it nevertheless.
 * An actor that has just woken, and has handled no message yet, is kept awake for this time.
 */
#define TR_AWAKE_WAIT_NS (20 * TR_MILLISECOND)
/** Bytes of the stored state of a durable actor, and of a snapshot. More gives TR_TOO_LARGE. */
#define TR_STATE_MAX (8u * 1024 * 1024)
/** Bytes of a key of tr_kv_put. More gives TR_TOO_LARGE. */
#define TR_KV_KEY_MAX (2u * 1024)
/** Bytes of a value of tr_kv_put. More gives TR_TOO_LARGE. */
#define TR_KV_VALUE_MAX (128u * 1024)
/** Pending alarms of a durable actor. One more gives TR_LIMIT. */
#define TR_ALARMS_MAX 1000
/** Characters of the name of an alarm. More gives TR_TOO_LARGE. */
#define TR_ALARM_NAME_MAX 128
/** Bytes of the message of an alarm. More gives TR_TOO_LARGE. */
#define TR_ALARM_BYTES_MAX (64u * 1024)
/**
 * Bytes of one queue of a durable actor, dead letters included. Each item counts with its message and
 * TR_QUEUE_ITEM_COST. More gives TR_LIMIT. An actor that is awake has its queues in memory.
 */
#define TR_QUEUE_BYTES_MAX (64u * 1024 * 1024)
/** Bytes that each item of a queue counts in addition to its message. */
#define TR_QUEUE_ITEM_COST 256
/** Characters of the name of a queue. More gives TR_TOO_LARGE. */
#define TR_QUEUE_NAME_MAX 128
/** Bytes of a message in a queue. More gives TR_TOO_LARGE. */
#define TR_QUEUE_ITEM_MAX (64u * 1024)
/** Bytes of the id of a request; see tr_ask_once. More, or none, gives TR_INVALID_ARGUMENT. */
#define TR_REQUEST_ID_MAX 256
/**
 * How long a durable actor keeps the answer to a request with an id. tr_durable_options.answers_ns sets another time.
 */
#define TR_ANSWERS_NS (24 * TR_HOUR)
/** The greatest answers_ns of tr_durable_options. With more the kind is not valid. */
#define TR_ANSWERS_MAX_NS (10 * 365 * 24 * TR_HOUR)
/**
 * Bytes of the answers that a durable actor keeps, with their ids and 64 bytes for each.
 * While there are more, new requests with an id get TR_LIMIT, and their handlers do not run.
 * tr_durable_options.answers_bytes_max sets another limit.
 */
#define TR_ANSWERS_BYTES_MAX (16u * 1024 * 1024)
/** Bytes of an answer that is kept. If a reply has more, the turn fails with TR_TOO_LARGE. */
#define TR_REQUEST_ANSWER_MAX (1024u * 1024)
/** Repeats of a request with an id that wait at once for the answer to the first request. One more gives TR_LIMIT. */
#define TR_REQUEST_REPEATS_MAX 64
/** Keys that one tr_durable_list returns. More gives TR_LIMIT. */
#define TR_DURABLE_LIST_MAX 1000
/** Keys that one tr_durable_list returns if its `max` is 0. */
#define TR_DURABLE_LIST_COUNT 100
/** The least and the greatest ttl_ns of tr_durable_options. With any other ttl_ns the kind is not valid. */
#define TR_TTL_MIN_NS TR_SECOND
#define TR_TTL_MAX_NS (100 * 365 * 24 * TR_HOUR)
/** The longest delay of tr_queue_push_after: a hundred years. Longer gives TR_LIMIT. */
#define TR_QUEUE_DELAY_MAX (INT64_C(36525) * 24 * TR_HOUR)
/** Characters of the cause that is stored with an item of a queue. A longer cause is cut. */
#define TR_QUEUE_CAUSE_MAX 255
/**
 * The first delay before another attempt of an alarm or of an item of a queue. tr_retry.first_ns sets another delay.
 */
#define TR_RETRY_FIRST_NS (2 * TR_SECOND)
/** The longest delay before another attempt. tr_retry.longest_ns sets another delay. */
#define TR_RETRY_LONGEST_NS (5 * TR_MINUTE)
/**
 * Attempts of an alarm or of an item of a queue; with their delays they take about an hour. tr_retry.attempts sets
 * another number.
 */
#define TR_RETRY_ATTEMPTS 21
/** The largest first_ns and longest_ns of a tr_retry. More gives TR_INVALID_ARGUMENT. */
#define TR_RETRY_NS_MAX (30 * 24 * TR_HOUR)
/** Bytes of a persisted event. More gives TR_TOO_LARGE. */
#define TR_EVENT_MAX (1024u * 1024)
/** Bytes of the events of an actor that are not on disk yet. More gives TR_LIMIT. */
#define TR_EVENTS_HELD_BYTES_MAX (64u * 1024 * 1024)
/** Events between two snapshots. tr_snapshots.every sets another number. */
#define TR_SNAPSHOT_EVERY 100
/** The largest tr_snapshots.kept. With more the kind is not valid. */
#define TR_SNAPSHOTS_MAX 8
/** Bytes of the tables of a durable actor, with the overhead of SQLite. More gives TR_LIMIT. */
#define TR_SQL_BYTES_MAX (64u * 1024 * 1024)
/** Bytes of a statement of tr_sql. More gives TR_TOO_LARGE. */
#define TR_SQL_TEXT_MAX (64u * 1024)
/** Bytes of one value of tr_sql, and of one row. More gives TR_TOO_LARGE. */
#define TR_SQL_VALUE_MAX (4u * 1024 * 1024)
/** Values for one statement of tr_sql. More do not compile. */
#define TR_SQL_VALUES_MAX 63
/** Columns of a table or a result of tr_sql. More gives TR_INVALID_ARGUMENT. */
#define TR_SQL_COLUMNS_MAX 256
/** Bytes of a result of tr_sql. More gives TR_TOO_LARGE. */
#define TR_SQL_RESULT_MAX (16u * 1024 * 1024)
/**
 * Steps of one statement, as SQLite counts them: about 0.2 s. More gives TR_OVER_BUDGET.
 * tr_durable_options.sql_steps_max sets another limit.
 */
#define TR_SQL_STEPS_MAX (5u * 1000 * 1000)
/**
 * Prepared statements that an actor keeps while it is awake. With more, the least recently used one
 * is dropped.
 */
#define TR_SQL_PREPARED_MAX 16
/**
 * Bytes of the log of a store, at any load. A commit that would make the log longer waits until the log has been
 * written into the database and starts over. Only two things make the log longer than this: a single commit of more
 * than 7,500 pages (29 MiB), and a disk that is so slow that the log cannot start over for a minute. Afterwards the log
 * is cut.
 */
#define TR_STORE_LOG_MAX (64u * 1024 * 1024)
/**
 * Messages of a program that its schema lists (--schema). With more the schema is not written, and the status is
 * TR_LIMIT.
 */
#define TR_SCHEMA_MESSAGES_MAX 16384
/** Bytes of a text in the log, with its NUL. Longer texts are cut. */
#define TR_LOG_MAX 1024
/**
 * Bytes of the stack on which a handler runs. tr_system_options.stack_bytes sets another size for all actors, and
 * tr_options.stack_bytes for the actors of one behavior. A handler that uses more gets a SIGSEGV, which tr_app_main and
 * names_faults report, and which traps_faults makes a failure of the actor.
 */
#define TR_STACK_SIZE (64u * 1024)
/** The largest stack_bytes of tr_system_options and of tr_options. More gives TR_LIMIT. */
#define TR_STACK_LARGEST (64u * 1024 * 1024)
/**
 * Bytes of a channel that wait to be sent. While there are more, tr_write waits. tr_endpoint.output_max sets another
 * limit.
 */
#define TR_OUTPUT_MAX (64u * 1024)
/** If a turn that cannot wait writes, a channel takes up to this many times .output_max bytes. More gives TR_LIMIT. */
#define TR_OUTPUT_EXTRA 16
/**
 * Bytes of one piece that a channel reads, and of what one tr_unread gives back. More gives TR_TOO_LARGE.
 * tr_endpoint.frame_max sets another limit.
 */
#define TR_FRAME_MAX (1024u * 1024)
/** Bytes that the function `head` of a tr_framing may write. If it writes more, this is a mistake of the program. */
#define TR_FRAME_HEAD_MAX 16
/** How long a connect may take, handshakes included. Then the status is TR_TIMEOUT. */
#define TR_CONNECT_NS (30 * TR_SECOND)
/** How long output of a channel may make no progress. Then the channel ends with TR_STALLED. */
#define TR_STALL_NS (30 * TR_SECOND)
/** How long a closed channel continues to send. Then the channel is reset. */
#define TR_LINGER_NS (5 * TR_SECOND)
/**
 * Bytes that a closed channel still reads from the other side, and drops. Then the channel is
 * reset.
 */
#define TR_LINGER_BYTES_MAX (1024u * 1024)
/**
 * How often a worker reads from a closed channel in a row, at most 64 KiB each time. Then its other
 * channels and actors run.
 */
#define TR_LINGER_READS_MAX 1
/** Exchanges of a channel under way at once. One more waits. tr_endpoint.in_flight_max sets another number. */
#define TR_IN_FLIGHT_MAX 1024
/**
 * Filters of a channel, PROXY header and TLS not counted. One more in TR_FILTERS is an error in C++
 * and a warning of the compiler in C. One more tr_add_filter gives TR_LIMIT.
 */
#define TR_FILTERS_MAX 4
/** Bytes that one call of a filter may append. More gives TR_TOO_LARGE. */
#define TR_FILTER_PUT_MAX (1024u * 1024)
/** Bytes that a filter may leave untaken while it waits for more. More gives TR_TOO_LARGE. */
#define TR_FILTER_HELD_MAX (64u * 1024)
/** Connections of a listener that wait in the kernel. The kernel refuses or delays further connections. */
#define TR_BACKLOG 4096
/** An actor with more channels than this does not move to another worker. */
#define TR_MOVED_CHANNELS_MAX 4
/** Channels of a system. One more gives TR_LIMIT. */
#define TR_CHANNELS_MAX (4u * 1024 * 1024)
/** Timers that end with one channel. One more gives TR_LIMIT. */
#define TR_CHANNEL_TIMERS_MAX 16
/** Child processes of a system at once. One more gives TR_LIMIT. */
#define TR_PROCESSES_MAX 4096
/** Arguments of a child process. More gives TR_TOO_LARGE. The kernel also limits their bytes. */
#define TR_ARGUMENTS_MAX 4096
/** How long a child process has to end after SIGTERM. Then it gets SIGKILL. tr_process.grace_ns sets another time. */
#define TR_GRACE_NS (5 * TR_SECOND)
/** Signals of one tr_signals. More gives TR_INVALID_ARGUMENT. */
#define TR_SIGNALS_MAX 32
/** Bytes of a datagram that is sent. More gives TR_TOO_LARGE. */
#define TR_DATAGRAM_MAX 65507
/** Addresses of one name that a connect tries. More are left out. */
#define TR_ADDRESSES_MAX 16
/** Bytes of the name of a host, as DNS has it. More gives TR_ADDRESS_INVALID. */
#define TR_HOST_MAX 253
/**
 * Bytes of a PROXY header of version 2 behind its first 16 bytes: addresses, and further data of a balancer. More gives
 * TR_TOO_LARGE. A header of version 1 has at most 107 bytes with its line end. More gives TR_BAD_DATA.
 */
#define TR_PROXY_HEADER_MAX (4u * 1024)

/* ---- HTTP; tr_http_options changes them for one endpoint. ---- */

/** Bytes of the head of a request. More is answered with 431, or 414 if the first line alone is longer. */
#define TR_HTTP_HEAD_MAX (16u * 1024)
/** Headers of a request. More is answered with 431. */
#define TR_HTTP_HEADERS_MAX 100
/** Bytes of a body that is taken as a whole: for a typed row, TR_HTTP_JSON, tr_http_form. More is answered with 413. */
#define TR_HTTP_BODY_MAX (1024u * 1024)
/** How long the head of a request may take, from its first byte. Then the answer is 408, and the connection ends. */
#define TR_HTTP_HEAD_NS (10 * TR_SECOND)
/** How long the next piece of a body may take. Then the answer is 408, and the connection ends. */
#define TR_HTTP_BODY_NS (30 * TR_SECOND)
/** How long a connection may be without a request. Then it is closed. */
#define TR_HTTP_KEEP_NS (75 * TR_SECOND)
/**
 * How long a handler may put off the reply to a request of HTTP by tr_reply_later. Then the answer
 * is 504.
 */
#define TR_HTTP_LATER_NS (30 * TR_SECOND)
/**
 * If a handler has not read a body to its end, the runtime reads and drops up to this many bytes of the rest, so that
 * the connection can be kept. If there are more, the connection is closed.
 */
#define TR_HTTP_DROP_MAX (64u * 1024)
/**
 * Streams of a connection of HTTP/2 that are open at once; a stream whose turn has not ended counts as open. One more
 * is refused with REFUSED_STREAM. A client with this many asks on a connection opens another connection, or waits.
 */
#define TR_HTTP2_STREAMS_MAX 100
/**
 * How many bytes of the body of one stream the other side may send before a handler or tr_http_receive reads them. A
 * connection holds at most this many bytes for each of its streams.
 */
#define TR_HTTP2_WINDOW (64u * 1024)
/**
 * Bytes of bodies that may be on the way at once, for all streams of a connection together. Bytes that have arrived do
 * not count any more.
 */
#define TR_HTTP2_CONNECTION_WINDOW (1024u * 1024)
/**
 * How often a worker reads from a connection of HTTP/2 in a row, at most 64 KiB each time. Then its other connections
 * and actors run.
 */
#define TR_HTTP2_READS_MAX 4
/**
 * The time for which the three limits below hold. A client that exceeds one of them gets a GOAWAY with
 * ENHANCE_YOUR_CALM, and the connection ends.
 */
#define TR_HTTP2_FLOOD_NS (10 * TR_SECOND)
/** How many streams a client may reset, or end by its mistakes, within TR_HTTP2_FLOOD_NS. */
#define TR_HTTP2_RESETS_MAX 100
/**
 * How many frames of settings a client may send within TR_HTTP2_FLOOD_NS. A client usually sends one. The limit is
 * there because the server has to answer each of them and to change all its streams.
 */
#define TR_HTTP2_SETTINGS_MAX 100
/**
 * How many frames that carry nothing a client may send within TR_HTTP2_FLOOD_NS: pings, empty data, priorities, window
 * updates for which no stream waits, and frames of an unknown kind.
 */
#define TR_HTTP2_IDLE_FRAMES_MAX 1000
/** How many CONTINUATION frames one block of headers may have. */
#define TR_HTTP2_CONTINUATIONS_MAX 8
/** Bytes of a message of a WebSocket. With more the WebSocket is closed with the code 1009. */
#define TR_WS_MESSAGE_MAX (1024u * 1024)
/**
 * A WebSocket from which nothing came for this long gets a ping. If nothing comes for as long after the ping either,
 * the channel ends with TR_TIMEOUT.
 */
#define TR_WS_PING_NS (30 * TR_SECOND)
/** Parts "{name}" of a path. More gives TR_INVALID_ARGUMENT when the listener starts. */
#define TR_HTTP_PARTS_MAX 16
/** The shortest body, in bytes, that .compresses compresses. Shorter bodies are sent as they are. */
#define TR_HTTP_COMPRESS_MIN 1024u
/** Parts of a form with files. More is answered with 413. */
#define TR_HTTP_FORM_PARTS_MAX 100
/** Bytes of the headers of one part of a form with files. More is answered with 413. */
#define TR_HTTP_FORM_HEAD_MAX 8192u
/** Bytes of the line of a chunk of a body, with its extensions. More is answered with 400. */
#define TR_HTTP_CHUNK_LINE_MAX 4096u
/** Bytes of the trailers behind a body in chunks. More is answered with 400. */
#define TR_HTTP_TRAILERS_MAX (16u * 1024)
/** Headers that tr_http_set adds to one answer. More ends the turn with TR_LIMIT. */
#define TR_HTTP_SET_MAX 32

/* ---- HTTP as a client; members of tr_http_call change some of them for one ask. ---- */

/** How long an ask of tr_http_ask may take, with all redirects. Then its outcome is TR_TIMEOUT. */
#define TR_HTTP_CALL_NS (30 * TR_SECOND)
/** Connections of one worker to one host. An ask that needs one more waits. */
#define TR_HTTP_CONNECTIONS_MAX 8
/** Asks that wait for a connection of one worker to one host. One more gives TR_LIMIT. */
#define TR_HTTP_WAITING_MAX 256
/** How long a connection is kept after its last ask. Then it is closed. */
#define TR_HTTP_IDLE_NS (30 * TR_SECOND)
/** How long a request waits for 100 Continue. Then its body is sent. */
#define TR_HTTP_CONTINUE_NS TR_SECOND
/**
 * How long a stream of tr_http_open, or of an answer, may be unused. Then the connection is reset; with HTTP/2 only the
 * stream is reset.
 */
#define TR_HTTP_STREAM_NS (30 * TR_SECOND)
/** Bytes of one tr_http_send. More gives TR_TOO_LARGE. */
#define TR_HTTP_PIECE_MAX (256u * 1024)
/** Informational answers (1xx) before the answer. More gives TR_BAD_DATA. */
#define TR_HTTP_INTERIM_MAX 16
/**
 * How long a server of HTTP/2 may send nothing after a ping. Then the connection ends with TR_STALLED. The server gets
 * a ping if an ask has timed out and the server has sent nothing since the ask began.
 */
#define TR_HTTP2_PING_NS (5 * TR_SECOND)

/* ---- Gateways. ---- */

/** Connections of one durable actor. One more is refused with 429. */
#define TR_CONNECTIONS_MAX (64u * 1024)
/** Bytes of the message that is kept with a connection. More ends the turn with TR_TOO_LARGE. */
#define TR_CONNECTION_KEPT_MAX (2u * 1024)
/** Bytes of an event, as JSON. More ends the turn with TR_TOO_LARGE. */
#define TR_CONNECTION_EVENT_MAX (64u * 1024)
/** Events of one actor that are stored for clients that connect again. Older events are removed. */
#define TR_CONNECTION_EVENTS_KEPT 256
/** Bytes that wait to be sent to a connection. With more the connection is closed with the code 1013. */
#define TR_CONNECTION_UNSENT_MAX (1024u * 1024)

#endif
