/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect gcc: incompatible|invalid|aggregate */
/* expect clang: initializing 'struct \(.*' with an expression of incompatible type 'uint32_t'|incompatible */
#include "common.h"

struct size {
    uint32_t width;
};

void f(tr_self *self, tr_ref to, struct size size);
void f(tr_self *self, tr_ref to, struct size size)
{
    tr_tell(self, to, paint, .width = size);
}
