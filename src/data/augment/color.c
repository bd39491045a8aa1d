/* Brightness, contrast, saturation and hue, in an order that is drawn. Two passes and no memory: the first finds the
 * mean that contrast turns about, which depends on what came before it. */
#include "data/augment/augment.h"

#include <math.h>

typedef enum color_step { BRIGHTNESS, CONTRAST, SATURATION, HUE, STEPS } color_step;

typedef struct color_change {
    color_step order[STEPS];
    double factors[STEPS]; /* of each step; of hue its move in turns */
    double mean;           /* of the gray image before contrast */
    double range;          /* 255 or 1 */
} color_change;

/* ---- one pixel of 3 channels, or of 1 ---- */

static double gray_of(const double *pixel, int64_t channels)
{
    return channels == 3 ? 0.2989 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2] : pixel[0];
}

static void blend_pixel(double *pixel, int64_t channels, double factor, double other, double range)
{
    for (int64_t c = 0; c < channels; c++)
        pixel[c] = fmin(fmax(factor * pixel[c] + (1.0 - factor) * other, 0.0), range);
}

/* In turns, 0 to 1. */
static double hue_of(const double *rgb, double most, double spread)
{
    const double hue = most == rgb[0]   ? (rgb[1] - rgb[2]) / spread
                       : most == rgb[1] ? 2.0 + (rgb[2] - rgb[0]) / spread
                                        : 4.0 + (rgb[0] - rgb[1]) / spread;
    return hue / 6.0 - floor(hue / 6.0);
}

/* A channel is `most` within a sixth of a turn of its color, `least` beyond a third, and a line between. */
static double channel_at(double hue, double of_color, double most, double least)
{
    double away = fabs(hue - of_color);
    away = away > 0.5 ? 1.0 - away : away;
    return least + (most - least) * fmin(fmax(2.0 - 6.0 * away, 0.0), 1.0);
}

static void turn_hue(double *rgb, double turns)
{
    const double most = fmax(rgb[0], fmax(rgb[1], rgb[2])), least = fmin(rgb[0], fmin(rgb[1], rgb[2]));
    if (most == least)
        return;
    double hue = hue_of(rgb, most, most - least) + turns;
    hue -= floor(hue);
    for (int c = 0; c < 3; c++)
        rgb[c] = channel_at(hue, c / 3.0, most, least);
}

static void apply_step(const color_change *change, color_step step, double *pixel, int64_t channels)
{
    const double factor = change->factors[step];
    if (step == BRIGHTNESS)
        blend_pixel(pixel, channels, factor, 0.0, change->range);
    else if (step == CONTRAST)
        blend_pixel(pixel, channels, factor, change->mean, change->range);
    else if (step == SATURATION && channels == 3)
        blend_pixel(pixel, channels, factor, gray_of(pixel, channels), change->range);
    else if (step == HUE && channels == 3)
        turn_hue(pixel, factor);
}

/* Those before `last`; all for STEPS. */
static void apply_steps(const color_change *change, color_step last, double *pixel, int64_t channels)
{
    for (int i = 0; i < STEPS && change->order[i] != last; i++)
        apply_step(change, change->order[i], pixel, channels);
}

/* ---- the image ---- */

static void load_pixel(const mw__augment_image *image, int64_t y, int64_t x, double *out)
{
    for (int64_t c = 0; c < image->channels; c++)
        out[c] = mw__augment_get(image, mw__augment_place(image, y, x, c));
}

static double mean_before_contrast(const color_change *change, const mw__augment_image *image)
{
    double sum = 0.0, pixel[3];
    for (int64_t y = 0; y < image->height; y++) {
        for (int64_t x = 0; x < image->width; x++) {
            load_pixel(image, y, x, pixel);
            apply_steps(change, CONTRAST, pixel, image->channels);
            sum += gray_of(pixel, image->channels);
        }
    }
    return sum / (double)(image->height * image->width);
}

static void change_pixels(const color_change *change, const mw__augment_image *image)
{
    double pixel[3];
    for (int64_t y = 0; y < image->height; y++) {
        for (int64_t x = 0; x < image->width; x++) {
            load_pixel(image, y, x, pixel);
            apply_steps(change, STEPS, pixel, image->channels);
            for (int64_t c = 0; c < image->channels; c++)
                mw__augment_put(image, mw__augment_place(image, y, x, c), pixel[c]);
        }
    }
}

/* ---- drawing ---- */

/* Permutation `number` of the four in the order of a dictionary. */
static void draw_order(const mw_map_example *example, color_step *out)
{
    color_step left[STEPS] = {BRIGHTNESS, CONTRAST, SATURATION, HUE};
    int number = (int)((double)mw_map_example_uniform(example, MW__DRAW_COLOR_ORDER) * 24.0), ways = 6;
    for (int i = 0; i < STEPS; i++) {
        const int chosen = number / ways;
        out[i] = left[chosen];
        for (int k = chosen; k + 1 < STEPS - i; k++)
            left[k] = left[k + 1];
        number %= ways;
        ways /= i < 2 ? 3 - i : 1;
    }
}

static double draw_factor(const mw_map_example *example, mw__augment_draw number, float half)
{
    const double low = fmax(0.0, 1.0 - (double)half), high = 1.0 + (double)half;
    return low + (high - low) * (double)mw_map_example_uniform(example, number);
}

bool mw__augment_has_color(const mw_color_jitter *j)
{
    return j->brightness > 0.0f || j->contrast > 0.0f || j->saturation > 0.0f || j->hue > 0.0f;
}

void mw__augment_color(const mw_color_jitter *jitter, const mw_map_example *example, const mw__augment_image *image)
{
    const double turn = 2.0 * (double)mw_map_example_uniform(example, MW__DRAW_COLOR_HUE) - 1.0;
    color_change change = {.range = image->is_float ? 1.0 : 255.0};
    change.factors[BRIGHTNESS] = draw_factor(example, MW__DRAW_COLOR_BRIGHTNESS, jitter->brightness);
    change.factors[CONTRAST] = draw_factor(example, MW__DRAW_COLOR_CONTRAST, jitter->contrast);
    change.factors[SATURATION] = draw_factor(example, MW__DRAW_COLOR_SATURATION, jitter->saturation);
    change.factors[HUE] = turn * (double)jitter->hue;
    draw_order(example, change.order);
    if (jitter->contrast > 0.0f) /* else its factor is 1 */
        change.mean = mean_before_contrast(&change, image);
    change_pixels(&change, image);
}
