/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* usual */
/* expect: note: write each field as \(type, name\), not: u64 id */
#include "common.h"

TR_MESSAGE(note, u64 id, (str, text));
