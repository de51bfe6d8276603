/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How TR_MESSAGE, TR_REQUEST and TR_DESCRIBE work.
 *
 * For message.h only. Each field (type, name) expands in three places: to a member of the struct,
 * to a row of the table of fields, and to a factor of tr_is_flat_m, a constant that is 1 if the
 * message has no pointers.
 */
#ifndef TROUPE_DETAIL_MESSAGE_H
#define TROUPE_DETAIL_MESSAGE_H
#pragma GCC system_header

/* Macros are laid out by hand. */
/* clang-format off */

#define TR_MESSAGE_(m, ...) \
    TR_MESSAGE_STRUCT_(m, __VA_ARGS__); \
    TR_MESSAGE_NAMES_(m, 0); \
    TR_MESSAGE_TABLE_(m, __VA_ARGS__); \
    TR_MAY_BE_UNUSED static const tr_type tr_type_##m = TR_TYPE_(m, NULL); \
    TR_SAYS_(m) tr_says_##m = { &tr_type_##m, NULL }
#define TR_REQUEST_(m, r, ...) \
    TR_MESSAGE_STRUCT_(m, __VA_ARGS__); \
    TR_MESSAGE_NAMES_(m, 1); \
    typedef union m##_ask { \
        tr_pending any; \
        const struct r *reply; /* never read: only its type matters */             \
    } m##_ask; \
    typedef struct tr_answer_##m { \
        tr_status status; \
        const struct r *reply; \
        const tr_error *why; \
        void *context; \
    } m##_answer; \
    TR_MESSAGE_TABLE_(m, __VA_ARGS__); \
    TR_MAY_BE_UNUSED static const tr_type tr_type_##m = TR_TYPE_(m, (const tr_type *)&tr_type_##r); \
    TR_SAYS_(m) tr_says_##m = { &tr_type_##m, NULL }

/*
 * Marks the struct of a message, so that C++ can tell it from other structs. A message may be the
 * state of an actor although its members have initialisers, because all of these are zeros.
 */
#ifdef __cplusplus
long tr_marks_message_(const volatile void *any);
#define TR_MARK_MESSAGE_(m) char tr_marks_message_(const struct m *message);
#else
#define TR_MARK_MESSAGE_(m)
#endif

/*
 * Defines the struct of a message. A message without fields has one hidden byte, because ISO C
 * knows no empty struct.
 */
#define TR_MESSAGE_STRUCT_(m, ...) \
    struct m { \
        TR_PP_EACH(TR_MEMBER_, m, __VA_ARGS__) \
        TR_PP_CAT(TR_MEMBER_PAD_, TR_PP_IS_ONE(__VA_ARGS__)) \
    }
#define TR_MEMBER_PAD_0
#define TR_MEMBER_PAD_1 char tr_empty TR_ZERO;

/* Defines tr_message_m with a member m: TR_TO_ looks for this member if the ref is untyped. */
#define TR_MESSAGE_NAMES_(m, is_request) \
    TR_STATIC_ASSERT(sizeof(struct m) > 0, \
        "troupe: " #m ": no comma after the name of a message without fields"); \
    TR_STATIC_ASSERT(sizeof(struct m) <= TR_PAYLOAD_MAX, \
        "troupe: " #m " is larger than TR_PAYLOAD_MAX; send a buffer"); \
    struct tr_message_##m { char m; }; \
    typedef struct m tr_struct_##m; \
    TR_MARK_MESSAGE_(m) \
    enum { tr_is_request_##m = (is_request) }

#define TR_MESSAGE_TABLE_(m, ...) \
    enum { tr_is_flat_##m = 1 TR_PP_EACH(TR_FLAT_, m, __VA_ARGS__) }; \
    TR_MAY_BE_UNUSED static const tr_field tr_fields_##m[] = { \
        TR_PP_EACH(TR_FIELD_, m, __VA_ARGS__) \
        { NULL, NULL, 0, 0, 0, 0, 0, 0, { 0 } } \
    }; \
    TR_SECRETS_(m)
/* Declares tr_secrets_m as weak: its address is NULL if no file has TR_SECRET(m, ...). */
#define TR_SECRETS_(m) TR_EXTERN_C const tr_secrets tr_secrets_##m __attribute__((__weak__))
/*
 * The initialiser of tr_type_m. TR_MESSAGE_ itself defines the variable. When clang suggests a name in place of a wrong
 * one, it shows all macros on the way to the definition of that name, so there should be few of them. `reply` comes
 * with a cast, because clang sometimes suggests a function in place of a reply that is not declared. Without the cast,
 * the type of that function would be a second error.
 */
#define TR_TYPE_(m, reply) { \
        #m, tr_fields_##m, reply, __FILE__, __LINE__, sizeof(struct m), \
        sizeof(tr_fields_##m) / sizeof(tr_field) - 1, sizeof(tr_field), TR_ABI, \
        tr_is_flat_##m, TR_INLINE_SIZE_(m), &tr_secrets_##m, NULL \
    }

/*
 * Defines one variable with all that a verb needs of a message. So if the message is not declared,
 * the compiler reports one error, and not many.
 */
#define TR_SAYS_(m) \
    TR_MAY_BE_UNUSED static const struct { const tr_type *type; const struct m *message; /* its type matters */ }

#define TR_INLINE_SIZE_(m) \
    (tr_is_flat_##m && sizeof(struct m) <= TR_INLINE_MAX ? (uint8_t)sizeof(struct m) : (uint8_t)0)

/* ---- The types of fields: (shape, C type, kind, nested descriptor, is flat, count, TR_END). ---- */

/*
 * If a program writes something behind a known type, as in `u8 *`, the star ends up behind TR_END,
 * where a check finds it.
 */
#define TR_SCALAR_(c, k) (TR_SHAPE_ONE, c, TR_KIND_##k, NULL, 1, 1, TR_END)
#define TR_FIELD_TYPE_bool TR_SCALAR_(bool, BOOL)
#define TR_FIELD_TYPE__Bool TR_SCALAR_(bool, BOOL)
#define TR_FIELD_TYPE_i8 TR_SCALAR_(int8_t, I8)
#define TR_FIELD_TYPE_i16 TR_SCALAR_(int16_t, I16)
#define TR_FIELD_TYPE_i32 TR_SCALAR_(int32_t, I32)
#define TR_FIELD_TYPE_i64 TR_SCALAR_(int64_t, I64)
#define TR_FIELD_TYPE_u8 TR_SCALAR_(uint8_t, U8)
#define TR_FIELD_TYPE_u16 TR_SCALAR_(uint16_t, U16)
#define TR_FIELD_TYPE_u32 TR_SCALAR_(uint32_t, U32)
#define TR_FIELD_TYPE_u64 TR_SCALAR_(uint64_t, U64)
#define TR_FIELD_TYPE_f32 TR_SCALAR_(float, F32)
#define TR_FIELD_TYPE_f64 TR_SCALAR_(double, F64)
#define TR_FIELD_TYPE_int8_t TR_FIELD_TYPE_i8
#define TR_FIELD_TYPE_int16_t TR_FIELD_TYPE_i16
#define TR_FIELD_TYPE_int32_t TR_FIELD_TYPE_i32
#define TR_FIELD_TYPE_int64_t TR_FIELD_TYPE_i64
#define TR_FIELD_TYPE_uint8_t TR_FIELD_TYPE_u8
#define TR_FIELD_TYPE_uint16_t TR_FIELD_TYPE_u16
#define TR_FIELD_TYPE_uint32_t TR_FIELD_TYPE_u32
#define TR_FIELD_TYPE_uint64_t TR_FIELD_TYPE_u64
#define TR_FIELD_TYPE_size_t TR_SCALAR_(size_t, U64)
#define TR_FIELD_TYPE_int TR_SCALAR_(int, I32)
#define TR_FIELD_TYPE_float TR_FIELD_TYPE_f32
#define TR_FIELD_TYPE_double TR_FIELD_TYPE_f64
#define TR_FIELD_TYPE_tr_time TR_FIELD_TYPE_i64
#define TR_FIELD_TYPE_enum_of(e) TR_SCALAR_(enum e, I32)
#define TR_FIELD_TYPE_str (TR_SHAPE_ONE, const char *, TR_KIND_STR, NULL, 0, 1, TR_END)
#define TR_FIELD_TYPE_bytes (TR_SHAPE_ONE, tr_bytes, TR_KIND_BYTES, NULL, 0, 1, TR_END)
#define TR_FIELD_TYPE_buffer (TR_SHAPE_ONE, tr_buffer *, TR_KIND_BUFFER, NULL, 0, 1, TR_END)
#define TR_FIELD_TYPE_ref TR_SCALAR_(tr_ref, REF)
#define TR_FIELD_TYPE_ref_of(a) TR_SCALAR_(a##_ref, REF)
#define TR_FIELD_TYPE_message(m) \
    (TR_SHAPE_ONE, struct m, TR_KIND_MESSAGE, &tr_type_##m, tr_is_flat_##m, 1, TR_END)
#define TR_FIELD_TYPE_array(t, n) TR_FIELD_MANY_(TR_FIELD_TYPE_##t, TR_FIELD_ARRAY_, n)
#define TR_FIELD_TYPE_list(t) TR_FIELD_MANY_(TR_FIELD_TYPE_##t, TR_FIELD_LIST_, 1)
#define TR_FIELD_TYPE_optional(t) TR_FIELD_MANY_(TR_FIELD_TYPE_##t, TR_FIELD_OPTIONAL_, 1)

/*
 * Makes an array, a list or an option of k, if k is a tuple as above. Any other k is an unknown
 * word, which this macro leaves as it is.
 */
#define TR_FIELD_MANY_(k, f, n) TR_PP_IF_TUPLE(k)(TR_FIELD_MANY_OK_, TR_FIELD_MANY_BAD_)(k, f, n)
#define TR_FIELD_MANY_OK_(k, f, n) f(TR_PP_UNTUPLE k, n)
#define TR_FIELD_MANY_BAD_(k, f, n) k
#define TR_FIELD_ARRAY_(...) TR_FIELD_ARRAY__(__VA_ARGS__)
#define TR_FIELD_ARRAY__(shape, c, kind, nested, flat, one, end, n) \
    (TR_ARRAY_OF_##shape, c, kind, nested, flat, n, end)
#define TR_FIELD_LIST_(...) TR_FIELD_LIST__(__VA_ARGS__)
#define TR_FIELD_LIST__(shape, c, kind, nested, flat, one, end, n) \
    (TR_LIST_OF_##shape, c, kind, nested, 0, n, end)
#define TR_FIELD_OPTIONAL_(...) TR_FIELD_OPTIONAL__(__VA_ARGS__)
#define TR_FIELD_OPTIONAL__(shape, c, kind, nested, flat, one, end, n) \
    (TR_OPTIONAL_OF_##shape, c, kind, nested, flat, n, end)
#define TR_ARRAY_OF_TR_SHAPE_ONE TR_SHAPE_ARRAY
#define TR_ARRAY_OF_TR_SHAPE_ARRAY TR_SHAPE_NESTED
#define TR_ARRAY_OF_TR_SHAPE_LIST TR_SHAPE_NESTED
#define TR_ARRAY_OF_TR_SHAPE_OPTIONAL TR_SHAPE_NESTED
#define TR_LIST_OF_TR_SHAPE_ONE TR_SHAPE_LIST
#define TR_LIST_OF_TR_SHAPE_ARRAY TR_SHAPE_NESTED
#define TR_LIST_OF_TR_SHAPE_LIST TR_SHAPE_NESTED
#define TR_LIST_OF_TR_SHAPE_OPTIONAL TR_SHAPE_NESTED
#define TR_OPTIONAL_OF_TR_SHAPE_ONE TR_SHAPE_OPTIONAL
#define TR_OPTIONAL_OF_TR_SHAPE_ARRAY TR_SHAPE_NESTED
#define TR_OPTIONAL_OF_TR_SHAPE_LIST TR_SHAPE_NESTED
#define TR_OPTIONAL_OF_TR_SHAPE_OPTIONAL TR_SHAPE_NESTED

/* ---- A field as a member. ---- */

/*
 * Expands a pair to a member. An item that is no pair may only be empty, after a comma too many at
 * the end of the list; anything else is an error of the compiler.
 */
#define TR_MEMBER_(m, x) TR_PP_IF_TUPLE(x)(TR_MEMBER_TUPLE_, TR_MEMBER_OTHER_)(m, x)
#define TR_MEMBER_OTHER_(m, x) \
    TR_STATIC_ASSERT(sizeof(#x) == 1, \
        "troupe: " #m ": write each field as (type, name), not: " #x);
#define TR_MEMBER_TUPLE_(m, x) \
    TR_PP_IF_TUPLE(TR_PP_BEHIND(x))(TR_MEMBER_TWO_, TR_MEMBER_WHOLE_)(m, x)
#define TR_MEMBER_TWO_(m, x) \
    TR_STATIC_ASSERT(TR_ABI < 0, "troupe: " #m ": a comma is missing between two fields: " #x); \
    char tr_two TR_ZERO;
#define TR_MEMBER_WHOLE_(m, x) TR_PP_CAT(TR_MEMBER_TUPLE_, TR_IS_PAIR_ x)(m, x)
#define TR_MEMBER_TUPLE_0(m, x) TR_MEMBER_OTHER_(m, x)
#define TR_MEMBER_TUPLE_1(m, x) TR_MEMBER_FIELD_ x
#define TR_MEMBER_FIELD_(t, n) TR_MEMBER_KIND_(TR_FIELD_TYPE_##t, t, n)
/* TR_IS_PAIR_ is 1 for two arguments, and 0 for any other number of arguments up to six. */
#define TR_IS_PAIR_(...) TR_IS_PAIR__(__VA_ARGS__, 0, 0, 0, 0, 1, 0, )
#define TR_IS_PAIR__(a, b, c, d, e, f, n, ...) n

#define TR_MEMBER_KIND_(k, t, n) TR_PP_IF_TUPLE(k)(TR_MEMBER_OK_, TR_MEMBER_BAD_)(k, t, n)
#define TR_MEMBER_BAD_(k, t, n) \
    TR_STATIC_ASSERT(0, "troupe: field " #n " has an unknown type: " #t \
        "; known: bool i8..i64 u8..u64 f32 f64 enum_of() str bytes buffer ref ref_of() " \
        "message() array() list() optional()"); \
    int n;
#define TR_MEMBER_OK_(k, t, n) TR_MEMBER_SPREAD_(TR_PP_UNTUPLE k, t, n)
#define TR_MEMBER_SPREAD_(...) TR_MEMBER_EMIT_(__VA_ARGS__)
#define TR_MEMBER_EMIT_(shape, c, kind, nested, flat, length, end, t, n) \
    TR_STATIC_ASSERT(sizeof(#end) == sizeof("TR_END"), \
        "troupe: field " #n ": a type is one word, such as u8, bytes or list(u8); not: " #t); \
    TR_MEMBER_CHECK_(kind, c, n) \
    TR_MEMBER_##shape(c, length, n, t)
/*
 * These check that an enum has 4 bytes. In C the check stands in the table of fields, after the
 * struct; in C++ it needs a declaration of its own.
 */
#define TR_IS_SIZED_(kind, size) ((kind) != TR_KIND_I32 || (size) == 4)
#define TR_ENUM_WORDS_(n) "troupe: field " #n ": an enum of a message must have 4 bytes"
#ifdef __cplusplus
#define TR_MEMBER_CHECK_(kind, c, n) TR_STATIC_ASSERT(TR_IS_SIZED_(kind, sizeof(c)), TR_ENUM_WORDS_(n));
#define TR_FIELD_CHECK_(kind, size, n) 0
#else
#define TR_MEMBER_CHECK_(kind, c, n)
#define TR_FIELD_CHECK_(kind, size, n) TR_REQUIRE_(TR_IS_SIZED_(kind, size), TR_ENUM_WORDS_(n))
#endif
/*
 * Each of these macros makes one member. No parameter may be named like a member in the struct,
 * because the macro would replace the member's name, too.
 */
#define TR_MEMBER_TR_SHAPE_ONE(c, length, n, t) c n TR_ZERO;
#define TR_MEMBER_TR_SHAPE_ARRAY(c, length, n, t) c n[length] TR_ZERO;
#define TR_MEMBER_TR_SHAPE_LIST(c, length, n, t) \
    struct { \
        c const *items TR_ZERO; \
        size_t count TR_ZERO; \
    } n TR_ZERO;
#define TR_MEMBER_TR_SHAPE_OPTIONAL(c, length, n, t) \
    struct { \
        bool has TR_ZERO; \
        c value TR_ZERO; \
    } n TR_ZERO;
#define TR_MEMBER_TR_SHAPE_NESTED(c, length, n, t) \
    TR_STATIC_ASSERT(0, "troupe: field " #n ": array, list and optional hold single values; put " \
        "the inner one into a message of its own; not: " #t); \
    c n TR_ZERO;

/* ---- A field as a row of the table. ---- */

#define TR_FIELD_(m, x) TR_PP_IF_TUPLE(x)(TR_FIELD_TUPLE_, TR_FIELD_NONE_)(m, x)
#define TR_FIELD_NONE_(m, x)
#define TR_FIELD_TUPLE_(m, x) \
    TR_PP_IF_TUPLE(TR_PP_BEHIND(x))(TR_FIELD_NONE_, TR_FIELD_WHOLE_)(m, x)
#define TR_FIELD_WHOLE_(m, x) TR_PP_CAT(TR_FIELD_TUPLE_, TR_IS_PAIR_ x)(m, x)
#define TR_FIELD_TUPLE_0(m, x)
#define TR_FIELD_TUPLE_1(m, x) TR_FIELD_FIELD_(m, TR_PP_UNTUPLE x)
#define TR_FIELD_FIELD_(...) TR_FIELD_KIND_(__VA_ARGS__)
#define TR_FIELD_KIND_(m, t, n) TR_FIELD_KIND__(TR_FIELD_TYPE_##t, m, n)
#define TR_FIELD_KIND__(k, m, n) TR_PP_IF_TUPLE(k)(TR_FIELD_OK_, TR_FIELD_BAD_)(k, m, n)
#define TR_FIELD_BAD_(k, m, n)
#define TR_FIELD_OK_(k, m, n) TR_FIELD_SPREAD_(TR_PP_UNTUPLE k, m, n)
#define TR_FIELD_SPREAD_(...) TR_FIELD_EMIT_(__VA_ARGS__)
#define TR_FIELD_EMIT_(shape, c, kind, nested, flat, length, end, m, n) \
    { #n, nested, offsetof(struct m, n), sizeof(((struct m *)0)->n), \
      TR_ITEM_SIZE_##shape(((struct m *)0)->n) + TR_FIELD_CHECK_(kind, TR_ITEM_SIZE_##shape(((struct m *)0)->n), n), \
      length, kind, TR_FIELD_SHAPE_##shape, { 0 } },
/*
 * These take the size of the member, not the size of its type. So if an enum is not defined, the
 * compiler reports an error only for the member.
 */
#define TR_ITEM_SIZE_TR_SHAPE_ONE(member) sizeof(member)
#define TR_ITEM_SIZE_TR_SHAPE_ARRAY(member) sizeof((member)[0])
#define TR_ITEM_SIZE_TR_SHAPE_LIST(member) sizeof(*(member).items)
#define TR_ITEM_SIZE_TR_SHAPE_OPTIONAL(member) sizeof((member).value)
#define TR_ITEM_SIZE_TR_SHAPE_NESTED(member) sizeof(member)
#define TR_FIELD_SHAPE_TR_SHAPE_ONE TR_SHAPE_ONE
#define TR_FIELD_SHAPE_TR_SHAPE_ARRAY TR_SHAPE_ARRAY
#define TR_FIELD_SHAPE_TR_SHAPE_LIST TR_SHAPE_LIST
#define TR_FIELD_SHAPE_TR_SHAPE_OPTIONAL TR_SHAPE_OPTIONAL
/* Any value will do here, because TR_MEMBER_TR_SHAPE_NESTED has already refused the field. */
#define TR_FIELD_SHAPE_TR_SHAPE_NESTED TR_SHAPE_ONE

/* ---- A field in tr_is_flat_m, which says whether the message has no pointers. ---- */

#define TR_FLAT_(m, x) TR_PP_IF_TUPLE(x)(TR_FLAT_TUPLE_, TR_FIELD_NONE_)(m, x)
#define TR_FLAT_TUPLE_(m, x) \
    TR_PP_IF_TUPLE(TR_PP_BEHIND(x))(TR_FIELD_NONE_, TR_FLAT_WHOLE_)(m, x)
#define TR_FLAT_WHOLE_(m, x) TR_PP_CAT(TR_FLAT_TUPLE_, TR_IS_PAIR_ x)(m, x)
#define TR_FLAT_TUPLE_0(m, x)
#define TR_FLAT_TUPLE_1(m, x) TR_FLAT_FIELD_ x
#define TR_FLAT_FIELD_(t, n) TR_FLAT_KIND_(TR_FIELD_TYPE_##t)
#define TR_FLAT_KIND_(k) TR_PP_IF_TUPLE(k)(TR_FLAT_OK_, TR_FLAT_BAD_)(k)
#define TR_FLAT_BAD_(k)
#define TR_FLAT_OK_(k) TR_FLAT_SPREAD_(TR_PP_UNTUPLE k)
#define TR_FLAT_SPREAD_(...) TR_FLAT_EMIT_(__VA_ARGS__)
#define TR_FLAT_EMIT_(shape, c, kind, nested, flat, length, end) & (flat)

/* ---- TR_DESCRIBE: the kinds of members, found by _Generic. ---- */

#define TR_DESCRIBE_(m, ...) \
    TR_MESSAGE_NAMES_(m, 0); \
    TR_DESCRIBE_TABLE_(m, __VA_ARGS__)

#ifndef __cplusplus
/*
 * X(type, kind) for each type of a member. An array is found by the type of its elements, because
 * it decays to a pointer.
 */
#define TR_DESCRIBED_TYPES_(X) \
    X(bool, BOOL), X(signed char, I8), X(short, I16), X(int, I32), X(long, I64), \
    X(long long, I64), X(unsigned char, U8), X(unsigned short, U16), X(unsigned, U32), \
    X(unsigned long, U64), X(unsigned long long, U64), X(float, F32), X(double, F64), \
    X(const char *, STR), X(tr_bytes, BYTES), X(tr_buffer *, BUFFER), X(tr_ref, REF)
#define TR_DESCRIBED_KIND_(t, k) t: TR_KIND_##k, t *: TR_KIND_##k
#define TR_DESCRIBED_SIZE_(t, k) t *: sizeof(t)
#define TR_DESCRIBED_POINTER_(t, k) t **: 0
#define TR_MEMBER_OF_(m, n) ((struct m *)0)->n
#define TR_KIND_OF_(value) _Generic((value), TR_DESCRIBED_TYPES_(TR_DESCRIBED_KIND_))
#define TR_ITEM_SIZE_(value) \
    _Generic((value), TR_DESCRIBED_TYPES_(TR_DESCRIBED_SIZE_), default: sizeof((value)))
#define TR_IS_NO_POINTER_(value) \
    _Generic(&(value), TR_DESCRIBED_TYPES_(TR_DESCRIBED_POINTER_), default: 1)

#define TR_DESCRIBE_TABLE_(m, ...) \
    TR_MAY_BE_UNUSED static const tr_field tr_fields_##m[] = { \
        TR_PP_EACH(TR_DESCRIBE_FIELD_, m, __VA_ARGS__) \
        { NULL, NULL, 0, 0, 0, 0, 0, 0, { 0 } } \
    }; \
    enum { tr_is_flat_##m = 0 }; \
    TR_SECRETS_(m); \
    TR_MAY_BE_UNUSED static const tr_type tr_type_##m = TR_TYPE_(m, NULL); \
    TR_SAYS_(m) tr_says_##m = { &tr_type_##m, NULL }
#define TR_DESCRIBE_FIELD_(m, n) TR_PP_CAT(TR_DESCRIBE_FIELD_, TR_PP_IS_EMPTY(n))(m, n)
#define TR_DESCRIBE_FIELD_1(m, n)
#define TR_DESCRIBE_FIELD_0(m, n) \
    { #n, NULL, offsetof(struct m, n), sizeof(TR_MEMBER_OF_(m, n)), \
      TR_ITEM_SIZE_(TR_MEMBER_OF_(m, n)), \
      sizeof(TR_MEMBER_OF_(m, n)) / (TR_ITEM_SIZE_(TR_MEMBER_OF_(m, n))), \
      TR_KIND_OF_(TR_MEMBER_OF_(m, n)) + TR_REQUIRE_(TR_IS_NO_POINTER_(TR_MEMBER_OF_(m, n)), \
          "troupe: " #m "." #n " is a bare pointer, which no message can hold"), \
      sizeof(TR_MEMBER_OF_(m, n)) == TR_ITEM_SIZE_(TR_MEMBER_OF_(m, n)) \
          ? TR_SHAPE_ONE : TR_SHAPE_ARRAY, { 0 } },
#endif

/* ---- Secret fields. ---- */

/*
 * The variable is weak, so that the definitions of several files become one. Without `extern`, C++
 * would make a constant static.
 */
#ifdef __cplusplus
#define TR_SECRET_EXTERN_ extern "C"
#else
#define TR_SECRET_EXTERN_
#endif
#define TR_SECRET_(m, ...) \
    TR_PP_EACH(TR_SECRET_CHECK_, m, __VA_ARGS__) \
    TR_SECRET_EXTERN_ __attribute__((__weak__)) const tr_secrets tr_secrets_##m = { \
        { TR_PP_EACH(TR_SECRET_NAME_, m, __VA_ARGS__) } \
    }
#define TR_SECRET_CHECK_(m, n) TR_PP_CAT(TR_SECRET_CHECK_, TR_PP_IS_EMPTY(n))(m, n)
#define TR_SECRET_CHECK_1(m, n)
#define TR_SECRET_CHECK_0(m, n) \
    TR_STATIC_ASSERT(sizeof(((struct m *)0)->n) > 0, "troupe: " #m " has no field " #n);
#define TR_SECRET_NAME_(m, n) TR_PP_CAT(TR_SECRET_NAME_, TR_PP_IS_EMPTY(n))(m, n)
#define TR_SECRET_NAME_1(m, n)
#define TR_SECRET_NAME_0(m, n) #n,

/* ---- tr_error as a field of another message. ---- */

/*
 * The members of tr_error that are listed here are printed and written. Its other members, such as
 * the text, are only copied.
 */
TR_MESSAGE_NAMES_(tr_error, 0);
TR_MESSAGE_TABLE_(tr_error, (enum_of(tr_status), status), (i32, code), (ref, actor), (u32, incarnation), );
TR_MAY_BE_UNUSED static const tr_type tr_type_tr_error = TR_TYPE_(tr_error, NULL);
TR_SAYS_(tr_error) tr_says_tr_error = { &tr_type_tr_error, NULL };

#endif
