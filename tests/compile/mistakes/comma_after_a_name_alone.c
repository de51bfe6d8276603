/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* usual */
/* expect: ping: no comma after the name of a message without fields */
#include "common.h"

TR_MESSAGE(ping, );
