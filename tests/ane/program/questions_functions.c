/* Questions about elementwise functions, reductions, and values without a number. */
#include "question.h"

#include <math.h>

#define X(...) .x = (const float[]){__VA_ARGS__}, .count = sizeof((const float[]){__VA_ARGS__}) / sizeof(float)
#define W(...)                                                                                                         \
    .w = (const float[]) { __VA_ARGS__ }

#define CHIP     "docs/chip.md"
#define TIES     "M6 study (a): M1 to M5"
#define TABLES   "M6 study (b)"
#define UNTESTED "M6 study (a): no numeric test"
#define LOG      "log(epsilon = fp16(0), x = x)"

/* Two sums of 81920 ones in all, and their mean, s being the second. */
#define TWO_SUMS                                                                                                       \
    "tensor<int32, [1]> a2 = const()[name = string(\"a2\"), val = tensor<int32, [1]>([2])];\n"                         \
    "tensor<int32, [1]> a1 = const()[name = string(\"a1\"), val = tensor<int32, [1]>([1])];\n"                         \
    "bool keep = const()[name = string(\"keep\"), val = bool(true)];\n"                                                \
    "fp16 n = const()[name = string(\"n\"), val = fp16(0x1.998p-17)];\n"                                               \
    "tensor<fp16, [1, 320, 1]> r = reduce_sum(axes = a2, keep_dims = keep, x = x)[name = string(\"r\")];\n"            \
    "tensor<fp16, [1, 1, 1]> s = reduce_sum(axes = a1, keep_dims = keep, x = r)[name = string(\"s\")];\n"              \
    "tensor<fp16, [1, 1, 1]> y = mul(x = s, y = n)[name = string(\"y\")];"

const question question_functions[] = {
    {"add_tie", "2048 + 1", TIES, QUESTION_PAIR, X(2048), W(1), .text = "add(x = x, y = w)",
     .readings = {{{2050}, "add_ties_away on", NULL}, {{2048}, "add_ties_away off", NULL}}},
    {"sub_tie", "2050 - 1", TIES, QUESTION_PAIR, X(2050), W(1), .text = "sub(x = x, y = w)",
     .readings = {{{2050}, "add_ties_away on", NULL}, {{2048}, "add_ties_away off", NULL}}},
    {"mul_tie", "(1 + 3 * 2^-10) * 1.5", TIES, QUESTION_PAIR, X(0x1.00cp+0f), W(1.5f), .text = "mul(x = x, y = w)",
     .readings = {{{0x1.814p+0f}, "mul_ties_away on", NULL}, {{0x1.81p+0f}, "mul_ties_away off", NULL}}},
    {"reduce_sum_tie", "2048 + 1", TIES, QUESTION_SUM, X(2048, 1), .text = "reduce_sum",
     .readings = {{{2050}, "sum_ties_away on", NULL}, {{2048}, "sum_ties_away off", NULL}}},
    {"reduce_sum_of_ones", "3000 ones", CHIP, QUESTION_SUM, X(1), .text = "reduce_sum", .length = 3000, .fill = 1,
     .readings = {{{3000}, "narrow_sums off", NULL}, {{2048}, "narrow_sums on", NULL}}},
    {"reduce_sum_cancel", "40000 + 40000 - 40000 - 40000", UNTESTED, QUESTION_SUM, X(40000, 40000, -40000, -40000),
     .text = "reduce_sum",
     .readings = {{{0}, NULL, "partial sums are wide"}, {{INFINITY}, NULL, "partial sums have a ceiling"}}},
    {"reduce_sum_small", "2^-14 + 2^-18", UNTESTED, QUESTION_SUM, X(0x1p-14f, 0x1p-18f), .text = "reduce_sum",
     .readings = {{{0x1.1p-14f}, NULL, "no grid of 2^-16"}, {{0x1p-14f}, NULL, "the grid of products"}}},
    {"reduce_mean_cancel", "mean of 40000, 40000, -40000, -40000", UNTESTED, QUESTION_SUM,
     X(40000, 40000, -40000, -40000), .text = "reduce_mean",
     .readings = {{{0}, NULL, "partial sums are wide"}, {{INFINITY}, NULL, "partial sums have a ceiling"}}},
    {"round_of_halves", "round of 0.5, 1.5, 2.5, -2.5", CHIP, QUESTION_EACH, X(0.5f, 1.5f, 2.5f, -2.5f), .outputs = 4,
     .text = "round(x = x)",
     .readings = {{{1, 2, 3, -3}, "round_ties_away on", NULL}, {{0, 2, 2, -2}, "round_ties_away off", NULL}}},
    {"nan_plus_zero", "NaN + 0", CHIP, QUESTION_PAIR, X(NAN), W(0), .text = "add(x = x, y = w)",
     .readings = {{{INFINITY}, "nan_is_infinity on", NULL},
                  {{0}, "nan_is_infinity off, no_nan on", NULL},
                  {{NAN}, "nan_is_infinity off, no_nan off", NULL}}},
    {"infinity_less_infinity", "inf - inf", CHIP, QUESTION_PAIR, X(INFINITY), W(INFINITY), .text = "sub(x = x, y = w)",
     .readings = {{{0}, "no_nan on", NULL}, {{NAN}, "no_nan off", NULL}}},
    {"infinity_times", "inf times 1, -1, 2, 0", CHIP ": -52416 by ANEForge", QUESTION_PAIR,
     X(INFINITY, INFINITY, INFINITY, INFINITY), W(1, -1, 2, 0), .outputs = 4, .text = "mul(x = x, y = w)",
     .readings = {{{INFINITY, -INFINITY, INFINITY, 0}, NULL, "as the model"},
                  {{INFINITY, -INFINITY, INFINITY, NAN}, NULL, "as IEEE"},
                  {{-52416, -52416, -52416, -52416}, NULL, "as ANEForge reports of M5"}}},
    {"quotient_by_zero", "1 / 0, 1 / -0", CHIP, QUESTION_PAIR, X(1, 1), W(0, -0.0f), .outputs = 2,
     .text = "real_div(x = x, y = w)",
     .readings = {{{0, 0}, "zero_quotient on", NULL}, {{INFINITY, -INFINITY}, "zero_quotient off", NULL}}},
    {"log_of_zero", "log(0)", CHIP, QUESTION_EACH, X(0), .text = LOG,
     .readings = {{{-45440}, "log_of_zero on", NULL}, {{-INFINITY}, "log_of_zero off", NULL}}},
    {"log_of_infinity", "log(inf)", CHIP, QUESTION_EACH, X(INFINITY), .text = LOG,
     .readings = {{{0}, "log_of_infinity on", NULL}, {{INFINITY}, "log_of_infinity off", NULL}}},
    {"softplus_of_11", "softplus(11.1)", CHIP, QUESTION_EACH, X(0x1.634p+3f), .text = "softplus(x = x)",
     .readings = {{{0}, "softplus_overflow on", NULL}, {{0x1.634p+3f}, "softplus_overflow off", NULL}}},
    {"wide_chain", "two sums of 81920 ones in all, times 1 / 81920", CHIP, QUESTION_TEXT, X(1), .length = 81920,
     .fill = 1, .near = 0.005f, .signature = "tensor<fp16, [1, 320, 256]> x", .text = TWO_SUMS,
     .readings = {{{1}, "wide_chains on", NULL}, {{INFINITY}, "wide_chains off", NULL}}},
    {"second_reader", "the same, with the second sum as a result too", CHIP, QUESTION_TEXT, X(1), .length = 81920,
     .fill = 1, .near = 0.005f, .signature = "tensor<fp16, [1, 320, 256]> x", .text = TWO_SUMS, .also = "s",
     .readings = {{{1}, NULL, "a second reader has no part in it"}, {{INFINITY}, NULL, "a second reader rounds it"}}},
    {"slice_behind_zero", "element 1 of [4096, 4096]", CHIP, QUESTION_TEXT, X(4096, 4096),
     .signature = "tensor<fp16, [1, 2]> x",
     .text = "tensor<fp16, [1, 1]> y = slice_by_size(begin = tensor<int32, [2]>([0, 1]), size = tensor<int32, [2]>([1, "
             "1]), x = x)[name = string(\"y\")];",
     .readings = {{{INFINITY}, "slice_clamp on", NULL}, {{4096}, "slice_clamp off", NULL}}},
    {"sigmoid_between", "sigmoid(0.25)", CHIP ": M5 has another table", QUESTION_EACH, X(0.25f),
     .text = "sigmoid(x = x)",
     .readings = {{{0x1.1f8p-1f}, "sigmoid_table on", NULL}, {{0x1.1fcp-1f}, "sigmoid_table off", NULL}}},
    {"sigmoid_tails", "sigmoid of -9.94, -9.5, 8.32", TABLES, QUESTION_EACH, X(-9.9375f, -9.5f, 8.3203125f),
     .outputs = 3, .near = 0.001f, .text = "sigmoid(x = x)",
     .readings = {{{0, 0x1.3dcp-14f, 1}, NULL, "the tail lines of M1's table"},
                  {{0x1.958p-15f, 0x1.3ap-14f, 1}, NULL, "no lines: the function itself"}}},
    {"tanh_between", "tanh of 1 / 16, 5", CHIP ": M5 has another table", QUESTION_EACH, X(0.0625f, 5), .outputs = 2,
     .text = "tanh(x = x)",
     .readings = {{{0x1.fd4p-5f, 0x1.ffcp-1f}, "tanh_table on, tanh_knots off", NULL},
                  {{0x1.fd4p-5f, 1}, "tanh_table off, tanh_knots on", NULL},
                  {{0x1.ff4p-5f, 1}, "tanh_table off, tanh_knots off", NULL}}},
    {"gelu_at_zero", "gelu(0), EXACT", TABLES, QUESTION_EACH, X(0), .near = 0.01f,
     .text = "gelu(mode = string(\"EXACT\"), x = x)",
     .readings = {{{0}, "gelu_knots off", "no fitted table"},
                  {{-0.000754f}, "gelu_knots on", "the fitted table of M5 and M6"},
                  {{-0.000543f}, NULL, "the table of M1"}}},
    {"silu_at_zero", "silu(0)", TABLES, QUESTION_EACH, X(0), .near = 0.01f, .text = "silu(x = x)",
     .readings = {{{0}, "silu_knots off", "no fitted table"},
                  {{-0.001704f}, "silu_knots on", "the fitted table of M6"},
                  {{-0.001259f}, NULL, "the table of M1"}}},
    {"elu", "elu(-1), elu(-0.1)", CHIP ": not matched", QUESTION_EACH, X(-1, -0.1f), .outputs = 2,
     .text = "elu(alpha = fp16(1), x = x)"},
    {"exp_table", "exp(7.67)", TABLES, QUESTION_EACH, X(0x1.ebp+2f), .text = "exp(x = x)",
     .readings = {{{0x1.0b4p+11f}, "exp_knots on", NULL}, {{0x1.0c8p+11f}, "exp_knots off", NULL}}},
    {"log_table", "log(1.004)", TABLES, QUESTION_EACH, X(0x1.01p+0f), .text = LOG,
     .readings = {{{0x1.e84p-9f}, "log_knots on", NULL}, {{0x1.ffp-9f}, "log_knots off", NULL}}},
    {"root_table", "rsqrt(0.531)", TABLES, QUESTION_EACH, X(0x1.1p-1f), .text = "rsqrt(epsilon = fp16(0), x = x)",
     .readings = {{{0x1.5fcp+0f}, "root_knots on", NULL}, {{0x1.5f4p+0f}, "root_knots off", NULL}}},
    {"inverse_table", "inverse(7.61)", TABLES, QUESTION_EACH, X(0x1.e7p+2f),
     .text = "inverse(epsilon = fp16(0), x = x)",
     .readings = {{{0x1.0dp-3f}, "inverse_knots on", NULL}, {{0x1.0d4p-3f}, "inverse_knots off", NULL}}},
    {"erf_table", "erf(0.648)", TABLES, QUESTION_EACH, X(0x1.4cp-1f), .text = "erf(x = x)",
     .readings = {{{0x1.47cp-1f}, "erf_knots on", NULL}, {{0x1.484p-1f}, "erf_knots off", NULL}}},
    {"sin_table", "sin(0.531)", TABLES, QUESTION_EACH, X(0x1.1p-1f), .text = "sin(x = x)",
     .readings = {{{0x1.034p-1f}, "sin_knots on", NULL}, {{0x1.038p-1f}, "sin_knots off", NULL}}},
    {"exp_between", "exp of 9.703, 1, -1", TABLES, QUESTION_EACH, X(9.703125f, 1, -1), .outputs = 3,
     .text = "exp(x = x)"},
    {"log_near_one", "log of 1.004, 0.996, 2", TABLES, QUESTION_EACH, X(0x1.01p+0f, 0x1.fep-1f, 2), .outputs = 3,
     .text = LOG},
    {"roots", "sqrt of 2, 0.7", TABLES, QUESTION_EACH, X(2, 0.7f), .outputs = 2, .text = "sqrt(x = x)"},
    {"inverse_roots", "rsqrt of 2, 0.7", TABLES, QUESTION_EACH, X(2, 0.7f), .outputs = 2,
     .text = "rsqrt(epsilon = fp16(0), x = x)"},
    {"inverse", "inverse of 0.01587, 3", TABLES, QUESTION_EACH, X(0x1.04p-6f, 3), .outputs = 2,
     .text = "inverse(epsilon = fp16(0), x = x)"},
    {"erf", "erf of 0.03, 2.2, 2.4", TABLES, QUESTION_EACH, X(0.03f, 2.2f, 2.4f), .outputs = 3, .text = "erf(x = x)"},
    {"sine_seams", "sin of -3.141, 3.1406, 6.2813, 1.5", TABLES ", docs/chip.md", QUESTION_EACH,
     X(-3.140625f, 3.140625f, 6.28125f, 1.5f), .outputs = 4, .text = "sin(x = x)"},
    {"cosine_seams", "cos of 0, 1.5703, 3.1406, inf", CHIP, QUESTION_EACH, X(0, 1.5703125f, 3.140625f, INFINITY),
     .outputs = 4, .text = "cos(x = x)"},
    {"arctangent_seams", "atan of 0.5, 1, 1.01, 8", CHIP, QUESTION_EACH, X(0.5f, 1, 1.01f, 8), .outputs = 4,
     .text = "atan(x = x)"},
    {"tanh_times_sigmoid", "tanh(0.1) * sigmoid(0.1)", CHIP ": Midas, M5", QUESTION_TEXT, X(0.1f),
     .signature = "tensor<fp16, [1]> x",
     .text = "tensor<fp16, [1]> t = tanh(x = x)[name = string(\"t\")];\n"
             "tensor<fp16, [1]> s = sigmoid(x = x)[name = string(\"s\")];\n"
             "tensor<fp16, [1]> y = mul(x = t, y = s)[name = string(\"y\")];",
     .readings = {{{0x1.ab4p-5f}, NULL, "as Midas reports of M5"}, {{0x1.ac8p-5f}, NULL, "as on a CPU"}}},
    {0},
};
