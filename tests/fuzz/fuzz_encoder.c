/* Encoders of tables against any bytes: the first chooses whether they are CSV, JSON Lines or the text of an encoder,
 * and how they are fitted. What is accepted has finite numbers within the vocabulary, and is the same after it was
 * written and read. */
#include "fuzz/replay.h"
#include "support/meter.h"

#include <math.h>
#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *put_bytes(const char *ending, const uint8_t *data, size_t size)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/mw-fuzz-%ld%s", (long)getpid(), ending);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size)
        abort();
    fclose(file);
    return path;
}

static void look_at(const mw_table_encoder *encoder, const mw_dataset *set)
{
    mw_encoded_field f;
    const int64_t width = mw_table_encoder_width(encoder);
    const float *x = set != NULL ? mw_dataset_column_at(set, 0)->data : NULL;
    const int64_t examples = mw_dataset_examples(set);
    for (int64_t i = 0; i < examples * width; i++)
        if (!isfinite(x[i]))
            abort();
    for (size_t i = 0; mw_table_encoder_field_at(encoder, i, &f); i++)
        for (int64_t k = 0; f.word_count > 0 && k < examples; k++)
            if (x[k * width + f.first_column] < 0 || x[k * width + f.first_column] > (float)f.word_count)
                abort();
}

static void look_again(const mw_table_encoder *encoder, const char *path)
{
    mw_error err = {0};
    char *text = mw_table_encoder_write(encoder, &err), *said = mw_table_encoder_print(encoder, &err);
    mw_table_encoder *again = mw_table_encoder_read(text, &err);
    if (again == NULL)
        abort();
    char *text_again = mw_table_encoder_write(again, &err);
    if (text_again == NULL || strcmp(text, text_again) != 0)
        abort();
    mw_error other = {0};
    mw_dataset *set = path != NULL ? mw_table_encoder_open(again, path, NULL, &other) : NULL;
    look_at(again, set);
    mw_dataset_destroy(set);
    mw_string_free(text);
    mw_string_free(said);
    mw_string_free(text_again);
    mw_table_encoder_destroy(again);
}

static void read_text(const uint8_t *data, size_t size)
{
    mw_error err = {0};
    char *text = calloc(size + 1, 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    mw_table_encoder *encoder = mw_table_encoder_read(text, &err);
    if ((encoder != NULL) != (err.status == MW_OK))
        abort();
    if (encoder != NULL)
        look_again(encoder, NULL);
    mw_table_encoder_destroy(encoder);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if ((data[0] & 3) == 3) {
        read_text(data + 1, size - 1);
        return 0;
    }
    meter m = {0};
    const mw_allocator allocator = {.resize = meter_resize, .user = &m};
    mw_error err = {0};
    const char *path = put_bytes((data[0] & 1) != 0 ? ".jsonl" : ".csv", data + 1, size - 1);
    mw_table_fit_options options = mw_table_fit_defaults(path, NULL);
    options.target_kind = (data[0] & 4) != 0 ? MW_TARGET_VALUE : MW_TARGET_FOUND;
    options.target_scale = (data[0] & 12) == 12 ? MW_TARGET_LOGARITHM : MW_TARGET_STANDARD;
    options.validation = (data[0] & 16) != 0 ? 0.3 : 0;
    options.form.no_header = (data[0] & 32) != 0;
    options.split = (data[0] & 64) != 0 ? MW_SPLIT_TIME : (data[0] & 128) != 0 ? MW_SPLIT_STRATIFIED : MW_SPLIT_RANDOM;
    options.split_field = options.split == MW_SPLIT_TIME ? "a" : NULL;
    options.allocator = &allocator;
    mw_dataset *training, *validation;
    mw_table_encoder *encoder = mw_table_encoder_fit(&options, &training, &validation, &err);
    if ((encoder != NULL) != (err.status == MW_OK) || m.most > 64 * size + (8 << 20))
        abort();
    if (encoder != NULL) {
        look_at(encoder, training);
        look_at(encoder, validation);
        look_again(encoder, path);
    }
    unlink(path);
    mw_dataset_destroy(training);
    mw_dataset_destroy(validation);
    mw_table_encoder_destroy(encoder);
    if (m.held != 0)
        abort();
    return 0;
}
