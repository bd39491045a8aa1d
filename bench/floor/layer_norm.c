/* Layer normalization of rows of D channels: the mean is taken out before the
 * squares are summed. */
#include "block.h"
#include "vector.h"

#include <math.h>
#include <string.h>

static float mean_of(const float *row)
{
    vec sum = splat(0.0f);
    for (int c = 0; c < D; c += LANES)
        sum += load(row + c);
    return add_lanes(sum) / D;
}

void norm_forward(norm *layer, const float *x, int from, int to)
{
    for (int r = from; r < to; r++) {
        const float mean = mean_of(x + r * D);
        float *normal = layer->normal + r * D;
        vec squares = splat(0.0f);
        for (int c = 0; c < D; c += LANES) {
            const vec centered = load(x + r * D + c) - mean;
            squares += centered * centered;
            store(normal + c, centered);
        }
        const float inverse = 1.0f / sqrtf(add_lanes(squares) / D + 1e-5f);
        layer->inverse[r] = inverse;
        for (int c = 0; c < D; c += LANES) {
            const vec scaled = load(normal + c) * inverse;
            store(normal + c, scaled);
            store(layer->y + r * D + c, scaled * load(layer->scale.w + c) + load(layer->shift.w + c));
        }
    }
}

/* With g = dy scale: dx += inverse (g - mean(g) - normal mean(g normal)). */
void norm_backward(norm *layer, int id, const float *dy, float *dx, int from, int to)
{
    float *dscale = layer->partial[id], *dshift = dscale + D;
    memset(dscale, 0, 2 * D * sizeof(float));
    for (int r = from; r < to; r++) {
        const float *normal = layer->normal + r * D;
        vec sum = splat(0.0f), along = splat(0.0f);
        for (int c = 0; c < D; c += LANES) {
            const vec d = load(dy + r * D + c), n = load(normal + c), g = d * load(layer->scale.w + c);
            sum += g;
            along += g * n;
            store(dscale + c, load(dscale + c) + d * n);
            store(dshift + c, load(dshift + c) + d);
        }
        const float mean = add_lanes(sum) / D, slope = add_lanes(along) / D;
        for (int c = 0; c < D; c += LANES) {
            const vec g = load(dy + r * D + c) * load(layer->scale.w + c);
            const vec change = layer->inverse[r] * (g - mean - load(normal + c) * slope);
            store(dx + r * D + c, load(dx + r * D + c) + change);
        }
    }
}
