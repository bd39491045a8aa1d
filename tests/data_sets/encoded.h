/* Tables that an encoder was fitted on. */
#ifndef TESTS_DATA_SETS_ENCODED_H
#define TESTS_DATA_SETS_ENCODED_H

#include <millwright/data.h>

typedef struct encoded {
    mw_table_encoder *encoder;
    mw_dataset *training, *validation;
    mw_error err;
} encoded;

/* Of data/datasets/encoder.py. */
extern const char encoded_passengers_path[], encoded_later[];

/* All of the passengers, the fare filled by its median. */
mw_table_encoder *encoded_passengers(mw_dataset **out, const mw_allocator *allocator, mw_error *err);
encoded encoded_with(const mw_table_fit_options *options);
/* Writes a file and fits all of it. */
encoded encoded_text(const char *path, const char *text, size_t size, const char *target);
void encoded_close(encoded *t);
/* The numbers of x. */
const float *encoded_x(const mw_dataset *set);

#endif
