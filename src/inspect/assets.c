/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect/assets.h"

#include <string.h>

static const unsigned char index_html[] = {
#include "inspect/index_html.inc"
};
static const unsigned char app_js[] = {
#include "inspect/app_js.inc"
};
static const unsigned char app_css[] = {
#include "inspect/app_css.inc"
};

static const struct asset assets[] = {
    {"/", "text/html; charset=utf-8", {index_html, sizeof index_html}},
    {"/app.js", "text/javascript; charset=utf-8", {app_js, sizeof app_js}},
    {"/app.css", "text/css; charset=utf-8", {app_css, sizeof app_css}},
};

const struct asset *tr__asset_find(const char *path)
{
    for (size_t i = 0; i < sizeof assets / sizeof *assets; i++) {
        if (strcmp(assets[i].path, path) == 0)
            return &assets[i];
    }
    return NULL;
}
