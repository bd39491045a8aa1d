/* What becomes of the sums of a product of columns (mw__packed_finish) while they are lines [positions,
 * MW__CONV_PANEL]: rounded, added to their biases and rounded again. What chips and IEEE do is done in one pass, in
 * registers; the rest by the loops. Same bits. */
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/conv/kernel_conv_avx512.h"
#include "engine/kernels/math/round_vector.h"

typedef struct line_finish {
    float *lines;
    const float *bias; /* [lanes]; or NULL */
    int64_t positions, lanes;
} line_finish;

MW__TARGET_AVX512 MW__INLINE __m512 finished(__m512 v, __m512 bias, unsigned first, unsigned second)
{
    v = mw__round_avx512(v, first);
    return second != 0 ? mw__round_avx512(_mm512_add_ps(v, bias), second) : v;
}

/* first and second are constants where this is inlined; without a bias there is no second. */
MW__TARGET_AVX512 MW__INLINE void finish_body(const line_finish *f, unsigned first, unsigned second)
{
    const unsigned rare = MW__ROUND_RARE;
    for (int64_t o = 0; o < f->lanes; o += LANES) {
        const __m512 bias = second != 0 ? _mm512_loadu_ps(f->bias + o) : _mm512_setzero_ps();
        const bool finite = _mm512_cmp_ps_mask(_mm512_sub_ps(bias, bias), _mm512_setzero_ps(), _CMP_NEQ_UQ) == 0;
        float *at = f->lines + o;
        int64_t p = 0;
        for (; p + MW__ROUND_FEW <= f->positions; p += MW__ROUND_FEW, at += MW__ROUND_FEW * MW__CONV_PANEL) {
            __m512 v[MW__ROUND_FEW];
            UNROLL for (int i = 0; i < MW__ROUND_FEW; i++) v[i] = _mm512_loadu_ps(at + i * MW__CONV_PANEL);
            if (finite && mw__ordinary_avx512(v))
                UNROLL for (int i = 0; i < MW__ROUND_FEW; i++) v[i] =
                    finished(v[i], bias, first & ~rare, second & ~rare);
            else
                UNROLL for (int i = 0; i < MW__ROUND_FEW; i++) v[i] = finished(v[i], bias, first, second);
            UNROLL for (int i = 0; i < MW__ROUND_FEW; i++) _mm512_storeu_ps(at + i * MW__CONV_PANEL, v[i]);
        }
        for (; p < f->positions; p++, at += MW__CONV_PANEL)
            _mm512_storeu_ps(at, finished(_mm512_loadu_ps(at), bias, first, second));
    }
}

enum {
    IEEE = MW__ROUND_HALF,
    NUMBER = MW__ROUND_HALF | MW__ROUND_NUMBER,
    PRODUCT = NUMBER | MW__ROUND_CEILING,
    FLUSHED = PRODUCT | MW__ROUND_FLUSH
};

#define FINISH(name, first, second)                                                                                    \
    MW__TARGET_AVX512 static void name(const line_finish *f) { finish_body(f, first, second); }
FINISH(finish_ieee, IEEE, IEEE)
FINISH(finish_product, PRODUCT, NUMBER)
FINISH(finish_flushed, FLUSHED, NUMBER)
FINISH(finish_ieee_alone, IEEE, 0)
FINISH(finish_product_alone, PRODUCT, 0)
FINISH(finish_flushed_alone, FLUSHED, 0)

static const struct {
    unsigned first, second;
    void (*run)(const line_finish *f);
} known[] = {{IEEE, IEEE, finish_ieee},    {PRODUCT, NUMBER, finish_product},  {FLUSHED, NUMBER, finish_flushed},
             {IEEE, 0, finish_ieee_alone}, {PRODUCT, 0, finish_product_alone}, {FLUSHED, 0, finish_flushed_alone}};

static void add_bias(const line_finish *f)
{
    for (int64_t p = 0; p < f->positions; p++)
        for (int64_t o = 0; o < f->lanes; o += LANES) {
            float *const at = f->lines + p * MW__CONV_PANEL + o;
            _mm512_storeu_ps(at, _mm512_add_ps(_mm512_loadu_ps(at), _mm512_loadu_ps(f->bias + o)));
        }
}

/* Lanes beyond the channels are done, too. */
static void finish_by_loops(const mw__packed_finish *columns, const line_finish *f)
{
    const int64_t count = f->positions * MW__CONV_PANEL;
    if (columns->round != NULL)
        columns->round(f->lines, f->lines, count, 0, 0);
    if (columns->add != NULL)
        add_bias(f);
    if (columns->after != NULL)
        columns->after(f->lines, f->lines, count, 0, 0);
}

void mw__conv_avx512_finish(const mw__packed_finish *columns, const float *bias, int64_t channels, int64_t positions,
                            float *lines)
{
    float lanes[MW__CONV_PANEL] = {0};
    for (int64_t o = 0; columns->add != NULL && o < channels; o++)
        lanes[o] = bias[o];
    const line_finish f = {
        .lines = lines, .bias = lanes, .positions = positions, .lanes = (channels + LANES - 1) / LANES * LANES};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].first == columns->sum && known[i].second == columns->biased &&
            (columns->add != NULL) == (columns->biased != 0)) {
            known[i].run(&f);
            return;
        }
    finish_by_loops(columns, &f);
}
