/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* flags: -std=c99 */
/* usual */
/* expect: troupe needs C11 or later */
#include "common.h"
