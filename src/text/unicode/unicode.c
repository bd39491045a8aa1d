/* Classes and normal forms of characters, by utf8proc where there is one. */
#include "text/unicode/unicode.h"

#include "base/text/utf8.h"

#if MW_HAVE_UTF8PROC
#include <utf8proc.h>
#endif

const uint8_t mw__unicode_ascii[128] = {
    /* bits of the header, from NUL on */
    32, 32, 32, 32, 32, 32, 32, 32, 32, 36, 36, 36, 36, 36, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32,
    32, 32, 32, 32, 32, 32, 4,  16, 16, 16, 0,  16, 16, 16, 16, 16, 16, 0,  16, 16, 16, 16, 2,  2,  2,  2,
    2,  2,  2,  2,  2,  2,  16, 16, 0,  0,  0,  16, 16, 1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,
    1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  16, 16, 16, 0,  16, 0,  1,  1,  1,  1,  1,  1,  1,
    1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  16, 0,  16, 0,  32,
};

mw__char mw__unicode_read(const char *at, const char *end)
{
    const unsigned char byte = (unsigned char)*at;
    if (byte < 128)
        return (mw__char){byte, mw__unicode_ascii[byte], 1};
    uint32_t code = 0;
    const size_t length = mw__utf8_read(at, end, &code);
    if (length == 0)
        return (mw__char){0x110000U + byte, 0, 1};
    return (mw__char){code, mw__unicode_class_beyond(code), (uint8_t)length};
}

static mw__letter_case case_beyond(uint32_t code);

/* White_Space beyond ASCII; utf8proc has no property of that name. */
static bool is_space_beyond(uint32_t code)
{
    return code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

mw__letter_case mw__unicode_case(uint32_t code)
{
    if (code >= 128)
        return case_beyond(code);
    if (code >= 'A' && code <= 'Z')
        return MW__CASE_UPPER;
    return code >= 'a' && code <= 'z' ? MW__CASE_LOWER : MW__CASE_NONE;
}

#if MW_HAVE_UTF8PROC

bool mw__unicode_is_whole(void) { return true; }

static uint8_t class_of_category(utf8proc_category_t category)
{
    if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO)
        return MW__CHAR_LETTER;
    if (category == UTF8PROC_CATEGORY_MN)
        return MW__CHAR_MARK | MW__CHAR_NONSPACING;
    if (category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME)
        return MW__CHAR_MARK;
    if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO)
        return MW__CHAR_NUMBER;
    if (category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO)
        return MW__CHAR_PUNCTUATION;
    const bool control = category == UTF8PROC_CATEGORY_CN || category >= UTF8PROC_CATEGORY_CC;
    return control ? MW__CHAR_CONTROL : 0;
}

uint8_t mw__unicode_class_beyond(uint32_t code)
{
    const uint8_t space = is_space_beyond(code) ? MW__CHAR_SPACE : 0;
    return (uint8_t)(class_of_category(utf8proc_category((utf8proc_int32_t)code)) | space);
}

static mw__letter_case case_beyond(uint32_t code)
{
    const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)code);
    if (category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LT)
        return MW__CASE_UPPER;
    return category == UTF8PROC_CATEGORY_LL ? MW__CASE_LOWER : MW__CASE_NONE;
}

int mw__unicode_lower(uint32_t code, uint32_t out[3])
{
    out[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
    if (code != 0x130) /* the one character whose lower case is two: i with a dot above */
        return 1;
    out[0] = 'i';
    out[1] = 0x307;
    return 2;
}

int mw__unicode_decompose(uint32_t code, bool compatible, uint32_t out[18])
{
    int last_class = 0;
    utf8proc_int32_t parts[18];
    const int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
    const utf8proc_ssize_t count =
        utf8proc_decompose_char((utf8proc_int32_t)code, parts, 18, (utf8proc_option_t)options, &last_class);
    for (utf8proc_ssize_t i = 0; i < count && i < 18; i++)
        out[i] = (uint32_t)parts[i];
    if (count < 1 || count > 18) {
        out[0] = code;
        return 1;
    }
    return (int)count;
}

int mw__unicode_combining(uint32_t code)
{
    return code < 128 ? 0 : utf8proc_get_property((utf8proc_int32_t)code)->combining_class;
}

uint32_t mw__unicode_compose(uint32_t first, uint32_t second)
{
    utf8proc_int32_t pair[3] = {(utf8proc_int32_t)first, (utf8proc_int32_t)second, 0};
    const utf8proc_option_t options = UTF8PROC_COMPOSE | UTF8PROC_STABLE;
    return second >= 128 && utf8proc_normalize_utf32(pair, 2, options) == 1 ? (uint32_t)pair[0] : 0;
}

#else

bool mw__unicode_is_whole(void) { return false; }

uint8_t mw__unicode_class_beyond(uint32_t code) { return is_space_beyond(code) ? MW__CHAR_SPACE : 0; }

static mw__letter_case case_beyond(uint32_t code)
{
    (void)code;
    return MW__CASE_NONE;
}

int mw__unicode_lower(uint32_t code, uint32_t out[3])
{
    out[0] = code >= 'A' && code <= 'Z' ? code + 32 : code;
    return 1;
}

int mw__unicode_decompose(uint32_t code, bool compatible, uint32_t out[18])
{
    (void)compatible;
    out[0] = code;
    return 1;
}

int mw__unicode_combining(uint32_t code)
{
    (void)code;
    return 0;
}

uint32_t mw__unicode_compose(uint32_t first, uint32_t second)
{
    (void)first;
    (void)second;
    return 0;
}

#endif
