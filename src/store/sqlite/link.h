/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A connection to the database, with statements that are prepared once and then used many times.
 */
#ifndef STORE_SQLITE_LINK_H
#define STORE_SQLITE_LINK_H

#include "store/sqlite/vfs.h"

#include <troupe/message.h>

/* All statements, each with name and text. In a statement, an actor is the number of its row in the
 * table `actor`. */
#define LINK_STATEMENTS(X)                                                                         \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                    \
    X(COMMIT, "COMMIT")                                                                            \
    X(ROLLBACK, "ROLLBACK")                                                                        \
    X(ACTOR_FIND, "SELECT id, seal, version, sequence, state FROM actor WHERE name = ?1")          \
    X(ACTOR_CHECK, "SELECT 1 FROM actor WHERE id = ?1 AND seal = ?2")                              \
    X(ACTOR_INSERT,                                                                                \
      "INSERT INTO actor (name, seal, version, sequence, state) "                                  \
      "VALUES (?1, ?2, ?3, ?4, ?5)")                                                               \
    X(ACTOR_STATE,                                                                                 \
      "UPDATE actor SET seal = ?1, sequence = ?2, state = ?3 WHERE id = ?4 AND seal = ?5")         \
    X(ACTOR_SEAL, "UPDATE actor SET seal = ?1, sequence = ?2 WHERE id = ?3 AND seal = ?4")         \
    X(ACTOR_VERSION, /* separate, because the version is in an index and seldom changes */         \
      "UPDATE actor SET version = ?2 WHERE id = ?1")                                               \
    X(ACTOR_DELETE, "DELETE FROM actor WHERE id = ?1 AND seal = ?2")                               \
    X(ACTOR_ROWS, /* counts rows of all tables, at most ?2 + 1 of each */                          \
      "SELECT (SELECT count(*) FROM (SELECT 1 FROM kv WHERE actor = ?1 LIMIT ?2 + 1)) + "          \
      "(SELECT count(*) FROM (SELECT 1 FROM queue WHERE actor = ?1 LIMIT ?2 + 1)) + "              \
      "(SELECT count(*) FROM (SELECT 1 FROM event WHERE actor = ?1 LIMIT ?2 + 1)) + "              \
      "(SELECT count(*) FROM (SELECT 1 FROM snapshot WHERE actor = ?1 LIMIT ?2 + 1)) + "           \
      "(SELECT count(*) FROM (SELECT 1 FROM page WHERE actor = ?1 LIMIT ?2 + 1)) + "               \
      "(SELECT count(*) FROM (SELECT 1 FROM request WHERE actor = ?1 LIMIT ?2 + 1))")              \
    X(ACTOR_DOOMED, /* the condition is that of the index actor_doomed */                          \
      "SELECT id, seal, version, sequence, state, name FROM actor "                                \
      "WHERE version >= 4294967296 ORDER BY version LIMIT 1 OFFSET ?1")                            \
    X(ACTOR_NAMES, /* reads indexes only; the last condition is that of the index actor_half */    \
      "SELECT name FROM actor WHERE name >= ?1 AND name < ?2 AND id NOT IN "                       \
      "(SELECT id FROM actor WHERE version >= 2147483648) ORDER BY name LIMIT ?3")                 \
    X(ACTOR_BURY,                                                                                  \
      "UPDATE actor SET name = ?1, seal = x'', version = 0, sequence = 0, state = NULL "           \
      "WHERE id = ?2 AND seal = ?3")                                                               \
    X(BURIED_FIND, "SELECT id FROM actor WHERE name < x'01' ORDER BY name LIMIT 1")                \
    X(BURIED_DELETE, "DELETE FROM actor WHERE id = ?1")                                            \
    X(BURIED_KV,                                                                                   \
      "DELETE FROM kv WHERE actor = ?1 AND key IN "                                                \
      "(SELECT key FROM kv WHERE actor = ?1 LIMIT ?2)")                                            \
    X(BURIED_QUEUE,                                                                                \
      "DELETE FROM queue WHERE actor = ?1 AND (name, id) IN "                                      \
      "(SELECT name, id FROM queue WHERE actor = ?1 LIMIT ?2)")                                    \
    X(BURIED_EVENT,                                                                                \
      "DELETE FROM event WHERE actor = ?1 AND sequence IN "                                        \
      "(SELECT sequence FROM event WHERE actor = ?1 LIMIT ?2)")                                    \
    X(BURIED_SNAPSHOT,                                                                             \
      "DELETE FROM snapshot WHERE actor = ?1 AND sequence IN "                                     \
      "(SELECT sequence FROM snapshot WHERE actor = ?1 LIMIT ?2)")                                 \
    X(BURIED_PAGE,                                                                                 \
      "DELETE FROM page WHERE actor = ?1 AND number IN "                                           \
      "(SELECT number FROM page WHERE actor = ?1 LIMIT ?2)")                                       \
    X(BURIED_REQUEST,                                                                              \
      "DELETE FROM request WHERE actor = ?1 AND id IN "                                            \
      "(SELECT id FROM request WHERE actor = ?1 LIMIT ?2)")                                        \
    X(KV_PUT, "INSERT OR REPLACE INTO kv (actor, key, seal, value) VALUES (?1, ?2, ?3, ?4)")       \
    X(KV_DELETE, "DELETE FROM kv WHERE actor = ?1 AND key = ?2")                                   \
    X(KV_DELETE_RANGE, "DELETE FROM kv WHERE actor = ?1 AND key >= ?2 AND key < ?3")               \
    X(KV_DELETE_ALL, "DELETE FROM kv WHERE actor = ?1")                                            \
    X(KV_READ,                                                                                     \
      "SELECT k.key, k.seal, k.value FROM actor a CROSS JOIN kv k "                                \
      "ON k.actor = a.id WHERE a.name = ?1 AND k.key = ?2")                                        \
    X(KV_LIST,                                                                                     \
      "SELECT k.key, k.seal, k.value FROM actor a CROSS JOIN kv k ON k.actor = a.id "              \
      "WHERE a.name = ?1 AND k.key >= ?2 AND k.key < ?3 ORDER BY k.key LIMIT ?4")                  \
    X(KV_LIST_DOWN,                                                                                \
      "SELECT k.key, k.seal, k.value FROM actor a CROSS JOIN kv k ON k.actor = a.id "              \
      "WHERE a.name = ?1 AND k.key >= ?2 AND k.key < ?3 ORDER BY k.key DESC LIMIT ?4")             \
    X(ALARM_SET,                                                                                   \
      "INSERT OR REPLACE INTO alarm (actor, name, due, seal, bytes) "                              \
      "VALUES (?1, ?2, ?3, ?4, ?5)")                                                               \
    X(ALARM_CLEAR, "DELETE FROM alarm WHERE actor = ?1 AND name = ?2")                             \
    X(ALARM_CLEAR_ALL, "DELETE FROM alarm WHERE actor = ?1")                                       \
    X(ALARM_COUNT, /* counts only alarms of the application; see tr__store_alarm_set */            \
      "SELECT count(*) FROM alarm WHERE actor = ?1 AND name >= x'02'")                             \
    X(ALARM_LIST,                                                                                  \
      "SELECT m.name, m.due, m.seal, m.bytes FROM actor a CROSS JOIN alarm m "                     \
      "ON m.actor = a.id WHERE a.name = ?1 ORDER BY m.name")                                       \
    X(ALARM_DUE,                                                                                   \
      "SELECT m.due, m.actor, m.name, m.seal, m.bytes, a.name FROM alarm m "                       \
      "LEFT JOIN actor a ON a.id = m.actor "                                                       \
      "WHERE (m.due, m.actor, m.name) > (?1, ?2, ?3) AND m.due <= ?4 "                             \
      "ORDER BY m.due, m.actor, m.name LIMIT ?5")                                                  \
    X(QUEUE_PUSH,                                                                                  \
      "INSERT OR REPLACE INTO queue (actor, name, id, seal, bytes) "                               \
      "VALUES (?1, ?2, ?3, ?4, ?5)")                                                               \
    X(QUEUE_REMOVE, "DELETE FROM queue WHERE actor = ?1 AND name = ?2 AND id = ?3")                \
    X(QUEUE_CLEAR_ALL, "DELETE FROM queue WHERE actor = ?1")                                       \
    X(QUEUE_LIST,                                                                                  \
      "SELECT q.name, q.id, q.seal, q.bytes FROM actor a CROSS JOIN queue q "                      \
      "ON q.actor = a.id WHERE a.name = ?1 AND q.name = ?2 AND q.id >= ?3 "                        \
      "ORDER BY q.id LIMIT ?4")                                                                    \
    X(QUEUE_LIST_ALL,                                                                              \
      "SELECT q.name, q.id, q.seal, q.bytes FROM actor a CROSS JOIN queue q "                      \
      "ON q.actor = a.id WHERE a.name = ?1 AND (q.name, q.id) >= (?2, ?3) "                        \
      "ORDER BY q.name, q.id LIMIT ?4")                                                            \
    /* Each step of the recursion is one lookup in the index, however many items an actor has. */  \
    X(QUEUE_ACTORS,                                                                                \
      "WITH RECURSIVE next(actor) AS (SELECT min(actor) FROM queue WHERE actor > ?1 UNION ALL "    \
      "SELECT (SELECT min(actor) FROM queue WHERE actor > next.actor) FROM next "                  \
      "WHERE next.actor IS NOT NULL LIMIT ?3) "                                                    \
      "SELECT next.actor, a.name, EXISTS (SELECT 1 FROM queue q WHERE q.actor = next.actor "       \
      "AND q.name > ?2), a.version FROM next LEFT JOIN actor a ON a.id = next.actor "              \
      "WHERE next.actor IS NOT NULL")                                                              \
    X(EVENT_APPEND, "INSERT INTO event (actor, sequence, seal, bytes) VALUES (?1, ?2, ?3, ?4)")    \
    X(EVENT_TRIM, "DELETE FROM event WHERE actor = ?1 AND sequence <= ?2")                         \
    X(EVENT_LIST,                                                                                  \
      "SELECT e.sequence, e.seal, e.bytes FROM actor a CROSS JOIN event e "                        \
      "ON e.actor = a.id WHERE a.name = ?1 AND e.sequence >= ?2 "                                  \
      "AND e.sequence <= ?3 ORDER BY e.sequence LIMIT ?4")                                         \
    X(SNAPSHOT_PUT,                                                                                \
      "INSERT OR REPLACE INTO snapshot (actor, sequence, seal, version, bytes) "                   \
      "VALUES (?1, ?2, ?3, ?4, ?5)")                                                               \
    X(SNAPSHOT_TRIM, "DELETE FROM snapshot WHERE actor = ?1 AND sequence <= ?2")                   \
    X(SNAPSHOT_READ,                                                                               \
      "SELECT s.sequence, s.seal, s.version, s.bytes FROM actor a CROSS JOIN snapshot s "          \
      "ON s.actor = a.id WHERE a.name = ?1 AND s.sequence <= ?2 "                                  \
      "ORDER BY s.sequence DESC LIMIT 1")                                                          \
    X(REQUEST_PUT,                                                                                 \
      "INSERT OR REPLACE INTO request (actor, id, number, seal, bytes) "                           \
      "VALUES (?1, ?2, ?3, ?4, ?5)")                                                               \
    X(REQUEST_TRIM, "DELETE FROM request WHERE actor = ?1 AND number <= ?2")                       \
    X(REQUEST_DELETE_ALL, "DELETE FROM request WHERE actor = ?1")                                  \
    X(REQUEST_READ,                                                                                \
      "SELECT r.id, r.number, r.seal, r.bytes FROM actor a CROSS JOIN request r "                  \
      "ON r.actor = a.id WHERE a.name = ?1 AND r.id = ?2")                                         \
    X(REQUEST_LIST,                                                                                \
      "SELECT r.id, r.number, r.seal, r.bytes FROM actor a CROSS JOIN request r "                  \
      "ON r.actor = a.id WHERE a.name = ?1 AND r.number >= ?2 ORDER BY r.number LIMIT ?3")         \
    X(REQUEST_LAST,                                                                                \
      "SELECT r.id, r.number, r.seal, r.bytes FROM actor a CROSS JOIN request r "                  \
      "ON r.actor = a.id WHERE a.name = ?1 AND r.number >= ?2 ORDER BY r.number DESC LIMIT ?3")    \
    X(SHAPE_PUT, "INSERT OR REPLACE INTO shape (id, seal, text) VALUES (?1, ?2, ?3)")              \
    X(SHAPE_LIST, "SELECT id, seal, text FROM shape ORDER BY id")                                  \
    X(PAGE_PUT,                                                                                    \
      "INSERT OR REPLACE INTO page (actor, number, seal, bytes) VALUES (?1, ?2, ?3, ?4)")          \
    X(PAGE_DELETE_ALL, "DELETE FROM page WHERE actor = ?1")                                        \
    X(PAGE_READ,                                                                                   \
      "SELECT p.seal, p.bytes FROM actor a CROSS JOIN page p "                                     \
      "ON p.actor = a.id WHERE a.name = ?1 AND p.number = ?2")                                     \
    X(PAGE_LAST,                                                                                   \
      "SELECT p.number FROM actor a CROSS JOIN page p ON p.actor = a.id "                          \
      "WHERE a.name = ?1 ORDER BY p.number DESC LIMIT 1")

#define LINK_ENUM_(name, text) SQL_##name,
enum link_statement { LINK_STATEMENTS(LINK_ENUM_) SQL_COUNT };
#undef LINK_ENUM_

struct link {
    sqlite3 *database;
    sqlite3_stmt *statements[SQL_COUNT]; /* NULL: not prepared yet */
};

/**
 * Opens a connection and does nothing else. The caller must check what the file is before SQLite
 * uses it.
 */
TR_MUST_CHECK tr_status tr__link_open(struct link *link, const struct vfs *vfs, const char *path);
/** Applies the settings that all connections have. */
TR_MUST_CHECK tr_status tr__link_settle(struct link *link, size_t cache_bytes);
/** Closes a connection, even if opening it failed. */
void tr__link_close(struct link *link);

/** Translates a result of SQLite to a status. */
tr_status tr__link_status(int result);

/**
 * Returns a statement that is reset and ready for binding. If the statement could not be prepared,
 * returns NULL and sets *status to the reason.
 */
sqlite3_stmt *tr__link_statement(struct link *link, enum link_statement which, tr_status *status);
/** Prepares all statements that must later not fail for lack of memory. */
TR_MUST_CHECK tr_status tr__link_ready(struct link *link);
/** Runs a statement that returns no rows, and resets it. */
TR_MUST_CHECK tr_status tr__link_run(sqlite3_stmt *statement);
/** Runs a statement that takes no arguments and returns no rows. */
TR_MUST_CHECK tr_status tr__link_do(struct link *link, enum link_statement which);
/** Runs SQL texts that take no arguments. Rows are ignored. */
TR_MUST_CHECK tr_status tr__link_execute(struct link *link, const char *text);
/** Returns the number in the first row of an SQL text. */
TR_MUST_CHECK tr_status tr__link_number(struct link *link, const char *text, int64_t *number);

/* The next functions bind an argument of a statement. Bytes are borrowed until the statement has
 * run. Only a mistake of the runtime can make these calls fail. */
void tr__link_bind_bytes(sqlite3_stmt *statement, int index, tr_bytes bytes);
void tr__link_bind_number(sqlite3_stmt *statement, int index, int64_t number);
/**
 * Returns a column as bytes, which are borrowed until the next step. If there was no memory,
 * sqlite3_errcode returns SQLITE_NOMEM after this call.
 */
tr_bytes tr__link_bytes(sqlite3_stmt *statement, int column);

#endif
