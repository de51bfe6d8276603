/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Troupe: actors in C. This header has all that an application needs; kit.h, for tests, is apart.
 */
#ifndef TROUPE_TROUPE_H
#define TROUPE_TROUPE_H

#include <troupe/app.h>
#include <troupe/ask.h>
#include <troupe/batch.h>
#include <troupe/behavior.h>
#include <troupe/blocking.h>
#include <troupe/callback.h>
#include <troupe/durable.h>
#include <troupe/group.h>
#include <troupe/limits.h>
#include <troupe/message.h>
#include <troupe/node.h>
#include <troupe/places.h>
#include <troupe/platform.h>
#include <troupe/pool.h>
#include <troupe/ref.h>
#include <troupe/schedule.h>
#include <troupe/self.h>
#include <troupe/shutdown.h>
#include <troupe/sql.h>
#include <troupe/status.h>
#include <troupe/system.h>
#include <troupe/topic.h>
#include <troupe/why.h>
#include <troupe/wire.h>

#endif
