/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* usual */
/* expect: film is larger than TR_PAYLOAD_MAX; send a buffer */
#include "common.h"

TR_MESSAGE(film, (array(u8, 9000000), pixels));
