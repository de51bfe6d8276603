/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: field flavor: an enum of a message must have 4 bytes */
#include "common.h"

enum __attribute__((__packed__)) flavor { VANILLA, CHERRY };

TR_MESSAGE(ice, (enum_of(flavor), flavor));
