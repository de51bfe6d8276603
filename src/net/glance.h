/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What any thread may see of a channel, for texts only, as tr__view_glance of an actor (actor/cell/view.h, rule 3): members
 * that their owner writes by plain stores are read as they are, old or new, and no pointer is followed.
 */
#ifndef NET_GLANCE_H
#define NET_GLANCE_H

#include <stdbool.h>
#include <stdint.h>

struct tr_system;

struct channel_glance {
    uint64_t bits;
    uint64_t owner;       /* ref of the actor; 0: none */
    int fd;               /* -1: none. The number may belong to another descriptor by now */
    uint32_t flags;       /* enum channel_flag */
    uint8_t kind;         /* enum channel_kind */
    uint8_t state;        /* enum channel_state */
    bool is_secure;       /* TLS */
    uint8_t secure_flags; /* enum secure_flag of net/tls.h; 0: the handshake has not ended */
    uint16_t secure_cipher;
};

/** Looks at one slot of the table. Returns false if no channel is in it. Any thread. */
bool tr__channel_glance(struct tr_system *system, uint32_t slot, struct channel_glance *glance);
/** Whether the channel that a glance has seen is still there, with the same descriptor. Any thread. */
bool tr__channel_is_same(struct tr_system *system, const struct channel_glance *glance);
/** Returns the number after the last slot that was ever used. Any thread. */
uint32_t tr__channel_slots(struct tr_system *system);

#endif
