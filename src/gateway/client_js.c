/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/client_js.h"

const unsigned char tr__client_js[] = {
#include "gateway/client_js.inc"
};
const size_t tr__client_js_size = sizeof tr__client_js;
