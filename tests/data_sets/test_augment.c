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

/* ---- rotation, color and erasing: data/datasets/augment.py ---- */

enum { TALL = 6, WIDE = 7, MORE_CASES = 9, MORE_EXAMPLES = 4, MORE_COUNT = TALL * WIDE * 3 };

static mw_augment_options more_case_of(int number)
{
    static const mw_color_jitter colors[] = {
        {0.4f, 0, 0, 0}, {0, 0.6f, 0, 0}, {0, 0, 2.0f, 0}, {0, 0, 0, 0.5f}, {0.5f, 0.5f, 0.5f, 0.1f}};
    mw_augment_options o = mw_augment_defaults("image");
    o.seed = 0xABCDEF0123456789;
    if (number < 2) {
        o.rotate = number == 0 ? 30.0f : 180.0f;
        o.fill = number == 0 ? 0.0f : 60.0f;
    } else if (number < 7)
        o.color = colors[number - 2];
    else
        o.erase = number == 7 ? (mw_random_erase){1.0f, 0.1f, 0.4f, 0.5f, 2.0f, 7.0f}
                              : (mw_random_erase){0.5f, 0.02f, 0.33f, 0.3f, 3.3f, 0.0f};
    return o;
}

static mw_loader *open_more(int number, const char *form, mw_error *err)
{
    static uint8_t bytes[MORE_EXAMPLES * MORE_COUNT];
    static float floats[MORE_EXAMPLES * MORE_COUNT];
    const bool is_float = form[0] == 'f', first = strstr(form, "first") != NULL;
    for (int i = 0; i < MORE_EXAMPLES * MORE_COUNT; i++) {
        const int k = i % MORE_COUNT;
        bytes[i] = (uint8_t)((k * 37 + k * k * 3 + i / MORE_COUNT * 11) % 256);
        floats[i] = (float)(bytes[i] / 255.0);
    }
    const mw_column column = {.name = "image",
                              .dtype = is_float ? MW_F32 : MW_U8,
                              .shape = first ? MW_SHAPE(3, TALL, WIDE) : MW_SHAPE(TALL, WIDE, 3),
                              .data = is_float ? (const void *)floats : bytes};
    mw_augment_options options = more_case_of(number);
    options.channels_first = first;
    mw_dataset *images = mw_dataset_create(&column, 1, MORE_EXAMPLES, false, err);
    mw_dataset *dataset = mw_dataset_augment(images, &options, err);
    mw_loader_options loading = mw_loader_defaults(dataset, 1);
    loading.shuffle = false;
    mw_loader *loader = mw_loader_create(&loading, err);
    mw_dataset_destroy(dataset);
    mw_dataset_destroy(images);
    return loader;
}

/* How far a column is from the numbers of a line, at most: bytes are rounded, floats were printed with 7 digits. */
static double distance(const mw_feed *feed, char *at)
{
    double most = 0.0;
    for (size_t i = 0; i < feed->count; i++) {
        const double got = feed->dtype == MW_U8 ? ((const uint8_t *)feed->data)[i] : ((const float *)feed->data)[i];
        most = fmax(most, fabs(got - strtod(at, &at)));
    }
    return most;
}

static void test_rotation_color_and_erasing_are_what_pytorch_and_numpy_make(void)
{
    FILE *file = fopen("data/datasets/augment.txt", "r");
    REQUIRE(file != NULL);
    int lines = 0, number, length;
    for (char line[4096]; fgets(line, sizeof line, file) != NULL;) {
        mw_error err = {0};
        char form[16];
        mw_loader_position position;
        long long epoch, example, count;
        if (sscanf(line, "%d %15s %lld %lld %lld %n", &number, form, &epoch, &example, &count, &length) != 5)
            continue;
        position = (mw_loader_position){.epoch = epoch, .batch = example};
        mw_loader *loader = open_more(number, form, &err);
        mw_loader_seek(loader, position, &err);
        const mw_batch *batch = mw_loader_next(loader, &err);
        REQUIRE(batch != NULL && count == (long long)batch->feeds[0].count);
        const double apart = distance(&batch->feeds[0], line + length);
        check_note(apart <= (form[0] == 'u' ? 0.5001
                             : number == 1  ? 3e-5
                                            : 1e-6),
                   __FILE__, __LINE__, "case %d, %s, epoch %lld, example %lld: %g apart", number, form, epoch, example,
                   apart);
        mw_loader_destroy(loader);
        CHECK_OK(err);
        lines++;
    }
    fclose(file);
    CHECK_INT(lines, MORE_CASES * 3 * 2 * MORE_EXAMPLES);
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
    mw_augment_options bad[19];
    for (int i = 0; i < 19; i++)
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
    bad[12].rotate = 181.0f;
    bad[13].color.hue = 0.6f;
    bad[14].color.saturation = -1.0f;
    bad[15].color.hue = 0.1f; /* of two channels */
    bad[16].erase.probability = 2.0f;
    bad[17].erase.scale_least = 0.5f;
    bad[18].erase.ratio_most = NAN;
    static const char *const parts[] = {"defaults",   "defaults",      "nothing",       "int64",      "pad -1",
                                        "shift 5000", "flip 1.5",      "flip_vertical", "brightness", "crop of 6",
                                        "fill 0.5",   "contrast",      "rotate 181",    "hue 0.6",    "saturation -1",
                                        "2 channels", "probability 2", "scale 0.5",     "ratio"};
    for (int i = 0; i < 19; i++)
        refuse(&bad[i], i == 3 ? MW_ERROR_DTYPE : i == 9 || i == 15 ? MW_ERROR_SHAPE : MW_ERROR_ARGUMENT, parts[i]);
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
    RUN(test_rotation_color_and_erasing_are_what_pytorch_and_numpy_make);
    RUN(test_options_out_of_range_are_refused);
    RUN(test_a_column_that_holds_no_images_is_refused);
    return check_finish();
}
