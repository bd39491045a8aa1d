/* What networks hear: the logarithm of a sound's power in bands as wide as an ear has them, as operations of the
 * graph. So the model that is written takes samples.
 *
 *     mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(32, 1, 16000));   // a second, one channel
 *     mw_log_mel_options options = mw_log_mel_defaults(16000);
 *     mw_tensor *h = mw_log_mel(x, &options);                            // [32, 1, 64, 98]: bands, times
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_LOG_MEL_H
#define MILLWRIGHT_LOG_MEL_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a frequency f in Hz becomes mel m. */
typedef enum mw_mel_scale {
    MW_MEL_HTK,   /* m = 2595 log10(1 + f / 700); default, as torchaudio */
    MW_MEL_SLANEY /* m = 3 f / 200 below 1000 Hz, 15 + 27 ln(f / 1000) / ln 6.4 above; as librosa */
} mw_mel_scale;

/** The numbers of mw_log_mel; fill it with mw_log_mel_defaults. */
typedef struct mw_log_mel_options {
    size_t struct_size;
    int64_t rate;       /* r, samples in a second, 1000 to 384000 */
    int64_t hop;        /* H, samples from one frame to the next, from 1: 1/100 s, to an even number */
    int64_t window;     /* W, samples of a frame, 2 to 2^15: 5 H / 2 */
    int64_t fft;        /* N >= W, frames are filled with zeros to so many, at most 2^15: the next power of 2 */
    int64_t mels;       /* M, bands, 1 to 512: 64 */
    float low, high;    /* Hz, 0 <= low < high <= r / 2: 0 and r / 2 */
    mw_mel_scale scale; /* MW_MEL_HTK */
    bool equal_area;    /* each band is divided by half of its width in Hz, as librosa's norm="slaney"; false */
    float floor;        /* what powers are at least, above 0: 1e-6 */
} mw_log_mel_options;

/** Returns the default options for a rate. */
MW_API mw_log_mel_options mw_log_mel_defaults(int64_t rate);

/** y[.., m, t] = log max(floor, sum over k of b[m, k] |X[t, k]|^2), where X[t, k] is the sum over n < W of
 *  w[n] x[.., t H + n] exp(-2 pi i k n / N), k = 0 .. N / 2, and w[n] = (1 - cos(2 pi n / W)) / 2, the window of Hann.
 *  Band m of M is a triangle over frequencies: with M + 2 points f[0] .. f[M + 1] spread evenly over mel from `low` to
 *  `high`, b[m, k] = max(0, min((q - f[m]) / (f[m + 1] - f[m]), (f[m + 2] - q) / (f[m + 2] - f[m + 1]))) at
 *  q = k r / N; times 2 / (f[m + 2] - f[m]) with equal_area.
 *  x        [.., T]     F16 or F32; T >= W known. Frames begin at sample 0 and end inside of x: to have them in the
 *           middle, as others do with center=True, pad x by N / 2 at both ends (mw_pad, MW_PAD_REFLECT)
 *  options  NULL = mw_log_mel_defaults(16000)
 *  return   [.., M, 1 + floor((T - W) / H)]  dtype of x
 *  errors   MW_ERROR_SHAPE for a rank of 0 or MW_RANK_MAX, or T < W; MW_ERROR_DTYPE; MW_ERROR_ARGUMENT for a number out
 *           of its range, or a band that lies between two k: fewer mels or a longer fft
 *  vjp      of its operations; 0 where the floor holds
 *  source   two convolutions with constants: the first over blocks of G = gcd(W, H) samples, with a kernel of W / G
 *           blocks, which a chip takes as far as its kernels go (the defaults: 5). In fp16 powers end at 65504, which
 *           W = 400 samples of at most 1 do not reach, and floors below 6e-5 are lost */
MW_API mw_tensor *mw_log_mel(mw_tensor *x, const mw_log_mel_options *options);

#ifdef __cplusplus
}
#endif
#endif
