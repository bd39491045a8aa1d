/* A rectangle of an image that is painted over. */
#include "data/augment/augment.h"

#include <math.h>

enum { TRIES = 10, NUMBERS = 4 };

typedef struct erased_part {
    int64_t top, left, height, width;
} erased_part;

static double draw_in(const mw_map_example *example, uint64_t number, double low, double high)
{
    return low + (high - low) * (double)mw_map_example_uniform(example, number);
}

/* True if it leaves a border: neither as high nor as wide as the image. */
static bool draw_part(const mw_random_erase *erase, const mw_map_example *example, const mw__augment_image *image,
                      uint64_t first, erased_part *out)
{
    const double h = (double)image->height, w = (double)image->width;
    const double area = h * w * draw_in(example, first, (double)erase->scale_least, (double)erase->scale_most);
    const double ratio =
        exp(draw_in(example, first + 1, log((double)erase->ratio_least), log((double)erase->ratio_most)));
    const double height = rint(sqrt(area * ratio)), width = rint(sqrt(area / ratio));
    if (height >= h || width >= w)
        return false;
    out->height = (int64_t)height;
    out->width = (int64_t)width;
    out->top = (int64_t)draw_in(example, first + 2, 0.0, h - height + 1.0);
    out->left = (int64_t)draw_in(example, first + 3, 0.0, w - width + 1.0);
    return true;
}

void mw__augment_erase(const mw_random_erase *erase, const mw_map_example *example, const mw__augment_image *image)
{
    erased_part part;
    bool found = false;
    if (mw_map_example_uniform(example, MW__DRAW_ERASE) >= erase->probability)
        return;
    for (uint64_t k = 0; k < TRIES && !found; k++)
        found = draw_part(erase, example, image, MW__DRAW_ERASE_PLACE + NUMBERS * k, &part);
    for (int64_t y = 0; found && y < part.height; y++)
        for (int64_t x = 0; x < part.width; x++)
            for (int64_t c = 0; c < image->channels; c++)
                mw__augment_put(image, mw__augment_place(image, part.top + y, part.left + x, c), (double)erase->value);
}
