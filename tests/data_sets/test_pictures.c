/* Pictures of many sizes against Pillow, which data/pictures/make.py asked: turned, blended, resized, cropped, padded.
 */
#include "data/image/resize.h"
#include "runtime/files.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/meter.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { W = 10, H = 8, PICTURES = 24, EPOCH = 3 };

static const char *const cases[] = {"stretch", "crop", "part", "pad", "gray", "blend", "random", "reduce"};
enum { CASES = sizeof cases / sizeof cases[0] };

static mw_image_options options_of(const char *name)
{
    mw_image_options o = mw_image_defaults();
    const bool is_part = strcmp(name, "part") == 0;
    o.height = H;
    o.width = W;
    o.fit = MW_IMAGE_FIT_STRETCH;
    o.background[0] = 10, o.background[1] = 200, o.background[2] = 30;
    o.channels = strcmp(name, "gray") == 0 ? 1 : 3;
    o.blend = strcmp(name, "blend") == 0;
    o.reduce = strcmp(name, "reduce") == 0;
    if (is_part || o.reduce || strcmp(name, "crop") == 0)
        o.fit = MW_IMAGE_FIT_CROP;
    if (is_part)
        o.crop = 0.75f;
    if (strcmp(name, "pad") == 0)
        o.fit = MW_IMAGE_FIT_PAD;
    if (strcmp(name, "random") == 0) {
        o.fit = MW_IMAGE_FIT_RANDOM_CROP;
        o.random = (mw_image_random_crop){0.2f, 0.9f, 0.75f, 1.5f, 0x1234567890ABCDEF};
    }
    return o;
}

/* A build without one of the libraries says so. */
static bool is_left_out(void)
{
    mw_error err = {0};
    const mw_image_options options = options_of("crop");
    mw_dataset *dataset = mw_dataset_open_images("data/pictures", &options, &err);
    mw_dataset_destroy(dataset);
    return err.status == MW_ERROR_UNSUPPORTED && strstr(err.message, "built without") != NULL;
}

#define NEEDS_LIBRARIES                                                                                                \
    if (is_left_out())                                                                                                 \
    SKIP("built without libpng, libjpeg or libwebp")

/* ---- against Pillow ---- */

static mw_loader *load_one_by_one(const mw_dataset *dataset, int64_t epoch, mw_error *err)
{
    mw_loader_options options = mw_loader_defaults(dataset, 1);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, err);
    mw_loader_seek(loader, (mw_loader_position){.epoch = epoch}, err);
    return loader;
}

/* The largest difference of a byte. */
static int difference(const uint8_t *got, const char *hex, size_t count)
{
    int most = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        if (sscanf(hex + 2 * i, "%2x", &value) != 1)
            return 999;
        const int apart = abs((int)value - got[i]);
        most = apart > most ? apart : most;
    }
    return most;
}

/* "file number case hex" of one case. */
static int check_line(const char *line, const char *name, mw_loader *loader)
{
    mw_error err = {0};
    char file[64], own[16];
    int number, length, apart = 0;
    if (sscanf(line, "%63s %d %15s %n", file, &number, own, &length) != 3 || strcmp(own, name) != 0)
        return 0;
    mw_loader_seek(loader, (mw_loader_position){.epoch = EPOCH, .batch = number}, &err);
    const mw_batch *batch = mw_loader_next(loader, &err);
    CHECK_OK(err);
    if (batch != NULL)
        apart = difference(batch->feeds[0].data, line + length, batch->feeds[0].count);
    check_note(batch != NULL && apart <= 1, __FILE__, __LINE__, "%s, %s: %d apart", file, name, apart);
    return 1;
}

static void check_case(const char *name, int64_t bytes_max)
{
    mw_error err = {0};
    mw_image_options options = options_of(name);
    options.bytes_max = bytes_max;
    mw_dataset *dataset = mw_dataset_open_images("data/pictures", &options, &err);
    CHECK_OK(err);
    FILE *file = fopen("data/pictures/fits.txt", "r");
    REQUIRE(dataset != NULL && file != NULL);
    CHECK_INT(mw_dataset_examples(dataset), PICTURES);
    CHECK_INT(mw_dataset_classes(dataset, "y").count, 3);
    mw_loader *loader = load_one_by_one(dataset, EPOCH, &err);
    int lines = 0;
    for (char line[1000]; fgets(line, sizeof line, file) != NULL;)
        lines += check_line(line, name, loader);
    CHECK_INT(lines, strcmp(name, "pad") == 0 ? PICTURES - 1 : PICTURES);
    fclose(file);
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
}

static void test_pictures_of_any_size_are_what_pillow_makes(void)
{
    NEEDS_LIBRARIES;
    for (int i = 0; i < CASES; i++)
        check_case(cases[i], 1 << 20);
}

/* None, or half of them, stay in memory. */
static void test_pictures_that_are_read_again_are_the_same(void)
{
    NEEDS_LIBRARIES;
    for (int i = 0; i < CASES; i++) {
        check_case(cases[i], 0);
        check_case(cases[i], PICTURES / 2 * H * W * 3 + 7);
    }
}

static void test_a_set_that_fits_into_memory_lies_there(void)
{
    NEEDS_LIBRARIES;
    mw_error err = {0};
    mw_image_options options = options_of("pad");
    options.channels_first = true;
    options.bytes_max = PICTURES * H * W * 3;
    mw_dataset *all = mw_dataset_open_images("data/pictures", &options, &err);
    options.bytes_max--;
    mw_dataset *most = mw_dataset_open_images("data/pictures", &options, &err);
    CHECK_OK(err);
    CHECK(mw_dataset_column_at(all, 0)->data != NULL && mw_dataset_column_at(all, 1)->data != NULL);
    CHECK(mw_dataset_column_at(most, 0)->data == NULL);
    CHECK(mw_shape_equal(mw_dataset_column_at(most, 0)->shape, MW_SHAPE(3, H, W)));
    mw_loader *loader = load_one_by_one(most, 0, &err);
    mw_loader_seek(loader, (mw_loader_position){.batch = PICTURES - 1}, &err);
    const mw_batch *batch = mw_loader_next(loader, &err);
    const uint8_t *data = mw_dataset_column_at(all, 0)->data;
    REQUIRE(batch != NULL);
    CHECK(memcmp(batch->feeds[0].data, data + (PICTURES - 1) * H * W * 3, H * W * 3) == 0);
    CHECK_INT(*(const int64_t *)batch->feeds[1].data, 2);
    mw_loader_destroy(loader);
    mw_dataset_destroy(all);
    mw_dataset_destroy(most);
}

/* ---- what is refused ---- */

static void expect_refused(const mw_image_options *options, mw_status status, const char *part)
{
    mw_error err = {0};
    CHECK(mw_dataset_open_images("data/pictures", options, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void test_sizes_without_a_fit_are_refused_with_the_cure(void)
{
    NEEDS_LIBRARIES;
    mw_image_options options = mw_image_defaults();
    expect_refused(&options, MW_ERROR_FORMAT, "a/gray.png\" is 16 x 16 pixels, others 21 x 30");
    expect_refused(&options, MW_ERROR_FORMAT, "want a fit with a height and a width");
}

static void test_fits_out_of_range_are_refused(void)
{
    mw_image_options bad[15];
    for (int i = 0; i < 15; i++)
        bad[i] = options_of("crop");
    bad[0].height = 0;
    bad[1].width = 16385;
    bad[2].height = bad[2].width = 0;
    bad[3].fit = (mw_image_fit)9;
    bad[4].crop = 0.0f;
    bad[5].crop = NAN;
    bad[6] = options_of("pad");
    bad[6].crop = 0.5f;
    bad[7] = bad[8] = bad[9] = options_of("random");
    bad[7].random.scale_most = 1.5f;
    bad[8].random.ratio_least = 2.0f;
    bad[9].random.scale_least = 0.0f;
    bad[10].random.seed = 5;
    bad[11].bytes_max = -1;
    bad[12].threads = 65;
    bad[13].threads = -1;
    bad[14] = mw_image_defaults();
    bad[14].reduce = true;
    static const char *const parts[] = {"0 x 10",   "8 x 16385", "a fit wants", "fit 9",      "crop 0",
                                        "crop nan", "crop 0.5",  "scale 0",     "ratio 2",    "scale 0",
                                        "random",   "-1 bytes",  "65 threads",  "-1 threads", "reduce is of a fit"};
    for (int i = 0; i < 15; i++)
        expect_refused(&bad[i], MW_ERROR_ARGUMENT, parts[i]);
}

/* Exif whose lengths, places and numbers lie turns nothing, and reads nothing outside. */
static void test_exif_that_lies_turns_nothing(void)
{
    NEEDS_LIBRARIES;
    size_t size;
    unsigned char *bytes = get_file("data/pictures/turned/6.jpg", &size);
    REQUIRE(bytes != NULL && size > 64);
    mkdir(scratch("set"), 0777);
    mkdir(scratch("set/a"), 0777);
    for (size_t at = 4; at < 60; at++) {
        for (int value = 0; value < 256; value += 51) {
            unsigned char *copy = malloc(size);
            REQUIRE(copy != NULL);
            memcpy(copy, bytes, size);
            copy[at] = (unsigned char)value;
            put_file(scratch("set/a/p.jpg"), copy, size);
            mw_error err = {0};
            const mw_image_options options = mw_image_defaults();
            mw_dataset *dataset = mw_dataset_open_images(scratch("set"), &options, &err);
            const int64_t height = dataset != NULL ? mw_dataset_column_at(dataset, 0)->shape.dim[0] : 0;
            CHECK(dataset != NULL ? height == 14 || height == 21 : err.status == MW_ERROR_FORMAT);
            mw_dataset_destroy(dataset);
            free(copy);
        }
    }
    folder_empty(scratch("set"));
    free(bytes);
}

/* What is left of a file, or a file with another byte: a picture of that size or a refusal by name. */
static void expect_picture_or_refusal(const void *bytes, size_t size, int64_t height)
{
    put_file(scratch("set/a/p.webp"), bytes, size);
    mw_error err = {0};
    mw_image_options options = mw_image_defaults();
    options.blend = true;
    options.pixels_max = 1 << 16;
    options.threads = 1;
    mw_dataset *dataset = mw_dataset_open_images(scratch("set"), &options, &err);
    CHECK(dataset != NULL || (err.status == MW_ERROR_FORMAT && strstr(err.message, "a/p.webp") != NULL));
    if (dataset != NULL && height > 0)
        CHECK_INT(mw_dataset_column_at(dataset, 0)->shape.dim[0], height);
    mw_dataset_destroy(dataset);
}

static void test_webp_that_is_cut_or_changed_is_refused(void)
{
    NEEDS_LIBRARIES;
    static const char *const files[] = {"b/lossy.webp", "b/lossless.webp", "b/clear.webp", "turned/y.webp"};
    static const int64_t heights[] = {17, 31, 19, 9};
    mkdir(scratch("set"), 0777);
    mkdir(scratch("set/a"), 0777);
    for (int f = 0; f < 4; f++) {
        char path[64];
        size_t size;
        snprintf(path, sizeof path, "data/pictures/%s", files[f]);
        unsigned char *bytes = get_file(path, &size);
        REQUIRE(bytes != NULL);
        for (size_t cut = 0; cut < size; cut++)
            expect_picture_or_refusal(bytes, cut, f < 3 ? heights[f] : 0); /* the last one is turned by its end */
        for (size_t at = 0; at < size; at++) {
            bytes[at] ^= 0x55;
            expect_picture_or_refusal(bytes, size, 0);
            bytes[at] ^= 0x55;
        }
        free(bytes);
    }
    folder_empty(scratch("set"));
}

/* ---- tables ---- */

/* A copy of a picture of the tests. */
static void copy_picture(const char *from, const char *to)
{
    char path[200];
    size_t size;
    snprintf(path, sizeof path, "data/pictures/%s", from);
    unsigned char *bytes = get_file(path, &size);
    REQUIRE(bytes != NULL);
    put_file(scratch(to), bytes, size);
    free(bytes);
}

static void make_folder(void)
{
    mkdir(scratch("set"), 0777);
    mkdir(scratch("set/deep"), 0777);
    copy_picture("a/wide.png", "set/1.png");
    copy_picture("b/plain.jpg", "set/deep/2.jpg");
    copy_picture("b/lossy.webp", "set/3");
}

static mw_image_options table_options(const char *text, char label_separator)
{
    mw_image_options options = options_of("crop");
    put_file(scratch("list.csv"), text, strlen(text));
    options.table.path = scratch("list.csv");
    options.table.label_separator = label_separator;
    return options;
}

static void test_a_table_says_names_and_labels(void)
{
    NEEDS_LIBRARIES;
    make_folder();
    mw_error err = {0};
    mw_image_options options = table_options("id,label,name\n7,dog,3\n8,cat,deep/2.jpg\n9,dog,1.png\n9,ant,3\n", 0);
    mw_dataset *dataset = mw_dataset_open_images(scratch("set"), &options, &err);
    CHECK_OK(err);
    REQUIRE(dataset != NULL);
    const int64_t *y = mw_dataset_column_at(dataset, 1)->data;
    const uint8_t *x = mw_dataset_column_at(dataset, 0)->data;
    CHECK_INT(mw_dataset_examples(dataset), 4);
    CHECK_STR(mw_dataset_classes(dataset, "y").names[1], "cat");
    CHECK(y[0] == 2 && y[1] == 1 && y[2] == 2 && y[3] == 0);
    CHECK(memcmp(x, x + 3 * W * H * 3, W * H * 3) == 0 && memcmp(x, x + W * H * 3, W * H * 3) != 0);
    mw_dataset_destroy(dataset);
}

static void test_a_table_may_give_several_labels(void)
{
    NEEDS_LIBRARIES;
    make_folder();
    static const float wanted[3][3] = {{1, 0, 1}, {0, 0, 0}, {0, 1, 0}}; /* a sea, snow, sun */
    for (int64_t bytes_max = 0; bytes_max <= 1 << 20; bytes_max += 1 << 20) {
        mw_error err = {0};
        mw_image_options options = table_options("file;tags\n1.png;sun| a sea\n3;|\ndeep/2.jpg;\"snow|snow\"\n", '|');
        options.bytes_max = bytes_max;
        options.table.separator = ';';
        options.table.name = "file";
        options.table.label = "tags";
        mw_dataset *dataset = mw_dataset_open_images(scratch("set"), &options, &err);
        CHECK_OK(err);
        mw_loader *loader = load_one_by_one(dataset, 0, &err);
        for (int i = 0; i < 3; i++) {
            const mw_batch *batch = mw_loader_next(loader, &err);
            REQUIRE(batch != NULL);
            CHECK_INT(batch->feeds[1].count, 3);
            CHECK(memcmp(batch->feeds[1].data, wanted[i], sizeof wanted[i]) == 0);
        }
        mw_loader_destroy(loader);
        mw_dataset_destroy(dataset);
    }
}

static void expect_no_set(const mw_image_options *options, mw_status status, const char *part)
{
    mw_error err = {0};
    CHECK(mw_dataset_open_images(scratch("set"), options, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

/* 3000 pictures of 12 KB each, once unpacked. */
static void test_pictures_are_never_all_unpacked(void)
{
    NEEDS_LIBRARIES;
    enum { ROWS = 3000, SIDE = 64 };
    make_folder();
    FILE *list = fopen(scratch("list.csv"), "w");
    REQUIRE(list != NULL);
    fputs("name,label\n", list);
    for (int i = 0; i < ROWS; i++)
        fprintf(list, "%s,%d\n", i % 2 == 0 ? "1.png" : "deep/2.jpg", i % 7);
    fclose(list);
    for (int kept = 0; kept <= 100; kept += 100) {
        meter m = {0};
        const mw_allocator allocator = {.resize = meter_resize, .user = &m};
        mw_error err = {0};
        mw_image_options options = options_of("pad");
        options.height = options.width = SIDE;
        options.table.path = scratch("list.csv");
        options.allocator = &allocator;
        options.threads = 1;
        options.bytes_max = kept * SIDE * SIDE * 3;
        mw_dataset *dataset = mw_dataset_open_images(scratch("set"), &options, &err);
        CHECK_OK(err);
        CHECK_INT(mw_dataset_examples(dataset), ROWS);
        CHECK(m.most < (size_t)(options.bytes_max + (1 << 20))); /* all would be 36 MB */
        mw_dataset_destroy(dataset);
        CHECK_INT(m.held, 0);
    }
}

/* A line of 4 million pixels, on its side and upright: what resizing holds does not grow with its area. */
static void test_lines_are_resized_in_little_memory(void)
{
    enum { LONG = 1 << 22, SIDE = 64 };
    uint8_t *line = calloc(LONG, 1), out[SIDE * SIDE];
    REQUIRE(line != NULL);
    memset(line + LONG / 2, 200, LONG / 2);
    for (int upright = 0; upright < 2; upright++) {
        meter m = {0};
        const mw_allocator allocator = {.resize = meter_resize, .user = &m};
        mw_error err = {0};
        const int64_t height = upright != 0 ? LONG : 1, width = upright != 0 ? 1 : LONG;
        const mw__image_view in = {line, height, width, (size_t)width, 1}, to = {out, SIDE, SIDE, SIDE, 1};
        const mw__image_box box = {0.0, 0.0, (double)width, (double)height};
        CHECK_INT(mw__image_resize(&allocator, &in, &box, &to, &err), MW_OK);
        CHECK(m.most < 8 * (size_t)LONG + (1 << 18) && m.held == 0);
        for (int i = 0; i < SIDE; i++) {
            const int value = out[upright != 0 ? i * SIDE + 5 : 5 * SIDE + i];
            CHECK(i < SIDE / 2 - 1 ? value == 0 : i > SIDE / 2 ? value == 200 : value > 0 && value < 200);
        }
    }
    free(line);
}

static void test_tables_that_do_not_fit_are_refused(void)
{
    NEEDS_LIBRARIES;
    make_folder();
    static const struct {
        const char *text;
        char separator;
        mw_status status;
        const char *part;
    } rows[] = {
        {"name,label\n1.png,a\nnone.png,b\n", 0, MW_ERROR_FILE, "none.png"},
        {"name,label\n../list.csv,a\n", 0, MW_ERROR_FILE, "list.csv"},
        {"name,label\n/etc/passwd,a\n", 0, MW_ERROR_FILE, "passwd"},
        {"name,label\n1.png\n", 0, MW_ERROR_FORMAT, "line 2"},
        {"name,kind\n1.png,a\n", 0, MW_ERROR_ARGUMENT, "no field \"label\""},
        {"name,label\n1.png,|\n", '|', MW_ERROR_FORMAT, "has no label in any row"},
        {"name,label\n1.png,a\n", ',', MW_ERROR_ARGUMENT, "label_separator 0x2c"},
        {"name,label\n1.png,a\n", 'x', MW_ERROR_ARGUMENT, "label_separator 0x78"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const mw_image_options options = table_options(rows[i].text, rows[i].separator);
        expect_no_set(&options, rows[i].status, rows[i].part);
    }
    static const char *const known[] = {"cat", "dog"};
    mw_image_options options = table_options("name,label\n1.png,dog|bird\n", '|');
    options.class_names = known;
    options.class_count = 2;
    expect_no_set(&options, MW_ERROR_FORMAT, "label \"bird\" is none of the 2 class_names");
    options = options_of("crop");
    options.table.label_separator = '|';
    expect_no_set(&options, MW_ERROR_ARGUMENT, "there is none");
}

/* ---- broken pictures ---- */

typedef struct told {
    char names[200];
    int count;
} told;

static void note_broken(void *user, const char *name, const char *reason)
{
    told *t = user;
    const size_t length = strlen(t->names);
    snprintf(t->names + length, sizeof t->names - length, "%s ", name);
    CHECK(strstr(reason, name) != NULL);
    t->count++;
}

static const char broken_table[] = "name,label\ncut.png,a|b\n1.png,a\nnone.png,b\ndeep/2.jpg,b|c\ntext.jpg,a\n3,c\n";

static mw_image_options broken_options(told *t)
{
    make_folder();
    size_t size;
    unsigned char *bytes = get_file("data/pictures/a/wide.png", &size);
    put_file(scratch("set/cut.png"), bytes, size / 2);
    put_file(scratch("set/text.jpg"), "no picture", 10);
    free(bytes);
    mw_image_options options = table_options(broken_table, '|');
    *t = (told){{0}, 0};
    options.on_broken = note_broken;
    options.user = t;
    return options;
}

static void test_broken_pictures_are_all_named_and_refused(void)
{
    NEEDS_LIBRARIES;
    told t;
    const mw_image_options options = broken_options(&t);
    expect_no_set(&options, MW_ERROR_FORMAT,
                  "cut.png\" is no PNG that can be read: it ends too early; 2 more of 6 are");
    CHECK_INT(t.count, 3);
    CHECK_STR(t.names, "cut.png none.png text.jpg ");
}

static void test_broken_pictures_are_left_out(void)
{
    NEEDS_LIBRARIES;
    static const float wanted[3][3] = {{1, 0, 0}, {0, 1, 1}, {0, 0, 1}};
    told t;
    mw_image_options options = broken_options(&t), good = table_options("name,label\n1.png,a\ndeep/2.jpg,b\n3,c\n", 0);
    mw_error err = {0};
    mw_dataset *whole = mw_dataset_open_images(scratch("set"), &good, &err);
    for (int kept = 0; kept <= 6; kept++) {
        options = broken_options(&t);
        options.broken = MW_BROKEN_SKIP;
        options.bytes_max = kept * W * H * 3;
        mw_dataset *dataset = mw_dataset_open_images(scratch("set"), &options, &err);
        CHECK_OK(err);
        CHECK_STR(t.names, "cut.png none.png text.jpg ");
        CHECK_INT(mw_dataset_examples(dataset), 3);
        mw_loader *loader = load_one_by_one(dataset, 0, &err);
        for (int i = 0; i < 3; i++) {
            const mw_batch *batch = mw_loader_next(loader, &err);
            REQUIRE(batch != NULL);
            const uint8_t *x = mw_dataset_column_at(whole, 0)->data;
            CHECK(memcmp(batch->feeds[0].data, x + i * W * H * 3, W * H * 3) == 0);
            CHECK(memcmp(batch->feeds[1].data, wanted[i], sizeof wanted[i]) == 0);
        }
        mw_loader_destroy(loader);
        mw_dataset_destroy(dataset);
    }
    mw_dataset_destroy(whole);
    put_file(scratch("list.csv"), "name,label\ncut.png,a\n", strlen("name,label\ncut.png,a\n"));
    expect_no_set(&options, MW_ERROR_FORMAT, "none of its 1 pictures can be read");
}

static void test_a_picture_that_breaks_later_is_an_error_of_its_batch(void)
{
    NEEDS_LIBRARIES;
    told t;
    mw_image_options options = broken_options(&t);
    options.broken = MW_BROKEN_LATE;
    expect_no_set(&options, MW_ERROR_ARGUMENT, "on_broken");
    options.on_broken = NULL;
    mw_error err = {0};
    mw_dataset *dataset = mw_dataset_open_images(scratch("set"), &options, &err);
    mw_loader *loader = load_one_by_one(dataset, 0, &err);
    CHECK_OK(err);
    CHECK(mw_loader_next(loader, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "cut.png");
    mw_error_clear(&err);
    mw_loader_seek(loader, (mw_loader_position){.batch = 1}, &err);
    CHECK(mw_loader_next(loader, &err) != NULL);
    CHECK_OK(err);
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
}

static void survive_with(mw_image_options options, const char *folder)
{
    bool finished = false;
    for (long n = 0; !finished && n < 20000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        options.allocator = &allocator;
        options.channels_first = true;
        options.threads = 1;
        options.bytes_max = 1000;
        mw_dataset *dataset = mw_dataset_open_images(folder, &options, &err);
        finished = dataset != NULL && !failing.failed;
        CHECK((dataset != NULL) == (err.status == MW_OK));
        CHECK(dataset != NULL || err.status == MW_ERROR_MEMORY);
        mw_dataset_destroy(dataset);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

static void test_fits_survive_failing_allocations(void)
{
    NEEDS_LIBRARIES;
    told t;
    survive_with(options_of("blend"), "data/pictures");
    mw_image_options options = broken_options(&t);
    options.broken = MW_BROKEN_SKIP;
    options.on_broken = NULL;
    survive_with(options, scratch("set"));
    folder_empty(scratch("set"));
}

int main(void)
{
    RUN(test_pictures_of_any_size_are_what_pillow_makes);
    RUN(test_pictures_that_are_read_again_are_the_same);
    RUN(test_a_set_that_fits_into_memory_lies_there);
    RUN(test_sizes_without_a_fit_are_refused_with_the_cure);
    RUN(test_fits_out_of_range_are_refused);
    RUN(test_exif_that_lies_turns_nothing);
    RUN(test_webp_that_is_cut_or_changed_is_refused);
    RUN(test_a_table_says_names_and_labels);
    RUN(test_a_table_may_give_several_labels);
    RUN(test_pictures_are_never_all_unpacked);
    RUN(test_lines_are_resized_in_little_memory);
    RUN(test_tables_that_do_not_fit_are_refused);
    RUN(test_broken_pictures_are_all_named_and_refused);
    RUN(test_broken_pictures_are_left_out);
    RUN(test_a_picture_that_breaks_later_is_an_error_of_its_batch);
    RUN(test_fits_survive_failing_allocations);
    return check_finish();
}
