/* Frames by their powers in bands, as two convolutions: with the waves of the DFT, and with the bands. Letters: as
 * <millwright/log_mel.h>; G samples are a block, K = W / G blocks a frame, B frames' batch, O = 2 (N / 2 + 1) waves. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "data/sound/resample.h"
#include "graph/ir/ir.h"

#include <millwright/log_mel.h>
#include <millwright/millwright.h>

#include <math.h>

enum { RATE_MIN = 1000, RATE_MAX = 384000, WINDOW_MAX = 1 << 15, MELS_MAX = 512 };

static const double pi = 3.14159265358979323846;

/* What one call works with. */
typedef struct log_mel {
    const mw_log_mel_options *o;
    mw_graph *graph;
    mw_dtype dtype;
    int64_t block;  /* G */
    int64_t frames; /* of an example */
    int64_t waves;  /* O: cosines of all k, then sines */
} log_mel;

static int64_t even(int64_t number) { return number - number % 2; }

mw_log_mel_options mw_log_mel_defaults(int64_t rate)
{
    const int64_t known = rate < RATE_MIN ? RATE_MIN : rate > RATE_MAX ? RATE_MAX : rate;
    const int64_t hop = even(known / 100);
    int64_t fft = 1;
    while (fft < hop * 5 / 2)
        fft *= 2;
    return (mw_log_mel_options){.struct_size = sizeof(mw_log_mel_options),
                                .rate = rate,
                                .hop = hop,
                                .window = hop * 5 / 2,
                                .fft = fft,
                                .mels = 64,
                                .high = (float)known / 2.0f,
                                .floor = 1e-6f};
}

/* ---- what is refused ---- */

static mw_status refuse_number(mw_error *err, const char *name, double number, const char *rule)
{
    return mw__fail(err, MW_ERROR_ARGUMENT, "mw_log_mel: %s %g; %s", name, number, rule);
}

static mw_status check_options(const mw_log_mel_options *o, mw_error *err)
{
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_log_mel: options must come from mw_log_mel_defaults");
    if (o->rate < RATE_MIN || o->rate > RATE_MAX)
        return refuse_number(err, "rate", (double)o->rate, "it is 1000 to 384000 samples a second");
    if (o->window < 2 || o->window > WINDOW_MAX)
        return refuse_number(err, "window", (double)o->window, "it is 2 to 32768 samples");
    if (o->hop < 1 || o->hop > WINDOW_MAX)
        return refuse_number(err, "hop", (double)o->hop, "it is 1 to 32768 samples");
    if (o->fft < o->window || o->fft > WINDOW_MAX)
        return refuse_number(err, "fft", (double)o->fft, "it is as long as the window, to 32768 samples");
    if (o->mels < 1 || o->mels > MELS_MAX)
        return refuse_number(err, "mels", (double)o->mels, "they are 1 to 512 bands");
    if (!(o->low >= 0.0f && o->low < o->high && 2.0 * (double)o->high <= (double)o->rate))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_log_mel: low %g and high %g Hz; 0 <= low < high <= half of the rate, %g", (double)o->low,
                        (double)o->high, (double)o->rate / 2.0);
    if (o->scale > MW_MEL_SLANEY)
        return refuse_number(err, "scale", (double)o->scale, "it is MW_MEL_HTK or MW_MEL_SLANEY");
    if (!(o->floor > 0.0f && isfinite(o->floor)))
        return refuse_number(err, "floor", (double)o->floor, "it is finite and more than 0");
    return MW_OK;
}

static mw_status check_input(const mw_tensor *x, const mw_log_mel_options *o, mw_error *err)
{
    const mw_shape shape = mw_tensor_shape(x);
    const mw_dtype dtype = mw_tensor_dtype(x);
    if (dtype != MW_F32 && dtype != MW_F16)
        return mw__fail(err, MW_ERROR_DTYPE, "mw_log_mel: x is %s; it must be fp16 or fp32", mw_dtype_name(dtype));
    if (shape.rank < 1 || shape.rank >= MW_RANK_MAX)
        return mw__fail(err, MW_ERROR_SHAPE, "mw_log_mel: x has rank %d; it is [.., T], 1 to %d axes", shape.rank,
                        MW_RANK_MAX - 1);
    if (shape.dim[shape.rank - 1] < o->window)
        return mw__fail(err, MW_ERROR_SHAPE, "mw_log_mel: x has %lld samples, and a frame %lld: it must not be longer",
                        (long long)shape.dim[shape.rank - 1], (long long)o->window);
    return MW_OK;
}

/* ---- constants ---- */

static mw_tensor *constant_of(const log_mel *l, mw_shape shape, const float *numbers)
{
    mw_tensor *constant = mw_constant(l->graph, MW_F32, shape, numbers);
    return l->dtype == MW_F32 ? constant : mw_cast(constant, l->dtype);
}

/* [O, G, K]: sample n of a frame is number n % G of block n / G. */
static void fill_waves(const log_mel *l, float *out)
{
    const int64_t window = l->o->window, kernel = window / l->block, bins = l->waves / 2;
    for (int64_t n = 0; n < window; n++) {
        const double w = 0.5 - 0.5 * cos(2.0 * pi * (double)n / (double)window);
        const int64_t place = n % l->block * kernel + n / l->block;
        for (int64_t k = 0; k < bins; k++) {
            const double angle = 2.0 * pi * (double)(k * n % l->o->fft) / (double)l->o->fft;
            out[k * window + place] = (float)(w * cos(angle));
            out[(bins + k) * window + place] = (float)(-w * sin(angle));
        }
    }
}

static double mel_of(mw_mel_scale scale, double hertz)
{
    if (scale == MW_MEL_HTK)
        return 2595.0 * log10(1.0 + hertz / 700.0);
    return hertz < 1000.0 ? 3.0 * hertz / 200.0 : 15.0 + 27.0 * log(hertz / 1000.0) / log(6.4);
}

static double hertz_of(mw_mel_scale scale, double mel)
{
    if (scale == MW_MEL_HTK)
        return 700.0 * (pow(10.0, mel / 2595.0) - 1.0);
    return mel < 15.0 ? 200.0 * mel / 3.0 : 1000.0 * exp((mel - 15.0) * log(6.4) / 27.0);
}

/* Point i of M + 2, in Hz. */
static double point_at(const mw_log_mel_options *o, int64_t i)
{
    const double low = mel_of(o->scale, (double)o->low), high = mel_of(o->scale, (double)o->high);
    return hertz_of(o->scale, low + (high - low) * (double)i / (double)(o->mels + 1));
}

/* [M, O]: squares of cosines and sines count alike. */
static mw_status fill_bands(const log_mel *l, float *out, mw_error *err)
{
    const mw_log_mel_options *o = l->o;
    const int64_t bins = l->waves / 2;
    for (int64_t m = 0; m < o->mels; m++, out += l->waves) {
        const double left = point_at(o, m), middle = point_at(o, m + 1), right = point_at(o, m + 2);
        const double factor = o->equal_area ? 2.0 / (right - left) : 1.0;
        double sum = 0.0;
        for (int64_t k = 0; k < bins; k++) {
            const double q = (double)k * (double)o->rate / (double)o->fft;
            const double height = fmin((q - left) / (middle - left), (right - q) / (right - middle));
            out[k] = out[bins + k] = (float)(factor * fmax(0.0, height));
            sum += fmax(0.0, height);
        }
        if (sum == 0.0)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "mw_log_mel: band %lld of %lld mels, %g to %g Hz, lies between two frequencies of the "
                            "fft, which are %g Hz apart: fewer mels, or a longer fft than %lld",
                            (long long)m, (long long)o->mels, left, right, (double)o->rate / (double)o->fft,
                            (long long)o->fft);
    }
    return MW_OK;
}

/* ---- operations ---- */

/* [.., T] as [B, G, blocks], without the samples behind the last frame. */
static mw_tensor *make_blocks(const log_mel *l, mw_tensor *x)
{
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t used = (l->frames - 1) * l->o->hop + l->o->window;
    int64_t begin[MW_RANK_MAX] = {0}, size[MW_RANK_MAX];
    for (int i = 0; i < shape.rank; i++)
        size[i] = i + 1 == shape.rank ? used : -1;
    if (used < shape.dim[shape.rank - 1])
        x = mw_slice_by_size(x, begin, size);
    x = mw_reshape(x, MW_SHAPE(-1, used / l->block, l->block));
    return mw_transpose(x, MW_AXES(0, 2, 1));
}

/* [B, M, frames] as [.., M, frames]. */
static mw_tensor *spread_batch(const log_mel *l, mw_tensor *y, mw_shape shape)
{
    for (int i = 0; i + 1 < shape.rank; i++)
        shape.dim[i] = shape.dim[i] == MW_DIM_UNKNOWN ? -1 : shape.dim[i];
    shape.dim[shape.rank - 1] = l->o->mels;
    shape.dim[shape.rank++] = l->frames;
    return mw_reshape(y, shape);
}

static mw_tensor *build_log_mel(const log_mel *l, mw_tensor *x, float *waves, float *bands)
{
    const mw_log_mel_options *o = l->o;
    mw_conv_options frames = mw_conv_defaults();
    frames.stride[0] = o->hop / l->block;
    const mw_shape waves_shape = MW_SHAPE(l->waves, l->block, o->window / l->block);
    mw_tensor *parts = mw_conv(make_blocks(l, x), constant_of(l, waves_shape, waves), NULL, &frames);
    mw_tensor *power = mw_conv(mw_square(parts), constant_of(l, MW_SHAPE(o->mels, l->waves, 1), bands), NULL, NULL);
    mw_tensor *y = mw_log(mw_maximum(power, mw_scalar(l->graph, l->dtype, (double)o->floor)), 0.0f);
    return spread_batch(l, y, mw_tensor_shape(x));
}

static mw_tensor *make_log_mel(log_mel *l, mw_tensor *x, mw_error *err)
{
    const mw_log_mel_options *o = l->o;
    const mw_shape shape = mw_tensor_shape(x);
    const mw_allocator *allocator = l->graph->allocator;
    l->block = mw__sound_common_divisor(o->window, o->hop);
    l->frames = 1 + (shape.dim[shape.rank - 1] - o->window) / o->hop;
    l->waves = 2 * (o->fft / 2 + 1);
    float *waves = mw__alloc(allocator, (size_t)(l->waves * o->window), sizeof *waves, err);
    float *bands = mw__alloc(allocator, (size_t)(l->waves * o->mels), sizeof *bands, err);
    mw_tensor *y = NULL;
    if (waves != NULL && bands != NULL && fill_bands(l, bands, err) == MW_OK) {
        fill_waves(l, waves);
        y = build_log_mel(l, x, waves, bands);
    }
    mw__free(allocator, waves);
    mw__free(allocator, bands);
    return y;
}

mw_tensor *mw_log_mel(mw_tensor *x, const mw_log_mel_options *options)
{
    MW__FLOAT_SCOPE;
    mw_error err = {0};
    const mw_log_mel_options usual = mw_log_mel_defaults(16000);
    if (x == NULL)
        return NULL;
    log_mel l = {.o = options != NULL ? options : &usual, .graph = mw_tensor_graph(x), .dtype = mw_tensor_dtype(x)};
    if (check_options(l.o, &err) == MW_OK && check_input(x, l.o, &err) == MW_OK) {
        mw_tensor *y = make_log_mel(&l, x, &err);
        if (err.status == MW_OK)
            return y;
    }
    mw__graph_fail(l.graph, err.status, "%s", err.message);
    return x;
}
