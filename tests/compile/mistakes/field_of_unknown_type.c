/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* usual */
/* expect: field text has an unknown type: string; known: bool i8..i64 u8..u64 */
#include "common.h"

TR_MESSAGE(note, (u64, id), (string, text));
