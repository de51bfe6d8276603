/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: field shade has an unknown type: color; known:.*enum_of\(\) */
#include "common.h"

TR_MESSAGE(ice, (color, shade));
