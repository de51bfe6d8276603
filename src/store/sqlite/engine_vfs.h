/* SPDX-License-Identifier: Apache-2.0 */
/** The VFS of actors' own databases, whose files are the pages of an actor. */
#ifndef STORE_SQLITE_ENGINE_VFS_H
#define STORE_SQLITE_ENGINE_VFS_H

#include "store/sqlite/session.h"

/** Registers the VFS. There is one for the whole session. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__engine_vfs_init(struct store_session *session);
void tr__engine_vfs_deinit(struct store_session *session);

#endif
