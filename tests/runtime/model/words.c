#include "words.h"

#include "support/on_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int64_t words_sizes[WORDS_SIZES] = {2049, 16385, 50257, 65537};
const mw_chip words_chips[WORDS_CHIPS] = {MW_CHIP_H13, MW_CHIP_H16};

int64_t words_axis_max(mw_chip chip) { return chip >= MW_CHIP_H16 ? 65536 : 16384; }

mw_compile_options words_compile(mw_device device, mw_chip chip)
{
    mw_compile_options options = engine_options(device, 0);
    options.chip = chip;
    return options;
}

int64_t words_longest_axis(const char *mil)
{
    int64_t longest = 0;
    while ((mil = strstr(mil, "tensor<")) != NULL) {
        mil = strchr(mil, '[');
        for (char *end = NULL; mil != NULL && *mil != ']'; mil = end) {
            const int64_t extent = strtoll(mil + 1, &end, 10);
            longest = extent > longest ? extent : longest;
        }
    }
    return longest;
}

void words_choose(int64_t words, int32_t *out, int count, int seed)
{
    const int64_t turns[] = {words - 1, 0,   255,   256,   257,   2047,      2048, 2049,
                             511,       512, 16383, 16384, 65535, words - 2, 1};
    const int length = (int)(sizeof turns / sizeof turns[0]);
    for (int i = 0, next = seed; i < count; next++)
        if (turns[next % length] < words)
            out[i++] = (int32_t)turns[next % length];
}

float words_value(int64_t index) { return (float)((index * 37 + index / 977 * 11) % 257 - 128) / 128.0f; }

double words_half(double value)
{
    int exponent;
    if (value == 0.0 || !isfinite(value))
        return value;
    frexp(value, &exponent);
    const double unit = ldexp(1.0, exponent - 11 > -24 ? exponent - 11 : -24);
    return nearbyint(value / unit) * unit;
}

mw_feed words_feed_ints(const char *name, const int32_t *data, size_t count)
{
    return (mw_feed){.name = name, .dtype = MW_I32, .data = data, .count = count, .scale = 1.0f};
}

mw_feed words_feed_floats(const char *name, const float *data, size_t count)
{
    return (mw_feed){.name = name, .dtype = MW_F32, .data = data, .count = count, .scale = 1.0f};
}
