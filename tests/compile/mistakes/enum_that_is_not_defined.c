/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: incomplete type .enum flavor. */
/* lines gcc: 48 */
/* lines clang: 94 */
#include "common.h"

TR_MESSAGE(ice, (enum_of(flavor), flavor));
