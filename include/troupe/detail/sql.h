/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the values of a statement are collected. For sql.h only.
 */
#ifndef TROUPE_DETAIL_SQL_H
#define TROUPE_DETAIL_SQL_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

TR_INLINE tr_sql_value tr_sql_null_(void)
{
    return TR_VALUE(tr_sql_value, TR_SQL_TYPE_NULL, 0, 0, "", TR_VALUE(tr_bytes, 0, 0));
}
TR_INLINE tr_sql_value tr_sql_integer_(int64_t integer)
{
    tr_sql_value value = tr_sql_null_();
    value.type = TR_SQL_TYPE_INTEGER;
    value.integer = integer;
    value.real = (double)integer;
    return value;
}
TR_INLINE tr_sql_value tr_sql_unsigned_(uint64_t number)
{
    tr_sql_value value = tr_sql_integer_((int64_t)number);
    if (number > (uint64_t)INT64_MAX)
        value.type = TR_SQL_TYPE_TOO_LARGE;
    return value;
}
TR_INLINE tr_sql_value tr_sql_real_(double real)
{
    tr_sql_value value = tr_sql_null_();
    value.type = TR_SQL_TYPE_REAL;
    value.real = real;
    return value;
}
TR_INLINE tr_sql_value tr_sql_text_(const char *text)
{
    tr_sql_value value = tr_sql_null_();
    if (!text)
        return value;
    value.type = TR_SQL_TYPE_TEXT;
    value.text = text;
    value.bytes = TR_VALUE(tr_bytes, text, __builtin_strlen(text));
    return value;
}
TR_INLINE tr_sql_value tr_sql_bytes_(tr_bytes bytes)
{
    tr_sql_value value = tr_sql_null_();
    value.type = TR_SQL_TYPE_BYTES;
    value.bytes = bytes;
    return value;
}
TR_INLINE tr_sql_value tr_sql_value_(tr_sql_value value)
{
    return value;
}

#define TR_SQL_EACH_(row, result) \
    for (tr_sql_result tr_rows_of_##row = (result); tr_rows_of_##row.count; \
         tr_rows_of_##row.count = 0) \
        for (const tr_sql_value * \
                 row = tr_rows_of_##row.values, \
                *tr_end_of_##row = row + tr_rows_of_##row.count * tr_rows_of_##row.columns; \
             row < tr_end_of_##row; \
             row += tr_rows_of_##row.columns)

#ifdef __cplusplus
#include <troupe/detail/sql_cxx.h>
#else
#define TR_SQL_VALUE_(c, x) \
    _Generic((x), \
        _Bool: tr_sql_integer_, char: tr_sql_integer_, signed char: tr_sql_integer_, \
        unsigned char: tr_sql_integer_, short: tr_sql_integer_, unsigned short: tr_sql_integer_, \
        int: tr_sql_integer_, unsigned: tr_sql_integer_, long: tr_sql_integer_, \
        long long: tr_sql_integer_, unsigned long: tr_sql_unsigned_, \
        unsigned long long: tr_sql_unsigned_, float: tr_sql_real_, double: tr_sql_real_, \
        char *: tr_sql_text_, const char *: tr_sql_text_, tr_bytes: tr_sql_bytes_, \
        tr_sql_value: tr_sql_value_)(x),
#define TR_SQL_VALUES_(...) \
    (const tr_sql_value[]){ TR_PP_EACH(TR_SQL_VALUE_, ~, __VA_ARGS__) }, TR_PP_COUNT(__VA_ARGS__)
#define TR_SQL_CALL_(verb, self, ...) tr_self_##verb(self, TR_SQL_VALUES_(__VA_ARGS__))
#define TR_SQL_TRY_(self, result, error, ...) \
    tr_self_try_sql(self, result, error, TR_SQL_VALUES_(__VA_ARGS__))
#define TR_SQL_SCHEMA_(...) ((const char *const[]){ __VA_ARGS__, NULL })
#endif

#endif
