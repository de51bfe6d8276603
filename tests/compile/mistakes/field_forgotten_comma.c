/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: posting: a comma is missing between two fields: \(str, to\) \(i64, cents\) */
#include "common.h"

/* clang-format off */
TR_MESSAGE(posting, (str, to) (i64, cents), (bool, is_late));
