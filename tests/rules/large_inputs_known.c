/* What is not right at some sizes, with the reason: the table of docs/chip.md. */
#include "large_inputs.h"

#include <string.h>

#define EVERY "h13 h16 h17 h18g"
#define KNOTS "h16 h18g"

/* clang-format off */
static const large_known rows[] = {
    {"sin", false, 7, 15, KNOTS, "up to 0.45 off", "2 pi is taken for 6.2831427 (`sin_knots`)"},
    {"tan", false, 8, 15, KNOTS, "off by as much as its sine and cosine", "2 pi is taken for 6.2831427 (`sin_knots`)"},
    {"sinh", false, 3, 3, EVERY, "infinite from 11.09 to 11.78", "e^x is infinite before it is halved; half of x would be rounded"},
    {"cosh", false, 3, 3, EVERY, "infinite from 11.09 to 11.78", "e^x is infinite before it is halved; half of x would be rounded"},
    {"x / (1 + x x)", false, 8, 15, EVERY, "0, with a warning", "the square is infinite; no row knows this form"},
    {"mean of squares", false, 8, 8, EVERY, "infinite", "one square is, or their sum, where the mean is below 65504"},
    {"mse", false, 7, 8, EVERY, "infinite", "one square is, or their sum, where the mean is below 65504"},
    {"batch_norm layer", false, 7, 15, EVERY, "0; the variance that it follows is infinite", "a trainer refuses the step, so that no other form is worth its time"},
    {"deviation", false, 15, 15, EVERY, "0", "x - mean(x) passes 65504; without an epsilon halves would lose small inputs"},
    {"cross_entropy", false, 15, 15, EVERY, "infinite", "x - max(x) passes 65504"},
    {"nll of log_softmax", false, 15, 15, EVERY, "infinite", "x - max(x) passes 65504"},
    {"multi_margin", false, 15, 15, EVERY, "infinite", "a difference of two scores passes 65504"},
    {"attention", false, 6, 15, KNOTS, "infinite", "scores pass 32768 (`product_fixed_point`); scale the queries"},
    {"focal", false, 15, 15, EVERY, "infinite", "what one example costs passes 65504"},

    {"square", true, 15, 15, EVERY, "infinite", "2 x passes 65504 before dy multiplies it"},
    {"mean of squares", true, 15, 15, EVERY, "infinite", "2 x passes 65504 before dy multiplies it"},
    {"mse", true, 15, 15, EVERY, "infinite", "2 x passes 65504 before dy multiplies it"},
    {"cos", true, 11, 15, KNOTS, "up to 0.45 off", "2 pi is taken for 6.2831427 (`sin_knots`)"},
    {"tan", true, 12, 15, KNOTS, "off by as much as its sine and cosine", "2 pi is taken for 6.2831427 (`sin_knots`)"},
    {"x / (1 + x x)", true, 7, 9, EVERY, "half of it and less", "its terms are below 2^-14 without a loss scale, and cancel"},
    {"rms_norm without epsilon", true, -17, -17, EVERY, "infinite", "1 / rms passes 65504 where the gradient is just below"},
    {"batch_norm layer", true, 7, 15, EVERY, "0; the variance is infinite", "the same"},
    {"local_response_norm", true, 9, 14, "h13 h16 h18g", "up to its own size off", "products below 2^-14 (h13) and 2^-17 are 0"},
    {"reduce_l2_norm", true, -24, -22, EVERY, "up to 1/8 off", "the norm is a subnormal number of few bits"},
    {"reduce_l2_norm", true, 15, 15, EVERY, "0; the norm itself is infinite", "the norm is beyond 65504"},
    {"x / sqrt(mean(x x) + e)", true, 10, 15, EVERY, "up to 1/3 off", "rsqrt's r^3 is below 2^-24 without a loss scale; take mw_rms_norm"},
    {"x (sum(x^2) / n + e)^-0.5", true, 8, 15, EVERY, "up to 1/3 off, at last infinite", "the same; take mw_rms_norm"},
    {"layer norm by hand", true, 10, 15, EVERY, "up to 1/3 off, at last infinite", "the same; take mw_layer_norm"},
    {"sqrt(sum of squares)", true, -24, -17, EVERY, "infinite", "1 / (2 y) passes 65504; take reduce_l2_norm"},
    {"sqrt(sum of squares)", true, 15, 15, EVERY, "0; the root itself is infinite", "the root is beyond 65504"},
    {"deviation", true, -24, -17, EVERY, "infinite", "1 / (2 y) passes 65504"},
    {"deviation", true, 14, 15, EVERY, "infinite", "the variance passes 65504"},
    {"triplet", true, -24, -20, EVERY, "up to its own size off", "the points are subnormal numbers of few bits"},
    {"attention", true, 2, 15, EVERY, "1/40 off, at last 0 or infinite", "scores of several hundred are rounded to fp16, and infinite beyond"},
};
/* clang-format on */

const large_known *large_known_at(size_t index) { return index < sizeof rows / sizeof *rows ? &rows[index] : NULL; }

bool large_known_covers(const large_known *known, const large_case *c, const char *profile, bool slope, int k)
{
    return strcmp(known->name, c->name) == 0 && known->slope == slope && k >= known->from && k <= known->to &&
           strstr(known->profiles, profile) != NULL;
}
