/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* flags: -U__linux__ */
/* expect: troupe needs Linux */
#include "common.h"
