/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* flags: -m32 */
/* expect: troupe needs a machine of 64 bits */
#include "common.h"
