/* IEEE 754 half precision, stored as uint16_t. Round to nearest, ties to even; overflow gives infinity; NaN stays NaN;
 * subnormals are kept. The bulk forms use F16C or NEON where the processor has it and give the same bits. */
#ifndef MW__BASE_NUMBER_FP16_H
#define MW__BASE_NUMBER_FP16_H

#include "base/visible.h"

#include <stddef.h>
#include <stdint.h>

#define MW__FP16_MAX           65504.0f
#define MW__FP16_MIN_SUBNORMAL 0x1p-24f

MW__SIBLING uint16_t mw__fp16_from_float(float value);
MW__SIBLING uint16_t mw__fp16_from_double(double value); /* rounds once */
MW__SIBLING float mw__fp16_to_float(uint16_t value);

void mw__fp16_from_float_n(uint16_t *out, const float *in, size_t count);
void mw__fp16_to_float_n(float *out, const uint16_t *in, size_t count);

/* The portable forms, which the tests compare the others with. */
void mw__fp16_from_float_n_ref(uint16_t *out, const float *in, size_t count);
void mw__fp16_to_float_n_ref(float *out, const uint16_t *in, size_t count);

/* bfloat16, for constants that are read and printed, and gradients on their way. */
uint16_t mw__bf16_from_double(double value);
float mw__bf16_to_float(uint16_t value);
MW__SIBLING void mw__bf16_from_float_n(uint16_t *out, const float *in, size_t count);
void mw__bf16_to_float_n(float *out, const uint16_t *in, size_t count);

#endif
