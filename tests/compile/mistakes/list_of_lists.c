/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: field rows has an unknown type: list\(list\(u8\)\); known: */
#include "common.h"

TR_MESSAGE(table, (list(list(u8)), rows));
