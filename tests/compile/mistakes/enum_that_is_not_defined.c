/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: incomplete type .enum flavor. */
/* lines gcc: 55 */
/* lines clang: 102 */
#include "common.h"

TR_MESSAGE(ice, (enum_of(flavor), flavor));
