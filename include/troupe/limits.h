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

/** Characters of an actor's name; an escape (name.h) is one. Longer: TR_NAME_INVALID. */
#define TR_NAME_MAX 128
/** Characters of an actor's path. A spawn that would make a longer one: TR_LIMIT. */
#define TR_PATH_MAX 1024
/**
 * The levels of actors below actors, of messages inside messages, and of nested values in a part of
 * a document that its reader skips. Deeper: TR_TOO_DEEP.
 */
#define TR_DEPTH_MAX 64
/** Secret fields of a message: TR_SECRET. More do not compile. */
#define TR_SECRETS_MAX 8
/** Supervisors that a tr_error names; link_count counts all. */
#define TR_ERROR_LINKS_MAX 8
/** Bytes of a message with all it points to, without buffers. More: TR_TOO_LARGE. */
#define TR_PAYLOAD_MAX (8u * 1024 * 1024)
/**
 * Fields of a TR_MESSAGE, messages of a TR_ACTOR, clauses of a TR_BEHAVIOR. More does not compile.
 */
#define TR_FIELDS_MAX 63
/** Characters of a number in JSON that becomes a float. More: TR_TOO_LARGE. */
#define TR_JSON_NUMBER_MAX 512
/** restarts_max of a tr_supervision. More: the behavior is not valid. */
#define TR_RESTARTS_MAX 10000
/** How long a restart waits at most. max_ns of tr_backoff replaces it. */
#define TR_BACKOFF_MAX_NS TR_MINUTE
/** Calls of tr_defer in one turn. One more ends the turn with TR_LIMIT. */
#define TR_DEFERS_MAX 64
/** Messages in the stash of an actor. One more fails the turn: TR_STASH_FULL. */
#define TR_STASH_MAX 1024
/** Memory of the messages in a stash. More fails the turn: TR_STASH_FULL. */
#define TR_STASH_BYTES_MAX (64u * 1024 * 1024)
/** Messages of one batch. More in .batch_max: TR_INVALID_ARGUMENT. */
#define TR_BATCH_MAX 1024
/** Messages that wait in a mailbox. tr_options.mailbox_max replaces it. More: see tr_overflow. */
#define TR_MAILBOX_MAX (1024u * 1024)
/**
 * Memory of the messages in a mailbox. tr_options.mailbox_bytes_max replaces it. More: see
 * tr_overflow.
 */
#define TR_MAILBOX_BYTES_MAX (64u * 1024 * 1024)
/** The largest tr_options.mailbox_max. A spawn with more: TR_LIMIT. */
#define TR_MAILBOX_LARGEST (4u * 1024 * 1024)
/** The largest tr_options.mailbox_bytes_max. A spawn with more: TR_LIMIT. */
#define TR_MAILBOX_BYTES_LARGEST (256u * 1024 * 1024)
/**
 * With TR_DROP_OLDEST this many messages from other workers and threads, and this many times 64
 * bytes of memory, may exceed the bound of a mailbox. They do so until the receiver's worker takes
 * the messages in and drops the oldest ones. One more: TR_MAILBOX_FULL.
 */
#define TR_OVERDRAFT_MAX 65536
/** How long an ask waits for its reply. tr_ask_within replaces it. Then: TR_TIMEOUT. */
#define TR_ASK_NS (5 * TR_SECOND)
/**
 * How long tr_actor_why waits for the worker of an actor. Then its report says what that worker
 * runs.
 */
#define TR_WHY_NS (100 * TR_MILLISECOND)
/** Reasons in a tr_why_report. More are left out. */
#define TR_REASONS_MAX 16
/** How long a sender waits for capacity with TR_PARK. Then: TR_MAILBOX_FULL. */
#define TR_PARK_NS (5 * TR_SECOND)
/**
 * Helper threads of a system for tr_blocking. tr_system_options.blocking_threads_max replaces it.
 * One function more waits for a thread.
 */
#define TR_BLOCKING_THREADS_MAX 64
/** The largest tr_system_options.blocking_threads_max. More: TR_LIMIT. */
#define TR_BLOCKING_THREADS_LARGEST 1024
/** Functions of tr_blocking in a system that wait for a thread. One more: TR_LIMIT. */
#define TR_BLOCKING_QUEUE_MAX (64 * 1024)
/** How long a helper thread without work stays. Then it ends. */
#define TR_BLOCKING_IDLE_NS (10 * TR_SECOND)
/**
 * How many names are looked up at once; others wait. Turns that ask for the same name share one
 * look-up. If the system has no more helper threads than this, look-ups leave one of them to
 * functions of tr_blocking, unless it is the only one.
 */
#define TR_LOOKUPS_MAX 8
/**
 * How many names are being looked up or wait for it. A dial or connect to one more ends with
 * TR_LIMIT.
 */
#define TR_LOOKUPS_WAITING_MAX 1024
/** How long a shutdown without a timeout waits for actors. Then it kills them. */
#define TR_SHUTDOWN_TIMEOUT_NS (10 * TR_SECOND)
/**
 * How long at most, after its deadline, a shutdown waits for a function that does not return. It
 * waits at least half of this. Then: TR_SHUTDOWN_INCOMPLETE.
 */
#define TR_SHUTDOWN_GRACE_NS (50 * TR_MILLISECOND)
/**
 * How much longer than TR_SHUTDOWN_GRACE_NS a shutdown may take if no function is at fault: it
 * kills very many actors, makes dead letters of millions of messages, or gets no CPU. Then:
 * TR_SHUTDOWN_INCOMPLETE.
 */
#define TR_SHUTDOWN_EXTRA_NS (10 * TR_SECOND)
/** Hooks of a system. One more: TR_LIMIT. */
#define TR_HOOKS_MAX 32
/** How long a hook may take. The timeout of tr_system_add_hook replaces it. Then: TR_TIMEOUT. */
#define TR_HOOK_TIMEOUT_NS (5 * TR_SECOND)
/** In a shutdown report: functions that had not returned; busy_count counts all. */
#define TR_REPORT_BUSY_MAX 8
/** In a shutdown report: actors that took longest. More are left out. */
#define TR_REPORT_SLOW_MAX 4
/** In a shutdown report: actors with their numbers; actor_count counts all. */
#define TR_REPORT_ACTORS_MAX 16
/** Bytes of a shutdown report as text, with its NUL. It never needs more. */
#define TR_REPORT_TEXT_MAX (32 * 1024)
/** Timers of one actor at once. One more: TR_LIMIT. */
#define TR_TIMERS_MAX (1024 * 1024)
/** Bytes of the key of a timer. More, or none: TR_INVALID_ARGUMENT. */
#define TR_TIMER_KEY_MAX 128
/** Schedules of one system at once. One more: TR_LIMIT. */
#define TR_SCHEDULES_MAX (64 * 1024)
/** Turns of an actor in a row. Then its worker runs other actors. */
#define TR_RUN_TURNS_MAX 64
/**
 * How long an actor is meant to run turns in a row. Then its worker runs other actors. The worker learns
 * of time from a tick each millisecond, so an actor may run until the next tick.
 */
#define TR_RUN_NS_MAX (200 * TR_MICROSECOND)
/**
 * A turn that takes longer is reported. Measured in ticks of one millisecond.
 * tr_system_options.turn_report_ns replaces this limit.
 */
#define TR_TURN_REPORT_NS (10 * TR_MILLISECOND)
/** Lines of the log about long turns in one second. The next line says how many were left out. */
#define TR_STALL_LOGS_MAX 10
/**
 * Threads that a system with handoff_after_ns makes. tr_system_options.handoff_threads_max replaces
 * it. If all are in use, one more worker that is stuck stays stuck, and the log says so.
 */
#define TR_HANDOFF_THREADS_MAX 4
/** The largest tr_system_options.handoff_threads_max. More: TR_LIMIT. */
#define TR_HANDOFF_THREADS_LARGEST 1024
/** Timers of an actor that moves to another worker. An actor with more stays. */
#define TR_MOVED_TIMERS_MAX 64
/** How long, at least, an actor that has moved stays on its new worker. */
#define TR_MOVED_STAYS_NS (10 * TR_MILLISECOND)
/** How long a worker without work spins. Then it sleeps. */
#define TR_SPIN_NS (20 * TR_MICROSECOND)
/**
 * How long a worker without work spins for IO, if the IO that ended its last sleep came soon. It does so
 * less often if nothing comes in that time.
 */
#define TR_SPIN_IO_NS (100 * TR_MICROSECOND)
/**
 * How long a worker without work spins after it has woken another worker, which may answer soon. It
 * does so less often if no answer comes in that time.
 */
#define TR_SPIN_ANSWER_NS (100 * TR_MICROSECOND)
/**
 * If the last commits of the store took no longer than this, a worker without other work spins
 * until the next commit is done. It spins for at most twice the time of a commit, and yields its
 * CPU to other threads. It does so less often if commits do not come in that time. If commits take
 * longer than this, waking the worker adds less than a tenth.
 */
#define TR_SPIN_COMMIT_NS (1 * TR_MILLISECOND)
/** Dead letters that a system remembers. Older ones are only counted. */
#define TR_DEAD_LETTERS_MAX 1000
/** Longest path in the record of a dead letter. The beginning of a longer one is cut. */
#define TR_DEAD_LETTER_PATH_MAX 127
/** Subscribers to dead letters at once. One more: TR_LIMIT. */
#define TR_DEAD_LETTER_SUBSCRIBERS_MAX 16
/** Lines of the log about dead letters in one second. The next line says how many were left out. */
#define TR_DEAD_LETTER_LOGS_MAX 10
/** Longest text of the message in the record of a dead letter. A longer one is cut. */
#define TR_DEAD_LETTER_TEXT_MAX 255
/** Larger messages have no text in the record of a dead letter. */
#define TR_DEAD_LETTER_SHOWN_MAX 4096
/** Records of dead letters that get the text of their message in one second. */
#define TR_DEAD_LETTER_TEXTS_MAX 100
/** Failures and restarts that a system remembers: tr_system_failures. */
#define TR_FAILURES_KEPT 256
/** Actors whose messages tools can follow at once: troupe trace. */
#define TR_FOLLOWED_MAX 16
/** Records of followed messages that each worker keeps; 16,384 / workers if that is less. */
#define TR_FOLLOW_RECORDS_MAX 2048
/** Behaviors whose failures are counted one by one: tr_behavior_info. */
#define TR_FAILED_BEHAVIORS_MAX 128
/** Actors that one call of tr_system_actors looks at. */
#define TR_LOOK_MAX 65536
/** Behaviors that tr_system_behaviors can tell apart. More: TR_LIMIT. */
#define TR_LOOKED_BEHAVIORS_MAX 1024
/** Failed spawns that a client remembers. For older ones tr_spawn_wait gives TR_STOPPED. */
#define TR_CLIENT_FAILURES_MAX 64
/** Asks of a client that were not awaited, or whose callback was not called. One more: TR_LIMIT. */
#define TR_CLIENT_ASKS_MAX 262144
/** Behaviors that a set-up or a tr_become leads to, one after another. More: TR_TOO_DEEP. */
#define TR_BEHAVIORS_NESTED_MAX 10
/** Set-ups inside set-ups. Deeper ones run later, as set-ups of actors on other workers do. */
#define TR_SETUPS_NESTED_MAX 16
/** Claimed paths of a directory at once. One more: TR_LIMIT. */
#define TR_CLAIMS_MAX (1024 * 1024)
/** Characters of each of the four parts of the address of a node. Longer: TR_LIMIT. */
#define TR_NODE_PART_MAX 63
/** Characters of the address of a node. */
#define TR_NODE_ADDRESS_MAX (4 * TR_NODE_PART_MAX + 3)
/** Nodes of a cluster. More: TR_LIMIT. */
#define TR_NODES_MAX 256
/** Workers of a system. More: TR_LIMIT. */
#define TR_WORKERS_MAX 256
/**
 * Living actors and clients of a system. tr_system_options.actors_max replaces it. More: TR_LIMIT.
 * With a thousand or more the limit may be reached a few percent early.
 */
#define TR_ACTORS_MAX (16u * 1024 * 1024)
/** Members of a group or router. More: TR_LIMIT. */
#define TR_GROUP_MEMBERS_MAX 1024
/** Groups and routers of a system at once. One more: TR_LIMIT. */
#define TR_GROUPS_MAX (16 * 1024)
/** Topics of a system at once. One more: TR_LIMIT. */
#define TR_TOPICS_MAX (64 * 1024)
/** Subscribers of a topic at once. One more: TR_LIMIT. */
#define TR_SUBSCRIBERS_MAX (1024 * 1024)
/**
 * The largest spin_ns, round_min_ns, turn_report_ns and handoff_after_ns of tr_system_options.
 * More: TR_INVALID_ARGUMENT.
 */
#define TR_OPTION_NS_MAX TR_HOUR
/**
 * Bytes of one block of tr_alloc or tr_scratch. More: TR_NO_MEMORY. Far below where sizes overflow.
 */
#define TR_ALLOC_MAX ((size_t)1 << 36)
/** Bytes of the key of a durable actor. More, or none: TR_INVALID_ARGUMENT. */
#define TR_KEY_MAX 256
/**
 * If awake_max or awake_bytes_max of tr_system_options is reached, and no actor has become idle for
 * this time, one of the actors that wait on each worker wakes nevertheless. A new actor stays awake
 * at least as long for its first message.
 */
#define TR_AWAKE_WAIT_NS (20 * TR_MILLISECOND)
/** Bytes of the stored state of a durable actor, and of a snapshot. More: TR_TOO_LARGE. */
#define TR_STATE_MAX (8u * 1024 * 1024)
/** Bytes of a key of tr_kv_put. More: TR_TOO_LARGE. */
#define TR_KV_KEY_MAX (2u * 1024)
/** Bytes of a value of tr_kv_put. More: TR_TOO_LARGE. */
#define TR_KV_VALUE_MAX (128u * 1024)
/** Pending alarms of a durable actor. One more: TR_LIMIT. */
#define TR_ALARMS_MAX 1000
/** Characters of the name of an alarm. More: TR_TOO_LARGE. */
#define TR_ALARM_NAME_MAX 128
/** Bytes of the message of an alarm. More: TR_TOO_LARGE. */
#define TR_ALARM_BYTES_MAX (64u * 1024)
/**
 * Bytes of one queue of a durable actor, dead letters included. Each item counts with its message
 * and TR_QUEUE_ITEM_COST. More: TR_LIMIT. An actor that is awake has its queues in memory.
 */
#define TR_QUEUE_BYTES_MAX (64u * 1024 * 1024)
/** What an item of a queue counts beside its message. */
#define TR_QUEUE_ITEM_COST 256
/** Characters of the name of a queue. More: TR_TOO_LARGE. */
#define TR_QUEUE_NAME_MAX 128
/** Bytes of a message in a queue. More: TR_TOO_LARGE. */
#define TR_QUEUE_ITEM_MAX (64u * 1024)
/** Bytes of the id of a request; see tr_ask_once. More, or none: TR_INVALID_ARGUMENT. */
#define TR_REQUEST_ID_MAX 256
/**
 * How long a durable actor keeps the answer to a request with an id.
 * tr_durable_options.answers_ns replaces it.
 */
#define TR_ANSWERS_NS (24 * TR_HOUR)
/** The greatest answers_ns of tr_durable_options. More: the kind is not valid. */
#define TR_ANSWERS_MAX_NS (10 * 365 * 24 * TR_HOUR)
/**
 * Bytes of the answers that a durable actor keeps, with their ids and 64 bytes for each.
 * tr_durable_options.answers_bytes_max replaces it. While there are more, new requests with an id
 * get TR_LIMIT, and their handlers do not run.
 */
#define TR_ANSWERS_BYTES_MAX (16u * 1024 * 1024)
/** Bytes of an answer that is kept. If a reply has more the turn fails with TR_TOO_LARGE. */
#define TR_REQUEST_ANSWER_MAX (1024u * 1024)
/**
 * Repeats of a request with an id that wait for the answer to the first at once. One more:
 * TR_LIMIT.
 */
#define TR_REQUEST_REPEATS_MAX 64
/** Keys that one tr_durable_list returns. More: TR_LIMIT. */
#define TR_DURABLE_LIST_MAX 1000
/** Keys that one tr_durable_list returns if `max` is 0. */
#define TR_DURABLE_LIST_COUNT 100
/** The least and the greatest ttl_ns of tr_durable_options. Else the kind is not valid. */
#define TR_TTL_MIN_NS TR_SECOND
#define TR_TTL_MAX_NS (100 * 365 * 24 * TR_HOUR)
/** The longest delay of tr_queue_push_after: a hundred years. Longer: TR_LIMIT. */
#define TR_QUEUE_DELAY_MAX (INT64_C(36525) * 24 * TR_HOUR)
/** Characters of the cause that an item is stored with. Longer ones are cut. */
#define TR_QUEUE_CAUSE_MAX 255
/** The first delay before another attempt of an alarm or an item. tr_retry.first_ns replaces it. */
#define TR_RETRY_FIRST_NS (2 * TR_SECOND)
/** The longest delay before another attempt. tr_retry.longest_ns replaces it. */
#define TR_RETRY_LONGEST_NS (5 * TR_MINUTE)
/**
 * Attempts of an alarm or an item; with the delays they take about an hour. tr_retry.attempts
 * replaces it.
 */
#define TR_RETRY_ATTEMPTS 21
/** The largest first_ns and longest_ns of a tr_retry. More: TR_INVALID_ARGUMENT. */
#define TR_RETRY_NS_MAX (30 * 24 * TR_HOUR)
/** Bytes of a persisted event. More: TR_TOO_LARGE. */
#define TR_EVENT_MAX (1024u * 1024)
/** Memory of events of an actor that are not on disk yet. More: TR_LIMIT. */
#define TR_EVENTS_HELD_BYTES_MAX (64u * 1024 * 1024)
/** Events between two snapshots. tr_snapshots.every replaces it. */
#define TR_SNAPSHOT_EVERY 100
/** The largest tr_snapshots.kept. More: the kind is not valid. */
#define TR_SNAPSHOTS_MAX 8
/** Bytes of the tables of a durable actor, with the overhead of SQLite. More: TR_LIMIT. */
#define TR_SQL_BYTES_MAX (64u * 1024 * 1024)
/** Bytes of a statement of tr_sql. More: TR_TOO_LARGE. */
#define TR_SQL_TEXT_MAX (64u * 1024)
/** Bytes of one value of tr_sql, and of one row. More: TR_TOO_LARGE. */
#define TR_SQL_VALUE_MAX (4u * 1024 * 1024)
/** Values for one statement of tr_sql. More does not compile. */
#define TR_SQL_VALUES_MAX 63
/** Columns of a table or a result of tr_sql. More: TR_INVALID_ARGUMENT. */
#define TR_SQL_COLUMNS_MAX 256
/** Bytes of a result of tr_sql. More: TR_TOO_LARGE. */
#define TR_SQL_RESULT_MAX (16u * 1024 * 1024)
/**
 * Steps of one statement, as SQLite counts them: about 0.2 s. tr_durable_options.sql_steps_max
 * replaces it. More: TR_OVER_BUDGET.
 */
#define TR_SQL_STEPS_MAX (5u * 1000 * 1000)
/** Prepared statements of an actor that is awake. With more, the least recently used is dropped. */
#define TR_SQL_PREPARED_MAX 16
/**
 * Bytes of the log of a store, at any load. A commit that would make it longer waits until the log
 * has been written into the database and starts over. The log becomes longer only by a single
 * commit of more than 7,500 pages (29 MiB), or if the disk does not let it start over for a minute.
 * It is cut after that.
 */
#define TR_STORE_LOG_MAX (64u * 1024 * 1024)
/** Messages of a program that its schema lists (--schema). With more it is not written: TR_LIMIT. */
#define TR_SCHEMA_MESSAGES_MAX 16384
/** Bytes of a text in the log, with its NUL. Longer texts are cut. */
#define TR_LOG_MAX 1024
/**
 * Bytes of the stack on which a handler runs. tr_system_options.stack_bytes replaces it for all
 * actors, tr_options.stack_bytes for the actors of one behavior. A handler that uses more gets a
 * SIGSEGV, which tr_app_main and names_faults report, and which traps_faults makes a failure of the
 * actor.
 */
#define TR_STACK_SIZE (64u * 1024)
/** The largest stack_bytes of tr_system_options and of tr_options. More: TR_LIMIT. */
#define TR_STACK_LARGEST (64u * 1024 * 1024)
/**
 * Bytes of a channel that wait to be sent. .output_max of a tr_endpoint replaces it. More: tr_write
 * waits.
 */
#define TR_OUTPUT_MAX (64u * 1024)
/** Where a turn cannot wait, this many times .output_max bytes are taken. More: TR_LIMIT. */
#define TR_OUTPUT_EXTRA 16
/**
 * The most bytes of one piece that a channel reads, and the most bytes that tr_unread gives back.
 * .frame_max of a tr_endpoint replaces this limit. More: TR_TOO_LARGE.
 */
#define TR_FRAME_MAX (1024u * 1024)
/** Bytes that the `head` of a tr_framing may write. More is a mistake of the program. */
#define TR_FRAME_HEAD_MAX 16
/** How long a connect may take, handshakes included. Then: TR_TIMEOUT. */
#define TR_CONNECT_NS (30 * TR_SECOND)
/** How long output of a channel may make no progress. Then: TR_STALLED. */
#define TR_STALL_NS (30 * TR_SECOND)
/** How long a channel that was closed continues to send. Then it is reset. */
#define TR_LINGER_NS (5 * TR_SECOND)
/** Bytes that a closed channel still reads from the other side, and drops. Then it is reset. */
#define TR_LINGER_BYTES_MAX (1024u * 1024)
/** Reads of a closed channel, each of at most 64 KiB, before the other channels and actors of its worker have their turn. */
#define TR_LINGER_READS_MAX 1
/** Exchanges of a channel under way at once. .in_flight_max replaces it. One more waits. */
#define TR_IN_FLIGHT_MAX 1024
/** Filters of a channel, PROXY header and TLS not counted. One more: TR_LIMIT, or it does not compile. */
#define TR_FILTERS_MAX 4
/** Bytes that one call of a filter may append. More: TR_TOO_LARGE. */
#define TR_FILTER_PUT_MAX (1024u * 1024)
/** Bytes that a filter may leave untaken while it waits for more. More: TR_TOO_LARGE. */
#define TR_FILTER_HELD_MAX (64u * 1024)
/** Connections of a listener that wait in the kernel. More: the kernel refuses or delays them. */
#define TR_BACKLOG 4096
/** Channels of an actor that moves to another worker. An actor with more stays. */
#define TR_MOVED_CHANNELS_MAX 4
/** Channels of a system. One more: TR_LIMIT. */
#define TR_CHANNELS_MAX (4u * 1024 * 1024)
/** Timers that end with one channel. One more: TR_LIMIT. */
#define TR_CHANNEL_TIMERS_MAX 16
/** Child processes of a system at once. One more: TR_LIMIT. */
#define TR_PROCESSES_MAX 4096
/** Arguments of a child process. More: TR_TOO_LARGE. The kernel also limits their bytes. */
#define TR_ARGUMENTS_MAX 4096
/** How long a child process has to end after SIGTERM. .grace_ns replaces it. Then: SIGKILL. */
#define TR_GRACE_NS (5 * TR_SECOND)
/** Signals of one tr_signals. More: TR_INVALID_ARGUMENT. */
#define TR_SIGNALS_MAX 32
/** Bytes of a datagram that is sent. More: TR_TOO_LARGE. */
#define TR_DATAGRAM_MAX 65507
/** Addresses of one name that a connect tries. More are left out. */
#define TR_ADDRESSES_MAX 16
/** Bytes of the name of a host, as DNS has it. More: TR_ADDRESS_INVALID. */
#define TR_HOST_MAX 253
/**
 * Bytes of a PROXY header, version 2, behind its first 16: addresses and what else a balancer says. More:
 * TR_TOO_LARGE. Version 1 has its own limit, 107 bytes with the line end. More: TR_BAD_DATA.
 */
#define TR_PROXY_HEADER_MAX (4u * 1024)

/* ---- HTTP; tr_http_options changes them for one endpoint. ---- */

/** Bytes of the head of a request. More: 431, or 414 if the first line alone is longer. */
#define TR_HTTP_HEAD_MAX (16u * 1024)
/** Headers of a request. More: 431. */
#define TR_HTTP_HEADERS_MAX 100
/** Bytes of a body that is taken as a whole: for a typed row, TR_HTTP_JSON, tr_http_form. More: 413. */
#define TR_HTTP_BODY_MAX (1024u * 1024)
/** How long the head of a request may take, from its first byte. Longer: 408, and the connection ends. */
#define TR_HTTP_HEAD_NS (10 * TR_SECOND)
/** How long the next piece of a body may take. Longer: 408, and the connection ends. */
#define TR_HTTP_BODY_NS (30 * TR_SECOND)
/** How long a connection may be without a request. Then it is closed. */
#define TR_HTTP_KEEP_NS (75 * TR_SECOND)
/** How long the reply of tr_reply_later to a request of HTTP may take. Then: 504. */
#define TR_HTTP_LATER_NS (30 * TR_SECOND)
/**
 * Bytes of a body that no handler has read, and that are read and dropped so that the connection
 * can be kept. More: the connection is closed.
 */
#define TR_HTTP_DROP_MAX (64u * 1024)
/**
 * Streams of a connection of HTTP/2 that are open at once, with those whose turn has not ended. More: REFUSED_STREAM. A client
 * that has this many asks on a connection opens another one, or waits.
 */
#define TR_HTTP2_STREAMS_MAX 100
/**
 * Bytes of a body of one stream that the other side may send ahead, before a handler or tr_http_receive reads them. A connection
 * holds at most this many for each of its streams.
 */
#define TR_HTTP2_WINDOW (64u * 1024)
/**
 * Bytes of bodies of all streams of a connection that may be on the way. Bytes that have arrived do
 * not count any more.
 */
#define TR_HTTP2_CONNECTION_WINDOW (1024u * 1024)
/**
 * Reads of a connection of HTTP/2 in a row, each of at most 64 KiB. Then the other connections and
 * actors of its worker run.
 */
#define TR_HTTP2_READS_MAX 4
/**
 * The floods below are counted over this time. More than a limit allows: GOAWAY with
 * ENHANCE_YOUR_CALM, and the connection ends.
 */
#define TR_HTTP2_FLOOD_NS (10 * TR_SECOND)
/** Streams that a client resets, or that end because of its mistakes. */
#define TR_HTTP2_RESETS_MAX 100
/**
 * Frames of settings. A client usually sends one. They cost the receiver most, because it answers each frame and changes
 * all streams.
 */
#define TR_HTTP2_SETTINGS_MAX 100
/**
 * Frames that carry nothing: pings, empty data, priorities, window updates that no stream waits for,
 * frames of an unknown kind.
 */
#define TR_HTTP2_IDLE_FRAMES_MAX 1000
/** Frames CONTINUATION of one block of headers. */
#define TR_HTTP2_CONTINUATIONS_MAX 8
/** Bytes of a message of a WebSocket. More: the close has the code 1009. */
#define TR_WS_MESSAGE_MAX (1024u * 1024)
/**
 * A WebSocket from which nothing came for this long gets a ping. If nothing comes for as long
 * again, it is cut off.
 */
#define TR_WS_PING_NS (30 * TR_SECOND)
/** Parts "{name}" of a path. More: TR_INVALID_ARGUMENT when the listener starts. */
#define TR_HTTP_PARTS_MAX 16
/** The shortest body, in bytes, that .compresses compresses. Shorter ones are sent as they are. */
#define TR_HTTP_COMPRESS_MIN 1024u
/** Parts of a form with files. More: 413. */
#define TR_HTTP_FORM_PARTS_MAX 100
/** Bytes of the headers of one part of a form with files. More: 413. */
#define TR_HTTP_FORM_HEAD_MAX 8192u
/** Bytes of the line of a chunk of a body, with its extensions. More: 400. */
#define TR_HTTP_CHUNK_LINE_MAX 4096u
/** Bytes of the trailers behind a body in chunks. More: 400. */
#define TR_HTTP_TRAILERS_MAX (16u * 1024)
/** Headers that tr_http_set adds to one answer. More ends the turn with TR_LIMIT. */
#define TR_HTTP_SET_MAX 32

/* ---- HTTP as a client; members of tr_http_call change some of them for one ask. ---- */

/** How long an ask of tr_http_ask may take, with all redirects. Then: TR_TIMEOUT. */
#define TR_HTTP_CALL_NS (30 * TR_SECOND)
/** Connections of one worker to one host. An ask that needs one more waits. */
#define TR_HTTP_CONNECTIONS_MAX 8
/** Asks that wait for a connection of one worker to one host. One more: TR_LIMIT. */
#define TR_HTTP_WAITING_MAX 256
/** How long a connection without an ask is kept. Then it is closed. */
#define TR_HTTP_IDLE_NS (30 * TR_SECOND)
/** How long a body waits for 100 Continue. Then it is sent. */
#define TR_HTTP_CONTINUE_NS TR_SECOND
/**
 * How long a stream of tr_http_open, or of an answer, may be unused. Then the connection is reset;
 * with HTTP/2 only the stream.
 */
#define TR_HTTP_STREAM_NS (30 * TR_SECOND)
/** Bytes of one tr_http_send. More: TR_TOO_LARGE. */
#define TR_HTTP_PIECE_MAX (256u * 1024)
/** Informational answers (1xx) before the answer. More: TR_BAD_DATA. */
#define TR_HTTP_INTERIM_MAX 16
/**
 * How long a server of HTTP/2 may send nothing after a ping, which it gets when an ask has timed out
 * and nothing has come meanwhile. Then: TR_STALLED.
 */
#define TR_HTTP2_PING_NS (5 * TR_SECOND)

/* ---- Gateways. ---- */

/** Connections of one durable actor. One more is refused with 429. */
#define TR_CONNECTIONS_MAX (64u * 1024)
/** Bytes of what is kept with a connection. More ends the turn with TR_TOO_LARGE. */
#define TR_CONNECTION_KEPT_MAX (2u * 1024)
/** Bytes of an event, as JSON. More ends the turn with TR_TOO_LARGE. */
#define TR_CONNECTION_EVENT_MAX (64u * 1024)
/** Events of one actor that are stored for clients that connect again. Older ones are removed. */
#define TR_CONNECTION_EVENTS_KEPT 256
/** Bytes that wait to be sent to a connection. More: the connection is closed with 1013. */
#define TR_CONNECTION_UNSENT_MAX (1024u * 1024)

#endif
