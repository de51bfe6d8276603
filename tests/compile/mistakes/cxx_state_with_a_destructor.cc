/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect: the state shelf begins as zeros and is just freed: no constructor and no destructor would run */
#include "common.h"

#include <string>

struct shelf {
    std::string label;
};

TR_BEHAVIOR(shelf, shelf);
