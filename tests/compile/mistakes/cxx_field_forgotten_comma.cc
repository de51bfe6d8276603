/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect: posting: a comma is missing between two fields: \(str, to\) \(i64, cents\) */
#include "common.h"

TR_MESSAGE(posting, (str, to) (i64, cents));
