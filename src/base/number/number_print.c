/* Numbers to text, without the locale. */
#include "base/number/bits.h"
#include "base/number/float_mode.h"
#include "base/number/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Significant digits, with a NUL. */
enum { DIGITS_BYTES = 18 };

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
        const int shift = 53 - mw__bit_length(fraction);
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
static int round_digits(double value, int count, char digits[DIGITS_BYTES], int *out_exponent)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, fabs(value));
    int length = 0;
    const char *at = text;
    for (; *at != 'e' && *at != '\0'; at++) {
        if (*at >= '0' && *at <= '9' && length < DIGITS_BYTES - 1)
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

static bool digits_read_back(const char *digits, int exponent, mw__number_format format, double value)
{
    char text[48];
    const int length =
        snprintf(text, sizeof text, "%.17se%d", digits, exponent - (int)strlen(digits) + 1); /* digits e exponent */
    double back;
    return mw__number_read(text, (size_t)length, format, &back) && back == fabs(value);
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

/* How many digits to try: all decimals of `sure` digits are told apart, but for subnormals, and `most` are enough. So
 * if `sure` of them read back, these without their zeros are the fewest. */
typedef struct digits_of {
    mw__number_format format;
    int sure, most;
    double normal; /* the smallest */
} digits_of;

/* The fewest digits that read back to the same number. */
static size_t print_shortest(char *out, double value, const digits_of *of)
{
    const bool negative = signbit(value) != 0;
    if (isnan(value))
        return print_word(out, false, "nan");
    if (isinf(value) || value == 0.0)
        return print_word(out, negative, isinf(value) ? "inf" : "0");
    char digits[DIGITS_BYTES];
    int exponent = 0, count = 0;
    for (int wanted = fabs(value) >= of->normal ? of->sure : 1; wanted <= of->most; wanted++) {
        count = round_digits(value, wanted, digits, &exponent);
        if (digits_read_back(digits, exponent, of->format, value))
            break;
    }
    const size_t length = print_word(out, negative, "");
    if (exponent >= -4 && exponent < of->most)
        return length + lay_out_plain(out + length, digits, count, exponent);
    return length + (size_t)snprintf(out + length, MW__NUMBER_MAX - length, "%c%s%.17se%c%02d", digits[0],
                                     count > 1 ? "." : "", digits + 1, exponent < 0 ? '-' : '+',
                                     exponent < 0 ? -exponent : exponent);
}

size_t mw__number_print_float(char *out, float value)
{
    MW__FLOAT_SCOPE;
    static const digits_of single = {MW__NUMBER_F32, FLT_DIG, 9, (double)FLT_MIN};
    return print_shortest(out, (double)value, &single);
}

size_t mw__number_print_double(char *out, double value)
{
    MW__FLOAT_SCOPE;
    static const digits_of all = {MW__NUMBER_F64, DBL_DIG, 17, DBL_MIN};
    return print_shortest(out, value, &all);
}
