/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: field row: array, list and optional hold single values */
#include "common.h"

TR_MESSAGE(table, (optional(list(u8)), row));
