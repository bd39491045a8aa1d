/* Mixed pictures against numpy (data/datasets/mix.py), and pictures normalized by channel. */
#include "support/check.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { H = 6, W = 5, C = 3, COUNT = H * W * C, EXAMPLES = 5, CLASSES = 4, CASES = 5 };

static const struct {
    float mixup, cutmix, probability;
} cases[CASES] = {{0.2f, 0, 1}, {1.5f, 0, 1}, {0, 1.0f, 1}, {0.5f, 4.0f, 0.7f}, {0, 0, 1}};

static mw_mix_options case_of(int number)
{
    mw_mix_options o = mw_mix_defaults("x", "y", CLASSES);
    o.mixup = cases[number].mixup;
    o.cutmix = cases[number].cutmix;
    o.probability = cases[number].probability;
    o.seed = 0x0F1E2D3C4B5A6978;
    return o;
}

/* Labels are integers of 32 bits, or rows of ones and zeros with floats. */
static mw_dataset *make_pictures(const char *form, mw_error *err)
{
    static uint8_t bytes[EXAMPLES * COUNT];
    static float floats[EXAMPLES * COUNT], rows[EXAMPLES * CLASSES];
    static int32_t labels[EXAMPLES];
    const bool is_float = form[0] == 'f', first = strstr(form, "first") != NULL;
    for (int i = 0; i < EXAMPLES * COUNT; i++)
        floats[i] = bytes[i] = (uint8_t)((i * 41 + i * i * 7) % 256);
    for (int i = 0; i < EXAMPLES; i++)
        rows[i * CLASSES + i % CLASSES] = 1.0f, labels[i] = i % CLASSES;
    const mw_column columns[] = {
        {.name = "y",
         .dtype = is_float ? MW_F32 : MW_I32,
         .shape = is_float ? MW_SHAPE(CLASSES) : (mw_shape){0},
         .data = is_float ? (const void *)rows : labels},
        {.name = "x",
         .dtype = is_float ? MW_F32 : MW_U8,
         .shape = first ? MW_SHAPE(C, H, W) : MW_SHAPE(H, W, C),
         .data = is_float ? (const void *)floats : bytes},
    };
    return mw_dataset_create(columns, 2, EXAMPLES, false, err);
}

static mw_loader *load_in_order(const mw_dataset *dataset, mw_error *err)
{
    mw_loader_options options = mw_loader_defaults(dataset, 1);
    options.shuffle = false;
    return mw_loader_create(&options, err);
}

static mw_loader *open_case(int number, const char *form, mw_error *err)
{
    mw_mix_options options = case_of(number);
    options.channels_first = strstr(form, "first") != NULL;
    mw_dataset *pictures = make_pictures(form, err), *mixed = mw_dataset_mix(pictures, &options, err);
    mw_loader *loader = load_in_order(mixed, err);
    mw_dataset_destroy(mixed);
    mw_dataset_destroy(pictures);
    return loader;
}

static double distance(const mw_feed *feed, char **at)
{
    double most = 0.0;
    for (size_t i = 0; i < feed->count; i++) {
        const double got = feed->dtype == MW_U8 ? ((const uint8_t *)feed->data)[i] : ((const float *)feed->data)[i];
        most = fmax(most, fabs(got - strtod(*at, at)));
    }
    return most;
}

static void test_mixed_pictures_are_what_numpy_makes(void)
{
    FILE *file = fopen("data/datasets/mix.txt", "r");
    REQUIRE(file != NULL);
    int lines = 0, number, length;
    for (char line[4096]; fgets(line, sizeof line, file) != NULL;) {
        mw_error err = {0};
        char form[16];
        long long epoch, example;
        if (sscanf(line, "%d %15s %lld %lld %n", &number, form, &epoch, &example, &length) != 4)
            continue;
        mw_loader *loader = open_case(number, form, &err);
        mw_loader_seek(loader, (mw_loader_position){.epoch = epoch, .batch = example}, &err);
        const mw_batch *batch = mw_loader_next(loader, &err);
        char *at = line + length;
        REQUIRE(batch != NULL && batch->feeds[0].count == CLASSES && batch->feeds[1].count == COUNT);
        const double labels = distance(&batch->feeds[0], &at), pixels = distance(&batch->feeds[1], &at);
        check_note(labels < 1e-6 && pixels < (form[0] == 'u' ? 0.5001 : 1e-4), __FILE__, __LINE__,
                   "case %d, %s, epoch %lld, example %lld: labels %g apart, pixels %g", number, form, epoch, example,
                   labels, pixels);
        mw_loader_destroy(loader);
        CHECK_OK(err);
        lines++;
    }
    fclose(file);
    CHECK_INT(lines, CASES * 3 * 2 * EXAMPLES);
}

/* Mean 1/2 and variance 1 / (4 (2 alpha + 1)) of the share. */
static void test_shares_are_of_the_beta_distribution(void)
{
    enum { MANY = 20000 };
    static const float alphas[] = {0.2f, 1.0f, 4.0f};
    const float x = 0.0f;
    static int64_t labels[2] = {0, 1};
    const float pixels[2] = {x, x};
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(1, 1), .data = pixels},
                                 {.name = "y", .dtype = MW_I64, .data = labels}};
    for (size_t i = 0; i < sizeof alphas / sizeof alphas[0]; i++) {
        mw_error err = {0};
        mw_mix_options options = mw_mix_defaults("x", "y", 2);
        options.mixup = alphas[i];
        mw_dataset *set = mw_dataset_create(columns, 2, 2, false, &err), *mixed = mw_dataset_mix(set, &options, &err);
        mw_loader *loader = load_in_order(mixed, &err);
        double sum = 0.0, squares = 0.0;
        int count = 0;
        for (int64_t epoch = 0; epoch < MANY; epoch++) {
            mw_loader_seek(loader, (mw_loader_position){.epoch = epoch}, &err);
            const mw_batch *batch = mw_loader_next(loader, &err);
            REQUIRE(batch != NULL);
            const double share = (double)((const float *)batch->feeds[1].data)[0];
            if (share == 1.0) /* with itself */
                continue;
            sum += share, squares += share * share, count++;
        }
        const double mean = sum / count, variance = squares / count - mean * mean;
        CHECK(fabs(mean - 0.5) < 0.02 && count > MANY / 3);
        CHECK(fabs(variance * 4.0 * (2.0 * (double)alphas[i] + 1.0) - 1.0) < 0.05);
        mw_loader_destroy(loader);
        mw_dataset_destroy(mixed);
        mw_dataset_destroy(set);
        CHECK_OK(err);
    }
}

static void test_mixes_out_of_range_are_refused(void)
{
    mw_mix_options bad[11];
    for (int i = 0; i < 11; i++)
        bad[i] = case_of(0);
    bad[0].struct_size = 0;
    bad[1].column = NULL;
    bad[2].label = "nothing";
    bad[3].column = "y";
    bad[4].label = "x";
    bad[5].classes = 0;
    bad[6].mixup = 0.01f;
    bad[7].cutmix = NAN;
    bad[8].probability = 1.5f;
    bad[9].column = "nothing";
    bad[10].classes = 65537;
    static const char *const parts[] = {
        "mw_mix_defaults", "mw_mix_defaults", "no column \"nothing\"", "int32", "both", "0 classes", "mixup 0.01",
        "cutmix nan",      "probability 1.5", "no column \"nothing\"", "65537"};
    for (int i = 0; i < 11; i++) {
        mw_error err = {0};
        mw_dataset *set = make_pictures("u8_last", &err);
        CHECK(mw_dataset_mix(set, &bad[i], &err) == NULL);
        CHECK_ERROR(err, i == 3 ? MW_ERROR_DTYPE : MW_ERROR_ARGUMENT, parts[i]);
        mw_dataset_destroy(set);
    }
    mw_error err = {0};
    mw_mix_options options = case_of(0);
    options.classes = 3; /* labels 0 to 3 */
    mw_dataset *set = make_pictures("u8_last", &err), *mixed = mw_dataset_mix(set, &options, &err);
    mw_loader *loader = load_in_order(mixed, &err);
    mw_loader_seek(loader, (mw_loader_position){.batch = 3}, &err);
    CHECK(mw_loader_next(loader, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "a label is 3; there are 3 classes");
    mw_loader_destroy(loader);
    mw_dataset_destroy(mixed);
    mw_dataset_destroy(set);
    mw_error_clear(&err);
    set = make_pictures("f32_last", &err);
    CHECK(mw_dataset_mix(set, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "as many F32 as classes, 3");
    mw_dataset_destroy(set);
}

/* ---- normalized ---- */

static const float means[] = {0.485f, 0.456f, 0.406f}, deviations[] = {0.229f, 0.224f, 0.225f};

static void test_channels_are_normalized(void)
{
    static const char *const forms[] = {"u8_last", "u8_first", "f32_last"};
    for (int f = 0; f < 3; f++) {
        mw_error err = {0};
        const bool first = f == 1;
        mw_normalize_options options = mw_normalize_defaults("x", means, deviations, 3);
        options.channels_first = first;
        mw_dataset *set = make_pictures(forms[f], &err), *normal = mw_dataset_normalize(set, &options, &err);
        mw_loader *loader = load_in_order(normal, &err);
        const mw_batch *batch = mw_loader_next(loader, &err);
        REQUIRE(batch != NULL && batch->feeds[1].dtype == MW_F32 && batch->feeds[1].scale == 1.0f);
        for (int i = 0; i < COUNT; i++) {
            const int c = first ? i / (H * W) : i % C;
            const double value = (i * 41 + i * i * 7) % 256;
            const float wanted = (float)((value - (double)means[c]) / (double)deviations[c]);
            CHECK(((const float *)batch->feeds[1].data)[i] == wanted);
        }
        mw_loader_destroy(loader);
        mw_dataset_destroy(normal);
        mw_dataset_destroy(set);
        CHECK_OK(err);
    }
}

static void test_normalizations_out_of_range_are_refused(void)
{
    static const float zero[] = {1.0f, 0.0f, 1.0f}, none[] = {0.0f, NAN, 0.0f};
    mw_normalize_options bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = mw_normalize_defaults("x", means, deviations, 3);
    bad[0].struct_size = 0;
    bad[1].column = "nothing";
    bad[2].deviation = zero;
    bad[3].mean = none;
    bad[4].channels = 1;
    bad[5].channels = 65;
    static const char *const parts[] = {"mw_normalize_defaults", "no column",  "deviation 0", "mean nan",
                                        "has 3 channels",        "65 channels"};
    for (int i = 0; i < 6; i++) {
        mw_error err = {0};
        mw_dataset *set = make_pictures("u8_last", &err);
        CHECK(mw_dataset_normalize(set, &bad[i], &err) == NULL);
        CHECK_ERROR(err, i == 4 ? MW_ERROR_SHAPE : MW_ERROR_ARGUMENT, parts[i]);
        mw_dataset_destroy(set);
    }
}

int main(void)
{
    RUN(test_mixed_pictures_are_what_numpy_makes);
    RUN(test_shares_are_of_the_beta_distribution);
    RUN(test_mixes_out_of_range_are_refused);
    RUN(test_channels_are_normalized);
    RUN(test_normalizations_out_of_range_are_refused);
    return check_finish();
}
