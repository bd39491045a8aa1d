/* Llama 3's scaling of positions, which configurations say by four numbers, and GGUF by a factor for each frequency. */
#include "text/pretrained/pretrained.h"

#include <math.h>

/* What all models of the family have. */
static const double usual_low = 1.0, usual_high = 4.0;
static const double turn = 6.283185307179586;

void mw__pretrained_rope_factors(const mw_text_config *c, float *out)
{
    for (int64_t k = 0; k < c->head_width / 2; k++) {
        const double frequency = mw__language_frequency(c, k, false);
        out[k] = (float)(frequency / mw__language_frequency(c, k, true));
    }
}

/* The positions that were trained before follow from a frequency in the middle; without one any number will do that
 * lies between the frequencies that stay and those that are slowed. */
static double find_original(const mw_text_config *c, const float *factors)
{
    const double factor = c->rope_factor;
    double slowest = 0.0, fastest = 0.0;
    for (int64_t k = 0; k < c->head_width / 2; k++) {
        const double frequency = mw__language_frequency(c, k, false), f = (double)factors[k];
        if (f > 1.0 + 1e-6 && f < factor * (1.0 - 1e-6)) {
            const double part = (1.0 / f - 1.0 / factor) / (1.0 - 1.0 / factor);
            return (usual_low + part * (usual_high - usual_low)) * turn / frequency;
        }
        if (f <= 1.0 + 1e-6)
            slowest = frequency;
        else if (fastest == 0.0)
            fastest = frequency;
    }
    return slowest > 0.0 ? usual_high * turn / slowest : usual_low * turn / (2.0 * fastest);
}

mw_status mw__pretrained_take_rope_factors(const float *factors, mw_text_config *c, mw_error *err)
{
    double most = 1.0;
    for (int64_t k = 0; k < c->head_width / 2; k++)
        most = fmax(most, (double)factors[k]);
    if (!(most >= 1.0 && most < 1e6))
        return mw__fail(err, MW_ERROR_FORMAT, "rope_freqs.weight has a factor that is no number from 1 to 1000000");
    if (most == 1.0)
        return MW_OK;
    c->rope_factor = most;
    c->rope_low = usual_low;
    c->rope_high = usual_high;
    const double original = find_original(c, factors);
    c->rope_original = fabs(original - round(original)) < 1e-3 * original ? round(original) : original;
    for (int64_t k = 0; k < c->head_width / 2; k++) {
        const double made = mw__language_frequency(c, k, false) / mw__language_frequency(c, k, true);
        if (!(fabs(made - (double)factors[k]) <= 1e-4 * made))
            return mw__fail(err, MW_ERROR_UNSUPPORTED,
                            "rope_freqs.weight: factor %lld is %g, and those of Llama 3 have %g", (long long)k,
                            (double)factors[k], made);
    }
    return MW_OK;
}
