/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* lines clang: 26 */
/* expect: conversion from .bank_ref. to non-scalar type .account_ref.|no viable conversion from .bank_ref. */
#include "common.h"

void f(tr_self *self)
{
    account_ref account = tr_spawn(self, bank, "bank");
    tr_stop(self, account);
}
