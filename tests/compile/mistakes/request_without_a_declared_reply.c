/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* usual */
/* expect gcc: tr_type_price. undeclared */
/* expect clang: use of undeclared identifier 'tr_type_price' */
#include "common.h"

TR_REQUEST(get_price, price, (str, item));
