/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect gcc: field .flavor. has incomplete type */
/* expect clang: field has incomplete type .enum flavor. */
#include "common.h"

TR_MESSAGE(ice, (enum_of(flavor), flavor));
