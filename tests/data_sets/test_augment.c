/* Augmented images against numpy: data/datasets/derived.py recorded what each case makes of small images. */
#include "support/check.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { H = 5, W = 4, C = 2, COUNT = H * W * C, EXAMPLES = 3, CASES = 9 };

static mw_augment_options case_of(int number)
{
    mw_augment_options o = mw_augment_defaults("image");
    o.seed = 0xABCDEF0123456789;
    switch (number) {
    case 1:
        o.pad = 2, o.crop_height = 5, o.crop_width = 4, o.fill = 7;
        break;
    case 2:
        o.crop_height = 3, o.crop_width = 2;
        break;
    case 3:
        o.shift = 2, o.fill = 9;
        break;
    case 4:
        o.flip = 0.5f;
        break;
    case 5:
        o.flip_vertical = 0.5f;
        break;
    case 6:
        o.brightness = 0.25f;
        break;
    case 7:
        o.contrast = 0.5f;
        break;
    case 8:
        o.pad = 1, o.crop_height = 4, o.crop_width = 5, o.shift = 1, o.flip = 0.5f, o.flip_vertical = 0.5f;
        o.brightness = 0.125f, o.contrast = 0.75f, o.fill = 30;
        break;
    default:
        break;
    }
    return o;
}

static mw_dataset *make_images(const char *form, mw_error *err)
{
    static uint8_t bytes[EXAMPLES * COUNT];
    static float floats[EXAMPLES * COUNT];
    static int64_t labels[EXAMPLES] = {5, 6, 7};
    const bool is_float = form[0] == 'f', first = strstr(form, "first") != NULL;
    for (int i = 0; i < EXAMPLES * COUNT; i++) {
        bytes[i] = (uint8_t)((i % COUNT * 37 + i / COUNT * 11) % 256);
        floats[i] = bytes[i];
    }
    const mw_column columns[] = {{.name = "label", .dtype = MW_I64, .data = labels},
                                 {.name = "image",
                                  .dtype = is_float ? MW_F32 : MW_U8,
                                  .shape = first ? MW_SHAPE(C, H, W) : MW_SHAPE(H, W, C),
                                  .data = is_float ? (const void *)floats : bytes}};
    return mw_dataset_create(columns, 2, EXAMPLES, false, err);
}

static mw_loader *open_case(int number, const char *form, mw_error *err)
{
    mw_augment_options options = case_of(number);
    options.channels_first = strstr(form, "first") != NULL;
    mw_dataset *images = make_images(form, err), *dataset = mw_dataset_augment(images, &options, err);
    mw_loader_options loading = mw_loader_defaults(dataset, 1);
    loading.shuffle = false;
    mw_loader *loader = mw_loader_create(&loading, err);
    mw_dataset_destroy(dataset);
    mw_dataset_destroy(images);
    return loader;
}

static bool values_are(const mw_feed *feed, char *at)
{
    bool good = true;
    for (size_t i = 0; i < feed->count; i++) {
        uint32_t bits;
        if (feed->dtype == MW_U8)
            good = good && ((const uint8_t *)feed->data)[i] == strtoul(at, &at, 10);
        else {
            memcpy(&bits, (const float *)feed->data + i, sizeof bits);
            good = good && bits == strtoul(at, &at, 16);
        }
    }
    return good;
}

/* "case form epoch example count value .." */
static void check_line(char *line)
{
    mw_error err = {0};
    char *at = line, form[16];
    const int number = (int)strtol(at, &at, 10);
    at++;
    const size_t length = strcspn(at, " ");
    REQUIRE(length < sizeof form);
    snprintf(form, sizeof form, "%.*s", (int)length, at);
    at += length;
    mw_loader_position position = {.epoch = strtol(at, &at, 10)};
    position.batch = strtol(at, &at, 10);
    mw_loader *loader = open_case(number, form, &err);
    mw_loader_seek(loader, position, &err);
    const mw_batch *batch = mw_loader_next(loader, &err);
    REQUIRE(batch != NULL);
    CHECK_INT(*(const int64_t *)batch->feeds[0].data, 5 + position.batch);
    CHECK_INT(batch->feeds[1].count, strtol(at, &at, 10));
    check_note(values_are(&batch->feeds[1], at), __FILE__, __LINE__, "case %d, %s, epoch %d, example %d differs",
               number, form, (int)position.epoch, (int)position.batch);
    mw_loader_destroy(loader);
    CHECK_OK(err);
}

static void test_images_are_what_numpy_makes(void)
{
    FILE *file = fopen("data/datasets/derived.txt", "r");
    REQUIRE(file != NULL);
    int lines = 0;
    for (char line[4096]; fgets(line, sizeof line, file) != NULL;) {
        if (line[0] < '0' || line[0] > '9')
            continue;
        check_line(line);
        lines++;
    }
    fclose(file);
    CHECK_INT(lines, CASES * 3 * 2 * EXAMPLES);
}

static void refuse(const mw_augment_options *options, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_dataset *images = make_images("u8_last", &err);
    CHECK(mw_dataset_augment(images, options, &err) == NULL);
    CHECK_ERROR(err, status, part);
    mw_dataset_destroy(images);
}

static void test_options_out_of_range_are_refused(void)
{
    mw_augment_options bad[12];
    for (int i = 0; i < 12; i++)
        bad[i] = case_of(0);
    bad[0].struct_size = 0;
    bad[1].column = NULL;
    bad[2].column = "nothing";
    bad[3].column = "label";
    bad[4].pad = -1;
    bad[5].shift = 5000;
    bad[6].flip = 1.5f;
    bad[7].flip_vertical = NAN;
    bad[8].brightness = -0.1f;
    bad[9].crop_height = H + 1;
    bad[10].fill = 0.5f;
    bad[11].contrast = INFINITY;
    static const char *const parts[] = {"defaults",   "defaults",   "nothing",  "int64",
                                        "pad -1",     "shift 5000", "flip 1.5", "flip_vertical",
                                        "brightness", "crop of 6",  "fill 0.5", "contrast"};
    for (int i = 0; i < 12; i++)
        refuse(&bad[i], i == 3 ? MW_ERROR_DTYPE : i == 9 ? MW_ERROR_SHAPE : MW_ERROR_ARGUMENT, parts[i]);
    mw_error err = {0};
    const mw_augment_options good = case_of(0);
    CHECK(mw_dataset_augment(NULL, &good, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no source");
}

static void test_a_column_that_holds_no_images_is_refused(void)
{
    mw_error err = {0};
    static const float data[16];
    const mw_column column = {.name = "image", .dtype = MW_F32, .shape = MW_SHAPE(4), .data = data};
    mw_dataset *dataset = mw_dataset_create(&column, 1, 4, false, &err);
    const mw_augment_options options = case_of(0);
    CHECK(mw_dataset_augment(dataset, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "rank 1");
    mw_dataset_destroy(dataset);
}

int main(void)
{
    RUN(test_images_are_what_numpy_makes);
    RUN(test_options_out_of_range_are_refused);
    RUN(test_a_column_that_holds_no_images_is_refused);
    return check_finish();
}
