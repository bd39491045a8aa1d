/* Questions about sums of products, each by a 1x1 conv of constant weights, by matmul of two live operands, and by
 * linear. */
#include "question.h"

#include <math.h>

#define X(...) .x = (const float[]){__VA_ARGS__}, .count = sizeof((const float[]){__VA_ARGS__}) / sizeof(float)
#define W(...)                                                                                                         \
    .w = (const float[]) { __VA_ARGS__ }

#define M5       "M6 study: M5 is unsettled"
#define STUDY    "M6 study (a), M1, M2, M3 and M5"
#define UNTESTED "M6 study (a): untested"
#define CHIP     "docs/chip.md"

const question question_products[] = {
    {"below_the_ceiling", "16384 + 16376", M5, QUESTION_PRODUCT, X(16384, 16376),
     .readings = {{{32768}, "product_ceiling off", NULL}, {{INFINITY}, "product_ceiling on", NULL}}},
    {"cancel", "16384 + 16384 - 16384 - 16384", M5, QUESTION_PRODUCT, X(16384, 16384, -16384, -16384),
     .readings = {{{INFINITY}, "product_fixed_point on", NULL}, {{0}, "product_fixed_point off", NULL}}},
    {"cancel_and_one", "16384 + 16384 - 16384 - 16384 + 1", STUDY, QUESTION_PRODUCT, X(16384, 16384, -16384, -16384, 1),
     .readings = {{{INFINITY}, "product_fixed_point on", NULL}, {{1}, "product_fixed_point off", NULL}}},
    {"alternating", "16384 - 16384, six times, + 1", M5, QUESTION_PRODUCT,
     X(16384, -16384, 16384, -16384, 16384, -16384, 16384, -16384, 16384, -16384, 16384, -16384, 1),
     .readings = {{{1}, NULL, "no partial sum left the range"},
                  {{INFINITY}, NULL, "positive and negative products are added apart"},
                  {{0}, NULL, "partial sums are narrow"}}},
    {"pairs", "10000 + 10000 + 20000 - 20000", "M6 study (a), rule 8", QUESTION_PRODUCT, X(10000, 10000, 20000, -20000),
     .readings = {{{INFINITY}, "product_fixed_point on", "products are added one by one"},
                  {{20000}, NULL, "no ceiling for partial sums, or pairs are added before it is tested"}}},
    {"far_apart", "20000 + 20000 - 20000 in channels 0, 31 and 62 of 64", "M6 study (a), rule 8", QUESTION_PRODUCT,
     X(20000, 20000, -20000), .spread = 31,
     .readings = {{{INFINITY}, "product_fixed_point on", "in the order of channels"},
                  {{20000}, NULL, "no ceiling for partial sums, or another order"}}},
    {"several_passes", "20000 + 20000 - 20000 in channels 0, 2047 and 4094 of 4096", UNTESTED, QUESTION_PRODUCT,
     X(20000, 20000, -20000), .spread = 2047, .length = 4096,
     .readings = {{{INFINITY}, "product_fixed_point on", "in the order of channels"},
                  {{20000}, NULL, "no ceiling for partial sums, or one for each pass"}}},
    {"small_product", "2^-18 alone", M5, QUESTION_PRODUCT, X(0x1p-18f),
     .readings = {{{0}, NULL, "below the grid, or subnormal results are 0"},
                  {{0x1p-18f}, "product_fixed_point off, product_denormals off", NULL}}},
    {"small_beside", "2^-14 + 2^-18", STUDY, QUESTION_PRODUCT, X(0x1p-14f, 0x1p-18f),
     .readings = {{{0x1p-14f}, "product_fixed_point on", NULL}, {{0x1.1p-14f}, "product_fixed_point off", NULL}}},
    {"half_of_the_grid", "2^-17 alone", STUDY, QUESTION_PRODUCT, X(0x1p-17f),
     .readings = {{{0x1p-16f}, "product_fixed_point on, product_denormals off", NULL},
                  {{0x1p-17f}, "product_fixed_point off, product_denormals off", NULL},
                  {{0}, "product_fixed_point off, product_denormals on", NULL}}},
    {"subnormal_result", "2^-16 + 2^-16", "docs/chip.md: M2 to M4", QUESTION_PRODUCT, X(0x1p-16f, 0x1p-16f),
     .readings = {{{0}, "product_denormals on", NULL}, {{0x1p-15f}, "product_denormals off", NULL}}},
    {"small_products_add", "2^-20 + 2^-20, each as 2^-10 * 2^-10", "M6 study, table of chips", QUESTION_PRODUCT,
     X(0x1p-10f, 0x1p-10f), W(0x1p-10f, 0x1p-10f),
     .readings = {{{0}, NULL, "below the grid, or subnormal results are 0"},
                  {{0x1p-19f}, "product_fixed_point off, product_denormals off", NULL}}},
    {"dropped", "2^-14 + 1.992 * 2^-9 * 1.992 * 2^-8, of exponents that sum to -17", "M6 study (a), rule 4: M4",
     QUESTION_PRODUCT, X(0x1.fep-9f, 0x1p-14f), W(0x1.fep-8f, 1),
     .readings = {{{0x1p-14f}, "product_fixed_point on, product_drops on", NULL},
                  {{0x1.8p-14f}, "product_fixed_point on, product_drops off", NULL},
                  {{0x1.7fp-14f}, "product_fixed_point off, product_drops off", NULL}}},
    {"tie", "2048 + 1", STUDY, QUESTION_PRODUCT, X(2048, 1),
     .readings = {{{2050}, "product_fixed_point on", NULL}, {{2048}, "product_fixed_point off", NULL}}},
    {"one_between", "2048 + 1 - 2048", "M6 study (a), rule 8", QUESTION_PRODUCT, X(2048, 1, -2048),
     .readings = {{{1}, NULL, "partial sums are wide"}, {{0}, NULL, "partial sums are fp16"}}},
    {"tiles", "4096 + 1024 ones", "docs/chip.md: M2 to M6", QUESTION_PRODUCT, X(4096), .length = 1025, .fill = 1,
     .readings = {{{5116}, "product_tiles on", NULL}, {{5120}, "product_tiles off", NULL}}},
    {"infinite_operand", "inf * 2^-4", "M6 study (a), rule 7: M4", QUESTION_PRODUCT, X(INFINITY), W(0x1p-4f),
     .readings = {{{4096}, "product_fixed_point on", "inf is 65536"}, {{INFINITY}, "product_fixed_point off", NULL}}},
    {"nan_operand", "NaN (0x7e00) * 2^-12", "M6 study (a), rule 7: M4", QUESTION_PRODUCT, X(NAN), W(0x1p-12f),
     .readings = {{{24}, "product_fixed_point on", "NaN is 98304"},
                  {{INFINITY}, "product_fixed_point off, nan_is_infinity on", NULL},
                  {{0}, "product_fixed_point off, nan_is_infinity off, no_nan on", NULL},
                  {{NAN}, "product_fixed_point off, nan_is_infinity off, no_nan off", NULL}}},
    {"bias_first", "16384 + 16384 with a bias of -16384", "M6 study (a), rule 5: M1 to M5", QUESTION_CONV,
     X(16384, 16384), .bias = -16384,
     .readings = {{{16384}, NULL, "the bias is first, or sums have no ceiling"},
                  {{INFINITY}, NULL, "the bias is added last, behind the ceiling"}}},
    {"one_channel", "60000 by one channel and one tap", "docs/chip.md: M4 and M6", QUESTION_CONV, X(60000), .length = 1,
     .readings = {{{60000}, NULL, "no ceiling for a single product"}, {{INFINITY}, NULL, "the ceiling of sums"}}},
    {"window_cancel", "16384 + 16384 - 16384 - 16384 in the taps of a 3x3 kernel, 64 channels", UNTESTED ", Winograd",
     QUESTION_WINDOW, X(16384, 16384, -16384, -16384),
     .readings = {{{INFINITY}, "product_fixed_point on", NULL}, {{0}, "product_fixed_point off", NULL}}},
    {"window_tie", "2048 + 1 in the taps of a 3x3 kernel, 64 channels", UNTESTED ", Winograd", QUESTION_WINDOW,
     X(2048, 1), .readings = {{{2050}, "product_fixed_point on", NULL}, {{2048}, "product_fixed_point off", NULL}}},
    {"int8_sum", "4096 products of 127 * 127 with scales of 2^-5, by quantize, dequantize and a conv with int8 weights",
     "M6 study (a): W8A8 on M1 to M5", QUESTION_TEXT, X(127.0f / 32), .length = 4096, .fill = 127.0f / 32,
     .signature = "tensor<fp16, [1, 4096, 1, 1]> x",
     .text =
         "%Q[1, 4096, 1, 1]\n"
         "tensor<fp16, [1, 4096, 1, 1]> v = constexpr_blockwise_shift_scale(data = w, scale = tensor<fp16, [1, 1, 1, "
         "1]>([[[[0x1p-5]]]]))[name = string(\"v\")];\n"
         "fp16 s = const()[name = string(\"s\"), val = fp16(0x1p-5)];\n"
         "string type = const()[name = string(\"type\"), val = string(\"int8\")];\n"
         "tensor<int8, [1, 4096, 1, 1]> q = quantize(input = x, output_dtype = type, scale = s)[name = "
         "string(\"q\")];\n"
         "tensor<fp16, [1, 4096, 1, 1]> d = dequantize(input = q, scale = s)[name = string(\"d\")];\n"
         "tensor<fp16, [1, 1, 1, 1]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = "
         "tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight "
         "= "
         "v, x = d)[name = string(\"y\")];",
     .readings = {{{64512}, NULL, "int8 products are integers without the ceiling"},
                  {{INFINITY}, NULL, "int8 products have the ceiling of others"}}},
    {"int8_end", "135000 products of 127 * 127 with scales of 2^-9, which pass 2^31 before they are scaled",
     "M6 study (a): W8A8 on M1 to M5", QUESTION_TEXT, X(127.0f / 512), .length = 135000, .fill = 127.0f / 512,
     .signature = "tensor<fp16, [1, 45000, 3, 1]> x",
     .text =
         "%Q[1, 45000, 3, 1]\n"
         "tensor<fp16, [1, 45000, 3, 1]> v = constexpr_blockwise_shift_scale(data = w, scale = tensor<fp16, [1, 1, 1, "
         "1]>([[[[0x1p-9]]]]))[name = string(\"v\")];\n"
         "fp16 s = const()[name = string(\"s\"), val = fp16(0x1p-9)];\n"
         "string type = const()[name = string(\"type\"), val = string(\"int8\")];\n"
         "tensor<int8, [1, 45000, 3, 1]> q = quantize(input = x, output_dtype = type, scale = s)[name = "
         "string(\"q\")];\n"
         "tensor<fp16, [1, 45000, 3, 1]> d = dequantize(input = q, scale = s)[name = string(\"d\")];\n"
         "tensor<fp16, [1, 1, 1, 1]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = "
         "tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), weight "
         "= "
         "v, x = d)[name = string(\"y\")];",
     .readings = {{{INFINITY}, "int8_sums on", NULL}, {{8304}, "int8_sums off", NULL}}},
    {0},
};
