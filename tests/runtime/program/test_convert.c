/* Conversion between host and port types, against double arithmetic and one rounding. */
#include "graph/values/convert.h"
#include "support/check.h"

#include "base/number/fp16.h"

#include <float.h>
#include <stdint.h>

enum { COUNT = 3000 }; /* not a multiple of any block */

static void test_bytes_are_scaled_and_rounded_once(void)
{
    uint8_t in[COUNT];
    float single[COUNT];
    uint16_t half[COUNT];
    mw_error err = {0};
    const float scale = 1.0f / 255.0f, offsets[] = {0.0f, -0.1307f};
    for (int i = 0; i < COUNT; i++)
        in[i] = (uint8_t)(i * 7);
    for (int k = 0; k < 2; k++) {
        mw__convert(single, MW_F32,
                    &(mw__values){.data = in, .dtype = MW_U8, .count = COUNT, .scale = scale, .offset = offsets[k]},
                    &err);
        mw__convert(half, MW_F16,
                    &(mw__values){.data = in, .dtype = MW_U8, .count = COUNT, .scale = scale, .offset = offsets[k]},
                    &err);
        CHECK_OK(err);
        int wrong = 0;
        for (int i = 0; i < COUNT; i++) {
            const double exact = (double)in[i] * (double)scale + (double)offsets[k];
            wrong += single[i] != (float)exact;
            wrong += half[i] != mw__fp16_from_double(exact);
        }
        CHECK_INT(wrong, 0);
    }
}

static void test_a_scale_of_zero_means_one(void)
{
    const uint8_t in[3] = {0, 7, 255};
    float out[3];
    mw_error err = {0};
    mw__convert(out, MW_F32, &(mw__values){.data = in, .dtype = MW_U8, .count = 3, .scale = 0.0f, .offset = 0.5f},
                &err);
    CHECK_OK(err);
    CHECK(out[0] == 0.5f && out[1] == 7.5f && out[2] == 255.5f);
}

static void test_floats_become_halves_and_come_back(void)
{
    float in[COUNT], back[COUNT];
    uint16_t half[COUNT];
    mw_error err = {0};
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(i - 1500) * 0.37f;
    mw__convert(half, MW_F16, &(mw__values){.data = in, .dtype = MW_F32, .count = COUNT}, &err);
    mw__convert(back, MW_F32, &(mw__values){.data = half, .dtype = MW_F16, .count = COUNT}, &err);
    CHECK_OK(err);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        wrong += half[i] != mw__fp16_from_double((double)in[i]);
        wrong += fabs((double)back[i] - (double)in[i]) > 0.0005 * fabs((double)in[i]);
    }
    CHECK_INT(wrong, 0);
}

static void test_every_integer_type_reads_and_writes(void)
{
    static const struct {
        mw_dtype dtype;
        double low, high;
    } types[] = {{MW_I32, INT32_MIN, INT32_MAX}, {MW_I16, INT16_MIN, INT16_MAX}, {MW_U16, 0, UINT16_MAX},
                 {MW_I8, INT8_MIN, INT8_MAX},    {MW_U8, 0, UINT8_MAX},          {MW_BOOL, 0, 1}};
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        const double in[2] = {types[k].low, types[k].high};
        char stored[8];
        int32_t back[2];
        mw_error err = {0};
        mw__convert(stored, types[k].dtype, &(mw__values){.data = in, .dtype = MW_F64, .count = 2}, &err);
        mw__convert(back, MW_I32, &(mw__values){.data = stored, .dtype = types[k].dtype, .count = 2}, &err);
        CHECK_OK(err);
        CHECK((double)back[0] == types[k].low && (double)back[1] == types[k].high);
        const double beyond[2] = {types[k].high, types[k].high + 1};
        CHECK_INT(mw__convert(stored, types[k].dtype, &(mw__values){.data = beyond, .dtype = MW_F64, .count = 2}, &err),
                  MW_ERROR_ARGUMENT);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "element 1");
    }
}

static void test_fractions_and_nan_do_not_become_integers(void)
{
    const float bad[] = {0.5f, NAN, INFINITY, -1.5f};
    for (int i = 0; i < 4; i++) {
        int32_t out;
        mw_error err = {0};
        CHECK_INT(mw__convert(&out, MW_I32, &(mw__values){.data = &bad[i], .dtype = MW_F32, .count = 1}, &err),
                  MW_ERROR_ARGUMENT);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "int32");
    }
}

static void test_types_without_kernels_are_refused(void)
{
    char data[16] = {0};
    mw_error err = {0};
    mw__convert(data, MW_F32, &(mw__values){.data = data, .dtype = MW_BF16, .count = 1}, &err);
    CHECK_ERROR(err, MW_ERROR_DTYPE, "bf16");
    err = (mw_error){0};
    mw__convert(data, MW_U64, &(mw__values){.data = data, .dtype = MW_F32, .count = 1}, &err);
    CHECK_ERROR(err, MW_ERROR_DTYPE, "uint64");
}

static void test_the_first_value_that_is_not_finite_is_found(void)
{
    float single[COUNT] = {0};
    uint16_t half[COUNT] = {0};
    CHECK_INT(mw__find_not_finite(single, MW_F32, COUNT), COUNT);
    CHECK_INT(mw__find_not_finite(half, MW_F16, COUNT), COUNT);
    single[7] = FLT_MAX; /* and the largest numbers are finite */
    half[7] = 0x7bff;
    CHECK_INT(mw__find_not_finite(single, MW_F32, COUNT), COUNT);
    CHECK_INT(mw__find_not_finite(half, MW_F16, COUNT), COUNT);
    const int places[] = {0, 1023, 1024, 2047, COUNT - 1};
    for (int k = 4; k >= 0; k--) {
        single[places[k]] = k % 2 ? NAN : -INFINITY;
        half[places[k]] = k % 2 ? 0x7e00 : 0xfc00;
        CHECK_INT(mw__find_not_finite(single, MW_F32, COUNT), places[k]);
        CHECK_INT(mw__find_not_finite(half, MW_F16, COUNT), places[k]);
    }
}

static void test_no_elements_are_fine(void)
{
    mw_error err = {0};
    CHECK_INT(mw__convert(NULL, MW_F32, &(mw__values){.data = NULL, .dtype = MW_F32, .count = 0}, &err), MW_OK);
    CHECK_INT(mw__find_not_finite(NULL, MW_F32, 0), 0);
}

int main(void)
{
    RUN(test_bytes_are_scaled_and_rounded_once);
    RUN(test_a_scale_of_zero_means_one);
    RUN(test_floats_become_halves_and_come_back);
    RUN(test_every_integer_type_reads_and_writes);
    RUN(test_fractions_and_nan_do_not_become_integers);
    RUN(test_types_without_kernels_are_refused);
    RUN(test_the_first_value_that_is_not_finite_is_found);
    RUN(test_no_elements_are_fine);
    return check_finish();
}
