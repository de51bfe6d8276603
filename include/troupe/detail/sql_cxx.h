/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of sql.h in C++17; see self_cxx.h.
 */
#ifndef TROUPE_DETAIL_SQL_CXX_H
#define TROUPE_DETAIL_SQL_CXX_H
#pragma GCC system_header

#include <type_traits>

/* clang-format off */

template <class TR_T> inline tr_sql_value tr_sql_cxx_value_(const TR_T &value)
{
    if constexpr (std::is_same_v<TR_T, tr_sql_value>)
        return value;
    else if constexpr (std::is_same_v<TR_T, tr_bytes>)
        return tr_sql_bytes_(value);
    else if constexpr (std::is_convertible_v<TR_T, const char *>)
        return tr_sql_text_(value);
    else if constexpr (std::is_floating_point_v<TR_T>)
        return tr_sql_real_(static_cast<double>(value));
    else if constexpr (std::is_enum_v<TR_T> || std::is_signed_v<TR_T>)
        return tr_sql_integer_(static_cast<int64_t>(value));
    else
        return tr_sql_unsigned_(static_cast<uint64_t>(value));
}

template <class... TR_A>
inline tr_status tr_sql_cxx_try_(tr_self *self, tr_sql_result *result, tr_error *error, const TR_A &...a)
{
    const tr_sql_value values[] = { tr_sql_cxx_value_(a)... };
    return tr_self_try_sql(self, result, error, values, sizeof...(a));
}

template <class... TR_A> inline tr_sql_result tr_cxx_sql_(tr_self *self, const TR_A &...a)
{
#ifdef __cpp_exceptions
    tr_error error = {};
    tr_sql_result result = {};
    if (tr_sql_cxx_try_(self, &result, &error, a...) != TR_OK)
        throw tr_turn_over_{ tr_fail(self, error.status, "%s", error.text) };
    return result;
#else
    const tr_sql_value values[] = { tr_sql_cxx_value_(a)... };
    return tr_self_sql(self, values, sizeof...(a));
#endif
}

template <class... TR_A> inline tr_sql_value tr_cxx_sql_one_(tr_self *self, const TR_A &...a)
{
    tr_sql_result result = tr_cxx_sql_(self, a...);
    return result.count ? result.values[0] : tr_sql_null_();
}

#define TR_SQL_CALL_(verb, self, ...) tr_cxx_##verb##_(self, __VA_ARGS__)
#define TR_SQL_TRY_(self, result, error, ...) tr_sql_cxx_try_(self, result, error, __VA_ARGS__)
#define TR_SQL_SCHEMA_(...) \
    ([]() -> const char *const * { \
        static const char *const all[] = { __VA_ARGS__, nullptr }; \
        return all; \
    }())

#endif
