/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* lines clang: 27 */
/* expect gcc: has no member named .is_pined. */
/* expect clang: field designator 'is_pined' does not refer to any field */
#include "common.h"

TR_BEHAVIOR(account, struct account, TR_OPTIONS(.is_pined = true));
