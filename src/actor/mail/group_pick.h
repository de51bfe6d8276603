/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sends to a group: which member gets a message.
 */
#ifndef ACTOR_MAIL_GROUP_PICK_H
#define ACTOR_MAIL_GROUP_PICK_H

#include <troupe/detail/base.h>
#include <troupe/status.h>

struct envelope;
struct group_address;
struct group_letter;
struct group_walk;
struct tr_system;
struct worker;

/**
 * Begins a walk for a message. TR_OK, TR_STOPPED, or TR_UNHANDLED: it has no key. `worker` is the
 * sender's, NULL on other threads.
 */
TR_MUST_CHECK tr_status tr__group_begin(struct tr_system *system, const struct worker *worker,
                                        uint64_t ref, const struct group_letter *letter,
                                        struct group_walk *walk);
/** The next member that is there; NULL: none is left. */
struct cell *tr__group_next(struct group_walk *walk);
/** Of a walk whose message was not taken. */
void tr__group_give_up(struct group_walk *walk);
/** The member for a message that its group supervisor passes on; 0 for none. TR_UNHANDLED: it has no key. */
TR_MUST_CHECK tr_status tr__group_choose(struct group_address *group, const struct worker *worker,
                                         const struct group_letter *letter, uint64_t *member);
/**
 * Sends a message, a notice or an ask, to one of those behind a group address. *cell and *to are the group address and
 * its ref, and then who has it, or on TR_MAILBOX_FULL whose turn it was. Takes the envelope on TR_OK.
 */
tr_status tr__group_send(struct worker *worker, struct envelope *envelope, struct cell **cell,
                         uint64_t *to);
/** The same from any thread. It does not wait for capacity. */
tr_status tr__group_send_outside(struct tr_system *system, struct envelope *envelope,
                                 struct cell **cell, uint64_t *to);
/** All members, for tr__group_each. Any thread. */
struct group_walk tr__group_all(struct tr_system *system, uint64_t ref);
/** The next of them; false: that was the last. */
bool tr__group_each(struct group_walk *walk, uint64_t *member);

#endif
