/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: field data: a type is one word, such as u8, bytes or list\(u8\); not: uint8_t \* */
#include "common.h"

TR_MESSAGE(image, (u32, width), (uint8_t *, data));
