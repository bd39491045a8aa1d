/* Numbers from text without the locale, exactly: a fast path where one double operation is enough, and otherwise a
 * quotient of big integers, whose size and time are bounded whatever the text. */
#include "base/number/number.h"

#include "base/number/bits.h"
#include "base/number/float_mode.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- rounding ---- */

static const struct {
    int precision; /* significant bits, the leading one included */
    int lowest;    /* exponent of the smallest normal number */
    double largest;
} formats[] = {
    [MW__NUMBER_F16] = {11, -14, 65504.0},
    [MW__NUMBER_BF16] = {8, -126, 0x1.fep+127},
    [MW__NUMBER_F32] = {24, -126, 0x1.fffffep+127},
    [MW__NUMBER_F64] = {53, -1022, 0x1.fffffffffffffp+1023},
};

/* (value + a little if sticky) * 2^exponent to nearest even. With sticky, value has at least 55 bits. */
static double round_to(mw__number_format format, uint64_t value, bool sticky, int exponent)
{
    if (value == 0)
        return 0.0;
    const int length = mw__bit_length(value);
    const int top = exponent + length - 1; /* exponent of the leading bit */
    int keep = formats[format].precision;
    if (top < formats[format].lowest)
        keep -= formats[format].lowest - top;
    if (keep < 0) /* less than half of the smallest subnormal */
        return 0.0;
    if (top > 1100)
        return INFINITY;
    const int drop = length - keep;
    if (drop > 0) {
        const uint64_t kept = drop < 64 ? value >> drop : 0;
        const bool half = (value >> (drop - 1) & 1) != 0;
        const bool rest = sticky || (value & (((uint64_t)1 << (drop - 1)) - 1)) != 0;
        value = kept + (half && (rest || (kept & 1) != 0));
        exponent += drop;
    }
    const double rounded = ldexp((double)value, exponent); /* exact, but for overflow */
    return rounded > formats[format].largest ? INFINITY : rounded;
}

/* ---- scanning ---- */

typedef struct scan {
    const char *at;
    const char *end;
} scan;

static bool take_letter(scan *text, char low, char high)
{
    if (text->at == text->end || (*text->at != low && *text->at != high))
        return false;
    text->at++;
    return true;
}

static int digit_value(char c, int base)
{
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 16;
    return digit < base ? digit : -1;
}

enum { EXPONENT_LIMIT = 1 << 29 }; /* of a text; whole exponents stay far inside int64 */

/* exponent ::= mark [+-] digit+ , or nothing */
static bool scan_exponent(scan *text, char low, char high, int64_t *out)
{
    *out = 0;
    if (!take_letter(text, low, high))
        return true;
    const bool negative = take_letter(text, '-', '-');
    if (!negative)
        take_letter(text, '+', '+');
    if (text->at == text->end || digit_value(*text->at, 10) < 0)
        return false;
    for (; text->at < text->end && digit_value(*text->at, 10) >= 0; text->at++) {
        if (*out < EXPONENT_LIMIT)
            *out = *out * 10 + digit_value(*text->at, 10);
    }
    *out = negative ? -*out : *out;
    return true;
}

/* ---- hexadecimal ---- */

/* hex ::= "0x" xdigit* [. xdigit*] [p exponent], with one digit at least; the prefix is already taken */
static bool read_hex(scan *text, mw__number_format format, double *out)
{
    uint64_t value = 0;
    int64_t exponent = 0;
    bool sticky = false, point = false, any = false;
    for (; text->at < text->end; text->at++) {
        if (*text->at == '.' && !point) {
            point = true;
            continue;
        }
        const int digit = digit_value(*text->at, 16);
        if (digit < 0)
            break;
        any = true;
        if (value >> 60 == 0) {
            value = value << 4 | (uint64_t)digit;
            exponent -= point ? 4 : 0;
        } else {
            sticky = sticky || digit != 0;
            exponent += point ? 0 : 4;
        }
    }
    int64_t written;
    if (!any || !scan_exponent(text, 'p', 'P', &written) || text->at != text->end)
        return false;
    exponent += written;
    const int64_t bounded = exponent > 5000 ? 5000 : exponent < -5000 ? -5000 : exponent;
    *out = round_to(format, value, sticky, (int)bounded);
    return true;
}

/* ---- decimal ---- */

/* No half-way point of a double has more significant digits; what follows only says "a little more". */
enum { DIGITS_MAX = 800 };

typedef struct decimal {
    unsigned char digits[DIGITS_MAX + 1]; /* no leading zeros */
    int count;
    int64_t exponent; /* the value is digits * 10^exponent */
} decimal;

/* decimal ::= digit* [. digit*] [e exponent], with one digit at least */
static bool scan_decimal(scan *text, decimal *number)
{
    bool point = false, any = false, more = false;
    number->count = 0;
    number->exponent = 0;
    for (; text->at < text->end; text->at++) {
        if (*text->at == '.' && !point) {
            point = true;
            continue;
        }
        const int digit = digit_value(*text->at, 10);
        if (digit < 0)
            break;
        any = true;
        if (number->count < DIGITS_MAX) {
            if (number->count > 0 || digit > 0)
                number->digits[number->count++] = (unsigned char)digit;
            number->exponent -= point;
        } else {
            more = more || digit != 0;
            number->exponent += !point;
        }
    }
    int64_t written;
    if (!any || !scan_exponent(text, 'e', 'E', &written) || text->at != text->end)
        return false;
    number->exponent += written;
    if (more) {
        number->digits[number->count++] = 1;
        number->exponent--;
    }
    return true;
}

/* A natural number in 32-bit limbs, the lowest first. The largest that arises is the denominator of 801 digits with
 * the point 330 places before them: 10^1131, below 2^3760, doubled once by the division. */
enum { LIMBS = 120 };

typedef struct big {
    uint32_t limb[LIMBS];
    int count;
} big;

static void big_multiply_add(big *number, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (int i = 0; i < number->count; i++) {
        carry += (uint64_t)number->limb[i] * factor;
        number->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0 && number->count < LIMBS)
        number->limb[number->count++] = (uint32_t)carry;
}

static void big_scale_ten(big *number, int power)
{
    for (; power >= 9; power -= 9)
        big_multiply_add(number, 1000000000, 0);
    for (; power > 0; power--)
        big_multiply_add(number, 10, 0);
}

static int big_bits(const big *number)
{
    return number->count == 0 ? 0 : 32 * (number->count - 1) + mw__bit_length(number->limb[number->count - 1]);
}

static void big_shift_left(big *number, int shift)
{
    const int limbs = shift / 32;
    if (number->count == 0 || number->count + limbs > LIMBS)
        return;
    memmove(number->limb + limbs, number->limb, (size_t)number->count * sizeof number->limb[0]);
    memset(number->limb, 0, (size_t)limbs * sizeof number->limb[0]);
    number->count += limbs;
    big_multiply_add(number, (uint32_t)1 << shift % 32, 0);
}

static int big_compare(const big *a, const big *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--) {
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    }
    return 0;
}

/* a -= b, for a >= b */
static void big_subtract(big *a, const big *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < a->count; i++) {
        const uint64_t taken = borrow + (i < b->count ? b->limb[i] : 0);
        borrow = a->limb[i] < taken;
        a->limb[i] = (uint32_t)(a->limb[i] - taken);
    }
    while (a->count > 0 && a->limb[a->count - 1] == 0)
        a->count--;
}

/* Schoolbook division in base 2 of a numerator below 2 * denominator: 64 bits of the quotient, the remainder after. */
static uint64_t big_divide(big *numerator, const big *denominator)
{
    uint64_t quotient = 0;
    for (int i = 0; i < 64; i++) {
        quotient <<= 1;
        if (big_compare(numerator, denominator) >= 0) {
            big_subtract(numerator, denominator);
            quotient |= 1;
        }
        big_multiply_add(numerator, 2, 0);
    }
    return quotient;
}

static double round_decimal(mw__number_format format, const decimal *number)
{
    big numerator = {.count = 0}, denominator = {.limb = {1}, .count = 1};
    for (int i = 0; i < number->count; i++)
        big_multiply_add(&numerator, 10, number->digits[i]);
    const int exponent = (int)number->exponent;
    big_scale_ten(&numerator, exponent);
    big_scale_ten(&denominator, -exponent);
    /* numerator / denominator is in (2^(shift-1), 2^(shift+1)); after balancing in (1/2, 2) */
    const int shift = big_bits(&numerator) - big_bits(&denominator);
    big_shift_left(shift < 0 ? &numerator : &denominator, shift < 0 ? -shift : shift);
    const uint64_t quotient = big_divide(&numerator, &denominator);
    return round_to(format, quotient, numerator.count > 0, shift - 63);
}

/* Up to 15 digits and 10^22 are exact in double, and so the one operation on them rounds once. True if rounding that
 * again, to the narrower format, cannot differ from rounding once: the double is not on a half-way point. */
static bool round_short_decimal(mw__number_format format, const decimal *number, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (number->count > 15 || number->exponent < -22 || number->exponent > 22)
        return false;
    double value = 0;
    for (int i = 0; i < number->count; i++)
        value = value * 10 + number->digits[i];
    const int exponent = (int)number->exponent;
    value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
    int binary;
    const uint64_t significand = (uint64_t)ldexp(frexp(value, &binary), 53); /* 53 bits, value >= 1e-22 */
    const double nearest = round_to(format, significand, false, binary - 53);
    *out = nearest;
    return format == MW__NUMBER_F64 || (nearest == round_to(format, significand, true, binary - 53) &&
                                        nearest == round_to(format, significand * 4 - 1, false, binary - 55));
}

static bool read_decimal(scan *text, mw__number_format format, double *out)
{
    decimal number;
    if (!scan_decimal(text, &number))
        return false;
    const int64_t places = number.count + number.exponent; /* the value is below 10^places */
    if (number.count == 0 || places < -330)
        *out = 0.0;
    else if (places > 310)
        *out = INFINITY;
    else if (!round_short_decimal(format, &number, out))
        *out = round_decimal(format, &number);
    return true;
}

/* ---- reading ---- */

static bool take_word(scan *text, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(text->end - text->at) != length || memcmp(text->at, word, length) != 0)
        return false;
    text->at = text->end;
    return true;
}

bool mw__number_read(const char *text, size_t length, mw__number_format format, double *out)
{
    MW__FLOAT_SCOPE;
    scan rest = {.at = text, .end = text + length};
    const bool negative = take_letter(&rest, '-', '-');
    double value;
    if (take_word(&rest, "inf"))
        value = INFINITY;
    else if (take_word(&rest, "nan"))
        value = NAN;
    else if (rest.end - rest.at > 2 && rest.at[0] == '0' && (rest.at[1] == 'x' || rest.at[1] == 'X')) {
        rest.at += 2;
        if (!read_hex(&rest, format, &value))
            return false;
    } else if (!read_decimal(&rest, format, &value)) {
        return false;
    }
    *out = negative ? -value : value;
    return true;
}

static bool read_magnitude(scan *text, uint64_t limit, uint64_t *out)
{
    uint64_t value = 0;
    if (text->at == text->end)
        return false;
    for (; text->at < text->end; text->at++) {
        const int digit = digit_value(*text->at, 10);
        if (digit < 0 || value > (limit - (uint64_t)digit) / 10)
            return false;
        value = value * 10 + (uint64_t)digit;
    }
    *out = value;
    return true;
}

bool mw__number_read_i64(const char *text, size_t length, int64_t *out)
{
    scan rest = {.at = text, .end = text + length};
    const bool negative = take_letter(&rest, '-', '-');
    uint64_t magnitude;
    if (!read_magnitude(&rest, (uint64_t)INT64_MAX + negative, &magnitude))
        return false;
    if (negative)
        *out = magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    else
        *out = (int64_t)magnitude;
    return true;
}

bool mw__number_read_u64(const char *text, size_t length, uint64_t *out)
{
    scan rest = {.at = text, .end = text + length};
    return read_magnitude(&rest, UINT64_MAX, out);
}
