/* Parts of mw_dataset_augment: an image, and what changes it in place. */
#ifndef MW__DATA_AUGMENT_AUGMENT_H
#define MW__DATA_AUGMENT_AUGMENT_H

#include <millwright/dataset_derived.h>

/* What a number of an example is drawn for; each row is a promise to old checkpoints. */
typedef enum mw__augment_draw {
    MW__DRAW_CROP_Y,
    MW__DRAW_CROP_X,
    MW__DRAW_SHIFT_Y,
    MW__DRAW_SHIFT_X,
    MW__DRAW_FLIP,
    MW__DRAW_FLIP_VERTICAL,
    MW__DRAW_BRIGHTNESS,
    MW__DRAW_CONTRAST,
    MW__DRAW_ANGLE,
    MW__DRAW_COLOR_BRIGHTNESS,
    MW__DRAW_COLOR_CONTRAST,
    MW__DRAW_COLOR_SATURATION,
    MW__DRAW_COLOR_HUE,
    MW__DRAW_COLOR_ORDER,
    MW__DRAW_ERASE,
    MW__DRAW_ERASE_PLACE = 16 /* four for each try */
} mw__augment_draw;

/* Pixels of U8 or F32 with any distance between neighbors: channel c of row y and column x is element
 * y * row + x * column + c * channel. */
typedef struct mw__augment_image {
    void *pixels;
    bool is_float;
    int64_t height, width, channels;
    int64_t row, column, channel;
} mw__augment_image;

static inline int64_t mw__augment_place(const mw__augment_image *image, int64_t y, int64_t x, int64_t c)
{
    return y * image->row + x * image->column + c * image->channel;
}

static inline double mw__augment_get(const mw__augment_image *image, int64_t place)
{
    return image->is_float ? (double)((const float *)image->pixels)[place]
                           : (double)((const uint8_t *)image->pixels)[place];
}

/* U8 is rounded to the nearest and held in 0 to 255. */
static inline void mw__augment_put(const mw__augment_image *image, int64_t place, double value)
{
    if (image->is_float)
        ((float *)image->pixels)[place] = (float)value;
    else
        ((uint8_t *)image->pixels)[place] = (uint8_t)(value <= 0.0     ? 0.0
                                                      : value >= 255.0 ? 255.0
                                                                       : value + 0.5); /* cut to an integer */
}

/* Both name the public call in their messages.
 *  errors  MW_ERROR_ARGUMENT if there is none */
mw_status mw__picture_find_column(const mw_dataset *source, const char *call, const char *name, size_t *out,
                                  mw_error *err);
/* How the images of a column lie; their pixels are not known yet.
 *  errors  MW_ERROR_DTYPE, MW_ERROR_SHAPE if it holds none */
mw_status mw__picture_measure(const mw_column *column, const char *call, bool channels_first, mw__augment_image *out,
                              mw_error *err);

mw_status mw__augment_check_numbers(const mw_augment_options *options, mw_error *err);
bool mw__augment_has_color(const mw_color_jitter *jitter);
void mw__augment_color(const mw_color_jitter *jitter, const mw_map_example *example, const mw__augment_image *image);
void mw__augment_erase(const mw_random_erase *erase, const mw_map_example *example, const mw__augment_image *image);

#endif
