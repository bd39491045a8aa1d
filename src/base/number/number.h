/* Numbers as text, without the locale. */
#ifndef MW__BASE_NUMBER_NUMBER_H
#define MW__BASE_NUMBER_NUMBER_H

#include "base/visible.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest text that the printers write, with NUL. */
#define MW__NUMBER_MAX 40

/* C99 hex float, shortest form, exponent always signed: 0x1p+0, -0x1.8p-3, 0x0p+0, -0x0p+0, inf, -inf, nan.
 * Subnormals are normalized (0x1p-149). Returns the length. */
size_t mw__number_print_hex(char *out, double value);

/* Decimal, correctly rounded to the fewest digits (at most 9) that read back to the same float; for people: 0.001,
 * 1e-08, 3. */
MW__SIBLING size_t mw__number_print_float(char *out, float value);
/* The same for a double, of at most 17 digits; integers below 1e17 have no exponent. */
MW__SIBLING size_t mw__number_print_double(char *out, double value);

/* Decimal digits, as printf does. Returns the length. */
size_t mw__number_print_i64(char *out, int64_t value);

/* What to round a decimal to. */
typedef enum mw__number_format { MW__NUMBER_F16, MW__NUMBER_BF16, MW__NUMBER_F32, MW__NUMBER_F64 } mw__number_format;

/* Reads [-](hex float | decimal | inf | nan) from text[0..length), which must be consumed whole. Decimals and hex
 * floats of any length are rounded once, to nearest even, to `format`; *out holds that value exactly.
 * False if it is not a number. */
MW__SIBLING bool mw__number_read(const char *text, size_t length, mw__number_format format, double *out);

/* Reads [-]digits, decimal; false if malformed or outside int64. */
MW__SIBLING bool mw__number_read_i64(const char *text, size_t length, int64_t *out);
bool mw__number_read_u64(const char *text, size_t length, uint64_t *out);

#endif
