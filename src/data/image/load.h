/* One picture of a folder, from its file to the bytes of an example. */
#ifndef MW__DATA_IMAGE_LOAD_H
#define MW__DATA_IMAGE_LOAD_H

#include "data/image/image.h"

#include <millwright/dataset_images.h>

/* What mw_dataset_open_images and its like refuse of their options. */
mw_status mw__image_check_options(const mw_image_options *options, mw_error *err);

/* As it lies in the file, upright, with options->channels. mw__free(options->allocator, out->pixels).
 *  folder  NULL: the name is a path by itself
 *  name    below the folder */
mw_status mw__image_open(const mw_image_options *options, const char *folder, const char *name, mw__image *out,
                         mw_error *err);

/* Bytes of one example of these options. */
size_t mw__image_bytes(const mw_image_options *options);

/* Brought to the size of the options.
 *  seed  of the example
 *  out   mw__image_bytes(options) */
mw_status mw__image_load(const mw_image_options *options, const char *folder, const char *name, uint64_t seed,
                         uint8_t *out, mw_error *err);

#endif
