/* Pictures of one size, made of pictures of any. */
#ifndef MW__DATA_IMAGE_FIT_H
#define MW__DATA_IMAGE_FIT_H

#include "data/image/image.h"

#include <millwright/dataset_images.h>

/* out [height, width, channels of the image] as options->fit says; the size is that of the options.
 *  seed    of the example, for MW_IMAGE_FIT_RANDOM_CROP
 *  errors  MW_ERROR_FORMAT, naming the path, for another size where there is no fit */
mw_status mw__image_fit(const mw_image_options *options, const mw__image *image, const char *path, uint64_t seed,
                        uint8_t *out, mw_error *err);

#endif
