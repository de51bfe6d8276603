/* SPDX-License-Identifier: Apache-2.0 */
/** A guest, who is remembered: what others can ask. */
#ifndef GUEST_H
#define GUEST_H

#include <troupe/troupe.h>

TR_MESSAGE(seen, (u64, times), (str, last_page));
TR_REQUEST(visit, seen, (str, page));
TR_ACTOR(guest, visit);
TR_DURABLE_DECLARE(guest);

#endif
