/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/kind.h"

#include "actor/cell/upcalls.h"
#include "actor/mail/mail.h"
#include "actor/mail/outbox.h"

#define MAIL_KIND_TAKER(kind, box, taker, properties) [ENVELOPE_##kind] = taker,

mail_taker *const tr__mail_takers[MAIL_KIND_COUNT] = {MAIL_KINDS(MAIL_KIND_TAKER)};

/* What cannot be true of any kind; tests/unit/actor_kind_test.c looks at the functions. */
#define MAIL_KIND_CHECK(kind, box, taker, properties)                                              \
    static_assert(!((properties)&MAIL_TAKES_CAPACITY) || (properties)&MAIL_COUNTS,                 \
                  #kind " takes the capacity of a message and is none");                           \
    static_assert(!((properties)&MAIL_COUNTS) || MAIL_BOX_##box != MAIL_BOX_NONE,                  \
                  #kind " is a message and has no mailbox");

MAIL_KINDS(MAIL_KIND_CHECK)
