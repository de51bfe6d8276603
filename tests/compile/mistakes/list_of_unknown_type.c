/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: field names has an unknown type: list\(string\) */
#include "common.h"

TR_MESSAGE(names, (list(string), names));
