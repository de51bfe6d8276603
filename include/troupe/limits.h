/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every limit has a name, and it is here, with what happens to one who reaches it.
 */
#ifndef TROUPE_LIMITS_H
#define TROUPE_LIMITS_H

#include <troupe/status.h>

/** Characters of an actor's name. Longer: TR_NAME_INVALID. */
#define TR_NAME_MAX 128
/** Characters of an actor's path. A spawn that would make a longer one: TR_LIMIT. */
#define TR_PATH_MAX 1024
/**
 * How deep actors have children, how deep messages hold messages, and how deep the values nest that
 * the reader of a document skips. Deeper: TR_TOO_DEEP.
 */
#define TR_DEPTH_MAX 64
/** Supervisors that a tr_error names because they failed by it; all are counted. */
#define TR_ERROR_LINKS_MAX 8
/** Bytes of a message with all it points to; buffers do not count. More: TR_TOO_LARGE. */
#define TR_PAYLOAD_MAX (8u * 1024 * 1024)
/**
 * Fields of a TR_MESSAGE, messages of a TR_ACTOR, clauses of a TR_BEHAVIOR. More: the compiler says
 * so.
 */
#define TR_FIELDS_MAX 63
/**
 * Characters of a number in JSON that becomes a float; the longest decimals that people meet are
 * far below. More: TR_TOO_LARGE.
 */
#define TR_JSON_NUMBER_MAX 512
/** restarts_max of a tr_supervision. More: the behavior is not valid. */
#define TR_RESTARTS_MAX 10000
/** How long a restart waits at most, unless max_ns of tr_backoff says otherwise. */
#define TR_BACKOFF_MAX_NS TR_MINUTE
/** Calls of tr_defer in one turn. One more ends the turn with TR_LIMIT. */
#define TR_DEFERS_MAX 64
/** Messages that an actor has set aside with tr_stash. One more fails the turn: TR_STASH_FULL. */
#define TR_STASH_MAX 1024
/** Memory of these. More fails the turn: TR_STASH_FULL. */
#define TR_STASH_BYTES_MAX (64u * 1024 * 1024)
/** Messages of one batch. A behavior that says more in .batch_max: TR_INVALID_ARGUMENT. */
#define TR_BATCH_MAX 1024
/** Messages that wait in a mailbox, unless tr_options.mailbox_max says otherwise. */
#define TR_MAILBOX_MAX (1024u * 1024)
/** Memory of these, unless tr_options.mailbox_bytes_max says otherwise. Full: see tr_overflow. */
#define TR_MAILBOX_BYTES_MAX (64u * 1024 * 1024)
/** What tr_options.mailbox_max may say at most. A spawn with more: TR_LIMIT. */
#define TR_MAILBOX_LARGEST (4u * 1024 * 1024)
/** What tr_options.mailbox_bytes_max may say at most. A spawn with more: TR_LIMIT. */
#define TR_MAILBOX_BYTES_LARGEST (256u * 1024 * 1024)
/**
 * Messages from other workers and threads to a mailbox with TR_DROP_OLDEST that may be on their way beyond
 * its bound, and as many times 64 bytes of their memory. The receiver's worker drops the oldest when it takes
 * them in. One more before that: TR_MAILBOX_FULL.
 */
#define TR_OVERDRAFT_MAX 65536
/** How long an ask waits for its answer, unless tr_ask_within says otherwise. Then: TR_TIMEOUT. */
#define TR_ASK_NS (5 * TR_SECOND)
/**
 * How long tr_actor_why waits for the worker of an actor. Then its report says what that worker does
 * instead.
 */
#define TR_WHY_NS (100 * TR_MILLISECOND)
/** Reasons in a tr_why_report. Further ones are left out. */
#define TR_REASONS_MAX 16
/** How long a sender waits for room with TR_PARK. Then: TR_MAILBOX_FULL. */
#define TR_PARK_NS (5 * TR_SECOND)
/**
 * Helper threads of a system for tr_blocking, unless tr_system_options.blocking_threads_max says
 * otherwise. One function more waits for a thread.
 */
#define TR_BLOCKING_THREADS_MAX 64
/** What blocking_threads_max of tr_system_options may be. More: TR_LIMIT. */
#define TR_BLOCKING_THREADS_LARGEST 1024
/** Functions of tr_blocking that wait for a thread, in a system. One more: TR_LIMIT. */
#define TR_BLOCKING_QUEUE_MAX (64 * 1024)
/** How long a helper thread without work stays. */
#define TR_BLOCKING_IDLE_NS (10 * TR_SECOND)
/** How long a shutdown waits for actors before it kills them, where nobody says how long. */
#define TR_SHUTDOWN_TIMEOUT_NS (10 * TR_SECOND)
/**
 * How long after the deadline the wait for a function that does not return is over, at the latest; one
 * that has returned after half of that is waited for. Then: TR_SHUTDOWN_INCOMPLETE.
 */
#define TR_SHUTDOWN_GRACE_NS (50 * TR_MILLISECOND)
/**
 * How much longer the killing of very many actors, the burial of millions of messages, or a lack of
 * CPUs may take when no function is in the way. Then: TR_SHUTDOWN_INCOMPLETE.
 */
#define TR_SHUTDOWN_EXTRA_NS (10 * TR_SECOND)
/** Hooks of a system. One more: TR_LIMIT. */
#define TR_HOOKS_MAX 32
/** How long a hook may take, unless tr_system_add_hook says otherwise. */
#define TR_HOOK_TIMEOUT_NS (5 * TR_SECOND)
/** Functions that a shutdown report names because they had not returned; all are counted. */
#define TR_REPORT_BUSY_MAX 8
/** Actors that a shutdown report names because they took longest. */
#define TR_REPORT_SLOW_MAX 4
/** Actors of which a shutdown report has numbers; all that had something to tell are counted. */
#define TR_REPORT_ACTORS_MAX 16
/** Bytes of a shutdown report as a text, at most. */
#define TR_REPORT_TEXT_MAX (32 * 1024)
/** Timers of one actor at once. One more: TR_LIMIT. */
#define TR_TIMERS_MAX (1024 * 1024)
/** Bytes of a timer's key. More, or none: TR_INVALID_ARGUMENT. */
#define TR_TIMER_KEY_MAX 128
/** Schedules of one system at once. One more: TR_LIMIT. */
#define TR_SCHEDULES_MAX (64 * 1024)
/** Turns of an actor before its worker looks at others. */
#define TR_RUN_TURNS_MAX 64
/** Time of an actor before its worker looks at others; kept to a tick of one millisecond. */
#define TR_RUN_NS_MAX (200 * TR_MICROSECOND)
/**
 * How long a turn may take before it is reported, unless tr_system_options.turn_report_ns says
 * otherwise; kept to a tick of one millisecond.
 */
#define TR_TURN_REPORT_NS (10 * TR_MILLISECOND)
/** Lines about long turns in one second; the next line after them says how many were left out. */
#define TR_STALL_LOGS_MAX 10
/**
 * Threads that a system with handoff_after_ns makes to take over workers, unless
 * tr_system_options.handoff_threads_max says otherwise. When all are in use, one more worker that is
 * stuck stays so, and the log says it.
 */
#define TR_HANDOFF_THREADS_MAX 4
/** What handoff_threads_max of tr_system_options may be. More: TR_LIMIT. */
#define TR_HANDOFF_THREADS_LARGEST 1024
/** Timers that go along when an actor moves to another worker; who has more stays. */
#define TR_MOVED_TIMERS_MAX 64
/** How long an actor stays where it has moved to, at least. */
#define TR_MOVED_STAYS_NS (10 * TR_MILLISECOND)
/** How long a worker without work spins before it sleeps. */
#define TR_SPIN_NS (20 * TR_MICROSECOND)
/**
 * The same after it has woken another worker, which may be about to answer; less and less often when
 * no answer comes in that time.
 */
#define TR_SPIN_ANSWER_NS (100 * TR_MICROSECOND)
/**
 * If commits of the store take no longer than this lately, a worker that waits for one and has nothing else to
 * do spins for it, as long as one takes and half of that; also less and less often when it does not come.
 */
#define TR_SPIN_COMMIT_NS (300 * TR_MICROSECOND)
/** Dead letters that a system remembers; older ones are counted only. */
#define TR_DEAD_LETTERS_MAX 1000
/** Subscribers to dead letters at once. One more: TR_LIMIT. */
#define TR_DEAD_LETTER_SUBSCRIBERS_MAX 16
/** Dead letters that are logged in one second; the next line after them says how many were not. */
#define TR_DEAD_LETTER_LOGS_MAX 10
/**
 * Spawns that failed and that a client remembers for tr_spawn_wait. Of older ones that says only
 * that the actor is not there: TR_STOPPED.
 */
#define TR_CLIENT_FAILURES_MAX 64
/** Asks of a client that are neither awaited nor, with a callback, polled for. One more: TR_LIMIT. */
#define TR_CLIENT_ASKS_MAX 262144
/** Behaviors that a set-up or a become may lead to, one after another. More: TR_TOO_DEEP. */
#define TR_BEHAVIORS_NESTED_MAX 10
/** Set-ups that run inside set-ups. Deeper ones run later, as if placed on another worker. */
#define TR_SETUPS_NESTED_MAX 16
/** Paths that are claimed in a directory at once. One more: TR_LIMIT. */
#define TR_CLAIMS_MAX (1024 * 1024)
/** Characters of each of the four parts of a node's address. Longer: TR_LIMIT. */
#define TR_NODE_PART_MAX 63
/** Characters of a node's address. */
#define TR_NODE_ADDRESS_MAX (4 * TR_NODE_PART_MAX + 3)
/** Nodes of a cluster. More: TR_LIMIT. */
#define TR_NODES_MAX 256
/** Workers of a system. More: TR_LIMIT. */
#define TR_WORKERS_MAX 256
/**
 * Actors alive in a system, clients counted too, unless tr_system_options.actors_max says less.
 * More: TR_LIMIT. From a thousand on the limit may be met some hundredths early.
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
 * What spin_ns, round_min_ns, turn_report_ns and handoff_after_ns of tr_system_options may be. More:
 * TR_INVALID_ARGUMENT.
 */
#define TR_OPTION_NS_MAX TR_HOUR
/**
 * Bytes of one block of tr_alloc or tr_scratch: far above any use, and far below where sizes wrap.
 * More is never there: TR_NO_MEMORY.
 */
#define TR_ALLOC_MAX ((size_t)1 << 36)
/** Bytes of the key of a durable actor; its kind is a name. More, or none: TR_INVALID_ARGUMENT. */
#define TR_KEY_MAX 256
/**
 * If awake_max or awake_bytes_max of tr_system_options is reached, and no actor has become idle for this time, one of
 * the actors that wait to wake on a worker begins all the same; a new actor is left awake at least as long for its first
 * message.
 */
#define TR_AWAKE_WAIT_NS (20 * TR_MILLISECOND)
/** Bytes of the state of a durable actor as it is stored, and of a snapshot. More: TR_TOO_LARGE. */
#define TR_STATE_MAX (8u * 1024 * 1024)
/** Bytes of a key that a durable actor keeps a value under. More: TR_TOO_LARGE. */
#define TR_KV_KEY_MAX (2u * 1024)
/** Bytes of such a value. More: TR_TOO_LARGE. */
#define TR_KV_VALUE_MAX (128u * 1024)
/** Alarms of a durable actor that are pending. One more: TR_LIMIT. */
#define TR_ALARMS_MAX 1000
/** Characters of an alarm's name. More: TR_TOO_LARGE. */
#define TR_ALARM_NAME_MAX 128
/** Bytes of what an alarm brings. More: TR_TOO_LARGE. */
#define TR_ALARM_BYTES_MAX (64u * 1024)
/** Messages in one queue of a durable actor. One more: TR_LIMIT. */
#define TR_QUEUE_MAX 1000
/** Characters of a queue's name. More: TR_TOO_LARGE. */
#define TR_QUEUE_NAME_MAX 128
/** Bytes of one of its messages. More: TR_TOO_LARGE. */
#define TR_QUEUE_ITEM_MAX (64u * 1024)
/** Bytes of a persisted event. More: TR_TOO_LARGE. */
#define TR_EVENT_MAX (1024u * 1024)
/** Memory of the events of an actor that are not on disk yet. More: TR_LIMIT. */
#define TR_EVENTS_HELD_BYTES_MAX (64u * 1024 * 1024)
/** Events after which there is a snapshot, unless tr_snapshots.every says otherwise. */
#define TR_SNAPSHOT_EVERY 100
/** What tr_snapshots.kept may be at most. More: the kind is not valid. */
#define TR_SNAPSHOTS_MAX 8
/** Bytes of the tables of a durable actor, with all that SQLite needs beside them. More: TR_LIMIT. */
#define TR_SQL_BYTES_MAX (64u * 1024 * 1024)
/** Bytes of a statement of tr_sql. More: TR_TOO_LARGE. */
#define TR_SQL_TEXT_MAX (64u * 1024)
/** Bytes of one value, and of one row. More: TR_TOO_LARGE. */
#define TR_SQL_VALUE_MAX (4u * 1024 * 1024)
/** Values for one statement. More: the compiler says so. */
#define TR_SQL_VALUES_MAX 63
/** Columns of a table or a result. More: TR_INVALID_ARGUMENT. */
#define TR_SQL_COLUMNS_MAX 256
/** Bytes of a result. More: TR_TOO_LARGE. */
#define TR_SQL_RESULT_MAX (16u * 1024 * 1024)
/**
 * Steps of one statement, as SQLite counts them, unless sql_steps_max of tr_durable_options says otherwise: some
 * 0.2 s. More: TR_OVER_BUDGET.
 */
#define TR_SQL_STEPS_MAX (5u * 1000 * 1000)
/** Statements that an actor keeps prepared while it is awake; of more the least recently used go. */
#define TR_SQL_PREPARED_MAX 16
/**
 * Bytes of the log of a store, at any load. A commit that would make it longer waits until the log has been written
 * into the database and starts over. Only one stretch that writes more than half of this by itself makes it longer; the
 * log is cut after that.
 */
#define TR_STORE_LOG_MAX (64u * 1024 * 1024)
/** Bytes of a text in the log, its NUL counted. Longer ones are cut. */
#define TR_LOG_MAX 1024
/**
 * Bytes of the stack on which a handler runs, unless tr_system_options.stack_bytes says more. A handler that uses
 * more: SIGSEGV, which tr_app_main and names_faults name and traps_faults makes a failure of the actor.
 */
#define TR_STACK_SIZE (64u * 1024)
/** What tr_system_options.stack_bytes may be at most. More: TR_LIMIT. */
#define TR_STACK_LARGEST (64u * 1024 * 1024)

#endif
