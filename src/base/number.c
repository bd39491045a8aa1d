/* Numbers to and from text without the locale. Reading is exact: a fast path where one double operation is enough, and
 * otherwise a quotient of big integers, whose size and time are bounded whatever the text. */
#include "base/number.h"

#include "base/float_mode.h"

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

static int bit_length(uint64_t value)
{
    int length = 0;
    for (; value != 0; value >>= 1)
        length++;
    return length;
}

/* (value + a little if sticky) * 2^exponent to nearest even. With sticky, value has at least 55 bits. */
static double round_to(mw__number_format format, uint64_t value, bool sticky, int exponent)
{
    if (value == 0)
        return 0.0;
    const int length = bit_length(value);
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

static bool take(scan *text, char low, char high)
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
    if (!take(text, low, high))
        return true;
    const bool negative = take(text, '-', '-');
    if (!negative)
        take(text, '+', '+');
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
    return number->count == 0 ? 0 : 32 * (number->count - 1) + bit_length(number->limb[number->count - 1]);
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
    const bool negative = take(&rest, '-', '-');
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
    const bool negative = take(&rest, '-', '-');
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

/* ---- printing ---- */

size_t mw__number_print_i64(char *out, int64_t value)
{
    char digits[MW__NUMBER_MAX]; /* from the last one */
    size_t count = 0, length = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[count++] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0)
        out[length++] = '-';
    while (count > 0)
        out[length++] = digits[--count];
    out[length] = '\0';
    return length;
}

static size_t print_word(char *out, bool negative, const char *word)
{
    return (size_t)snprintf(out, MW__NUMBER_MAX, "%s%s", negative ? "-" : "", word);
}

size_t mw__number_print_hex(char *out, double value)
{
    MW__FLOAT_SCOPE;
    static const char hex[] = "0123456789abcdef";
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const bool negative = bits >> 63 != 0;
    uint64_t fraction = bits & 0xfffffffffffff;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == 1024)
        return fraction != 0 ? print_word(out, false, "nan") : print_word(out, negative, "inf");
    if (exponent == -1023 && fraction == 0)
        return print_word(out, negative, "0x0p+0");
    if (exponent == -1023) { /* subnormal: up to the leading bit, which then is implied */
        const int shift = 53 - bit_length(fraction);
        fraction = fraction << shift & 0xfffffffffffff;
        exponent = -1022 - shift;
    }
    size_t length = print_word(out, negative, "0x1");
    if (fraction != 0)
        out[length++] = '.';
    for (; fraction != 0; fraction = fraction << 4 & 0xfffffffffffff)
        out[length++] = hex[fraction >> 48];
    return length + (size_t)snprintf(out + length, MW__NUMBER_MAX - length, "p%+d", exponent);
}

/* The significant digits of |value| rounded to `count` of them, without trailing zeros; the exponent is of the first.
 * snprintf may write the locale's point, so only its digits are used. */
static int float_digits(float value, int count, char digits[16], int *out_exponent)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, fabs((double)value));
    int length = 0;
    const char *at = text;
    for (; *at != 'e' && *at != '\0'; at++) {
        if (*at >= '0' && *at <= '9' && length < 15)
            digits[length++] = *at;
    }
    *out_exponent = 0;
    const bool negative = *at == 'e' && at[1] == '-';
    for (at += *at == 'e' ? 2 : 0; *at >= '0' && *at <= '9'; at++)
        *out_exponent = *out_exponent * 10 + (*at - '0');
    *out_exponent = negative ? -*out_exponent : *out_exponent;
    while (length > 1 && digits[length - 1] == '0')
        length--;
    digits[length] = '\0';
    return length;
}

static bool digits_read_back(const char *digits, int exponent, float value)
{
    char text[48];
    const int length =
        snprintf(text, sizeof text, "%.15se%d", digits, exponent - (int)strlen(digits) + 1); /* digits e exponent */
    double back;
    return mw__number_read(text, (size_t)length, MW__NUMBER_F32, &back) && (float)back == fabsf(value);
}

/* 0.00ddd, dd.dd or dd000 */
static size_t lay_out_plain(char *out, const char *digits, int count, int exponent)
{
    char *at = out;
    if (exponent < 0) {
        *at++ = '0';
        *at++ = '.';
        for (int i = -1; i > exponent; i--)
            *at++ = '0';
    }
    for (int i = 0; i < count || i <= exponent; i++) {
        if (i > 0 && i == exponent + 1)
            *at++ = '.';
        *at++ = i < count ? digits[i] : '0';
    }
    *at = '\0';
    return (size_t)(at - out);
}

size_t mw__number_print_float(char *out, float value)
{
    MW__FLOAT_SCOPE;
    const bool negative = signbit(value) != 0;
    if (isnan(value))
        return print_word(out, false, "nan");
    if (isinf(value) || value == 0.0f)
        return print_word(out, negative, isinf(value) ? "inf" : "0");
    char digits[16];
    int exponent, count = 0;
    for (int wanted = 1; wanted <= 9; wanted++) {
        count = float_digits(value, wanted, digits, &exponent);
        if (digits_read_back(digits, exponent, value))
            break;
    }
    const size_t length = print_word(out, negative, "");
    if (exponent >= -4 && exponent < 9)
        return length + lay_out_plain(out + length, digits, count, exponent);
    return length + (size_t)snprintf(out + length, MW__NUMBER_MAX - length, "%c%s%.15se%c%02d", digits[0],
                                     count > 1 ? "." : "", digits + 1, exponent < 0 ? '-' : '+',
                                     exponent < 0 ? -exponent : exponent);
}
