/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Names of actors by any key: an address, a number, the bytes of a hash.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_REQUEST(visit, tr_done, (str, who));
 * TR_ACTOR(session, visit);
 * TR_ACTOR(porch, visit);
 *
 * static tr_next on_visit_session(tr_self *self)
 * {
 *     return tr_reply(self, tr_done);
 * }
 *
 * TR_BEHAVIOR(session, void, TR_ON(visit, on_visit_session));
 *
 * static tr_next on_visit(tr_self *self, const struct visit *message)
 * {
 *     const char *name = tr_name_of(self, message->who); // "eve%40example.org"
 *     session_ref session = tr_child(self, session, name);
 *     if (tr_is_nobody(session))
 *         session = tr_spawn(self, session, name);
 *     return tr_forward(self, session);
 * }
 *
 * TR_BEHAVIOR(porch, void, TR_ON(visit, on_visit));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     porch_ref porch = tr_spawn(self, porch, "porch");
 *     tr_await(self, tr_ask(self, porch, visit, .who = "eve@example.org"));
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(site, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, site);
 * }
 * ```
 *
 * A name has the characters A-Z a-z 0-9 _ . - and escapes. An escape is '%' and two digits of 0-9 a-f. It stands for a
 * byte that is none of these characters. So each key has exactly one name, each name belongs to one key, and a path is
 * never ambiguous, whatever the keys are. TR_NAME_MAX is the limit for the bytes of the key, not for the characters of
 * the escaped name. Such names are for children and for actors of the pool. Paths, the log, `why` and gdb show them.
 * tr_spawn does not escape a string: with the name "a b" it gives TR_NAME_INVALID.
 */
#ifndef TROUPE_NAME_H
#define TROUPE_NAME_H

#include <troupe/self.h>

/** Bytes of the longest name, with its escapes and its NUL. */
#define TR_NAME_SIZE (3 * TR_NAME_MAX + 1)

TR_BEGIN_C
/**
 * Returns the name of a key, a string of 1 to TR_NAME_MAX bytes; borrowed until the turn ends.
 * In a turn. Does not wait.
 *
 * Ends the turn with TR_NAME_INVALID: the key is NULL, empty or too long; or TR_NO_MEMORY.
 */
char *tr_name_of(tr_self *self, const char *key);
/**
 * Writes the name of a key of any bytes. Returns TR_OK; TR_NAME_INVALID: the key is empty or too
 * long; TR_INVALID_ARGUMENT: key.data is NULL, or `name` is NULL. Any thread. Does not wait.
 */
TR_MUST_CHECK tr_status tr_name_write(tr_bytes key, char name[TR_NAME_SIZE]);
/**
 * Writes the key of a name, with a NUL behind it. *size is the size of the key without the NUL; `size` may be NULL.
 * Returns TR_OK; TR_NAME_INVALID: this is no name; TR_INVALID_ARGUMENT: `name` or `key` is NULL. Any thread. Does not
 * wait.
 */
TR_MUST_CHECK tr_status tr_name_read(const char *name, char key[TR_NAME_MAX + 1], size_t *size);
TR_END_C

#endif
