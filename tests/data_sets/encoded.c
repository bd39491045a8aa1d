/* Tables that an encoder was fitted on. */
#include "data_sets/encoded.h"
#include "support/check.h"

#include <stdio.h>

const char encoded_passengers_path[] = MW_TESTS_DIR "/data/datasets/passengers.csv";
const char encoded_later[] = MW_TESTS_DIR "/data/datasets/later.csv";

mw_table_encoder *encoded_passengers(mw_dataset **out, const mw_allocator *allocator, mw_error *err)
{
    static const mw_field_setting fare = {.name = "fare", .kind = MW_FIELD_NUMBER, .missing = MW_MISSING_MEDIAN};
    mw_table_fit_options options = mw_table_fit_defaults(encoded_passengers_path, "survived");
    options.fields = &fare;
    options.field_count = 1;
    options.validation = 0;
    options.allocator = allocator;
    mw_dataset *kept_out = NULL;
    mw_table_encoder *encoder = mw_table_encoder_fit(&options, out, &kept_out, err);
    CHECK(kept_out == NULL);
    return encoder;
}

encoded encoded_with(const mw_table_fit_options *options)
{
    encoded t = {0};
    t.encoder = mw_table_encoder_fit(options, &t.training, &t.validation, &t.err);
    return t;
}

encoded encoded_text(const char *path, const char *text, size_t size, const char *target)
{
    FILE *file = fopen(path, "wb");
    if (file != NULL) {
        fwrite(text, 1, size, file);
        fclose(file);
    }
    mw_table_fit_options options = mw_table_fit_defaults(path, target);
    options.validation = 0;
    return encoded_with(&options);
}

void encoded_close(encoded *t)
{
    mw_dataset_destroy(t->training);
    mw_dataset_destroy(t->validation);
    mw_table_encoder_destroy(t->encoder);
}

const float *encoded_x(const mw_dataset *set) { return mw_dataset_column_at(set, 0)->data; }
