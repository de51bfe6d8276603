/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* flags: -std=c++14 */
/* usual */
/* expect: troupe needs C\+\+17 or later */
#include "common.h"
