/* Folders of pictures: what Pillow wrote is read as Pillow reads it (data/images/make.py), and what is not whole, too
 * large or outside the folder is refused by its name. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/meter.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { W = 9, H = 7, PICTURES = 10 };

/* A build without one of the libraries says so. */
static bool is_left_out(void)
{
    mw_error err = {0};
    const mw_image_options options = mw_image_defaults();
    mw_dataset *dataset = mw_dataset_open_images("data/images", &options, &err);
    mw_dataset_destroy(dataset);
    return err.status == MW_ERROR_UNSUPPORTED && strstr(err.message, "built without") != NULL;
}

#define NEEDS_LIBRARIES                                                                                                \
    if (is_left_out())                                                                                                 \
    SKIP("built without libpng or libjpeg")

/* ---- against Pillow ---- */

/* "file mode hex": pictures come in the order of the lines. */
static void check_line(const char *line, const mw_dataset *rgb, const mw_dataset *planes, const mw_dataset *gray,
                       int index)
{
    char name[64], mode[8];
    REQUIRE(sscanf(line, "%63s %7s", name, mode) == 2);
    const char *hex = line + strlen(name) + strlen(mode) + 2;
    const bool is_gray = strcmp(mode, "L") == 0;
    const size_t count = is_gray ? W * H : 3 * W * H;
    const uint8_t *got = mw_dataset_column_at(is_gray ? gray : rgb, 0)->data;
    const uint8_t *planar = mw_dataset_column_at(planes, 0)->data;
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        good = good && sscanf(hex + 2 * i, "%2x", &value) == 1 && got[(size_t)index * count + i] == value;
        if (!is_gray)
            good = good && planar[(size_t)index * count + i % 3 * (W * H) + i / 3] == value;
    }
    check_note(good, __FILE__, __LINE__, "%s as %s differs", name, mode);
    const int64_t label = ((const int64_t *)mw_dataset_column_at(rgb, 1)->data)[index];
    CHECK_STR(mw_dataset_classes(rgb, "y").names[label], name[0] == 'j' ? "jpeg" : "png");
}

static void test_pictures_are_read_as_pillow_reads_them(void)
{
    NEEDS_LIBRARIES;
    mw_error err = {0};
    mw_image_options options = mw_image_defaults();
    mw_dataset *rgb = mw_dataset_open_images("data/images", &options, &err);
    options.channels_first = true;
    mw_dataset *planes = mw_dataset_open_images("data/images", &options, &err);
    options.channels = 1;
    mw_dataset *gray = mw_dataset_open_images("data/images", &options, &err);
    CHECK_OK(err);
    FILE *file = fopen("data/images/pixels.txt", "r");
    REQUIRE(rgb != NULL && planes != NULL && gray != NULL && file != NULL);
    CHECK_INT(mw_dataset_examples(rgb), PICTURES);
    CHECK(mw_shape_equal(mw_dataset_column_at(rgb, 0)->shape, MW_SHAPE(H, W, 3)));
    CHECK(mw_shape_equal(mw_dataset_column_at(planes, 0)->shape, MW_SHAPE(3, H, W)));
    CHECK(mw_shape_equal(mw_dataset_column_at(gray, 0)->shape, MW_SHAPE(H, W)));
    CHECK_INT(mw_dataset_classes(rgb, "y").count, 2);
    int lines = 0;
    for (char line[1000]; fgets(line, sizeof line, file) != NULL;)
        if (line[0] != '#')
            check_line(line, rgb, planes, gray, lines++ / 2);
    CHECK_INT(lines, 2 * PICTURES);
    fclose(file);
    mw_dataset_destroy(rgb);
    mw_dataset_destroy(planes);
    mw_dataset_destroy(gray);
}

/* ---- a folder of one's own ---- */

static const char *const names[] = {"png/rgb.png", "png/palette.png", "jpeg/plain.jpg", "jpeg/progressive.jpeg"};

static unsigned char *load(const char *name, size_t *out_size)
{
    char path[200];
    snprintf(path, sizeof path, "data/images/%s", name);
    return get_file(path, out_size);
}

/* <scratch>/set/a/picture.png, alone; libraries are chosen by the first bytes. */
static const char *put_picture(const void *bytes, size_t size)
{
    mkdir(scratch("set"), 0777);
    mkdir(scratch("set/a"), 0777);
    put_file(scratch("set/a/picture.png"), bytes, size);
    return scratch("set");
}

static void expect_refused(const char *folder, const mw_image_options *options, mw_status status, const char *part)
{
    mw_error err = {0};
    CHECK(mw_dataset_open_images(folder, options, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void test_pictures_cut_anywhere_are_refused_by_name(void)
{
    NEEDS_LIBRARIES;
    const mw_image_options options = mw_image_defaults();
    for (int i = 0; i < 4; i++) {
        size_t size;
        unsigned char *bytes = load(names[i], &size);
        REQUIRE(bytes != NULL);
        for (size_t cut = 0; cut < size; cut++)
            expect_refused(put_picture(bytes, cut), &options, MW_ERROR_FORMAT, "a/picture.png\"");
        free(bytes);
    }
}

static void test_bombs_are_refused_before_they_unpack(void)
{
    NEEDS_LIBRARIES;
    mw_image_options options = mw_image_defaults();
    size_t size;
    unsigned char *png = load("png/rgb.png", &size);
    REQUIRE(png != NULL);
    options.pixels_max = W * H - 1;
    expect_refused(put_picture(png, size), &options, MW_ERROR_FORMAT, "7 x 9 pixels, more than 62");
    free(png);
    unsigned char *jpeg = load("jpeg/plain.jpg", &size);
    REQUIRE(jpeg != NULL);
    options = mw_image_defaults();
    for (size_t i = 0; i + 9 < size; i++) /* the frame: height and width become 65535 */
        if (jpeg[i] == 0xff && jpeg[i + 1] == 0xc0)
            memset(jpeg + i + 5, 0xff, 2), memset(jpeg + i + 7, 0xff, 2);
    expect_refused(put_picture(jpeg, size), &options, MW_ERROR_FORMAT, "picture.png\"");
    free(jpeg);
}

/* ---- what is not pixels ---- */

/* A chunk of `length` announced bytes, of which `given` zeros stand in the file, in front of the second chunk. */
static unsigned char *with_chunk(const unsigned char *png, size_t size, const char *type, uint32_t length, size_t given,
                                 size_t *out_size)
{
    const size_t at = 8 + 25; /* behind the mark and IHDR */
    unsigned char *out = calloc(1, size + 12 + given);
    if (out == NULL)
        return NULL;
    memcpy(out, png, at);
    for (int i = 0; i < 4; i++)
        out[at + (size_t)i] = (unsigned char)(length >> (24 - 8 * i));
    memcpy(out + at + 4, type, 4);
    memcpy(out + at + 12 + given, png + at, size - at);
    *out_size = size + 12 + given;
    return out;
}

/* Each may announce 2 GiB, or unpack to as much: they are passed over unread, and the pixels stay. */
static void test_chunks_beside_the_pixels_are_not_read(void)
{
    NEEDS_LIBRARIES;
    static const char *const types[] = {"eXIf", "zTXt", "iTXt", "tEXt", "iCCP", "sPLT", "tIME", "tRNS", "gAMA", "abCd"};
    enum { GIVEN = 3 << 20 };
    size_t size, longer;
    unsigned char *png = load("png/rgb.png", &size);
    REQUIRE(png != NULL);
    meter plain = {0}, m = {0};
    for (size_t i = 0; i <= sizeof types / sizeof types[0]; i++) {
        const mw_allocator allocator = {.resize = meter_resize, .user = i == 0 ? &plain : &m};
        mw_image_options options = mw_image_defaults();
        options.allocator = &allocator;
        mw_error err = {0};
        unsigned char *more = i > 0 ? with_chunk(png, size, types[i - 1], GIVEN, GIVEN, &longer) : NULL;
        mw_dataset *set =
            mw_dataset_open_images(more != NULL ? put_picture(more, longer) : put_picture(png, size), &options, &err);
        check_note(set != NULL, __FILE__, __LINE__, "%zu: %s", i, err.message);
        mw_dataset_destroy(set);
        free(more);
        if (i > 0) { /* announced, and not there */
            more = with_chunk(png, size, types[i - 1], 0x7fffffff, 4, &longer);
            REQUIRE(more != NULL);
            expect_refused(put_picture(more, longer), &options, MW_ERROR_FORMAT, "a/picture.png\"");
            free(more);
        }
    }
    CHECK(m.most <= plain.most + GIVEN + 4096); /* the file itself */
    free(png);
}

static void test_folders_hold_to_their_rules(void)
{
    NEEDS_LIBRARIES;
    const mw_image_options options = mw_image_defaults();
    size_t size;
    unsigned char *png = load("png/rgb.png", &size);
    REQUIRE(png != NULL);
    expect_refused(scratch("nowhere"), &options, MW_ERROR_FILE, "nowhere");
    put_picture(png, size);
    mkdir(scratch("set/b"), 0777);
    expect_refused(scratch("set"), &options, MW_ERROR_FILE, "set/b\" has no .png");
    put_file(scratch("outside.png"), png, size);
    CHECK_INT(symlink("../../outside.png", scratch("set/b/link.png")), 0);
    expect_refused(scratch("set"), &options, MW_ERROR_FILE, "link.png");
    unlink(scratch("set/b/link.png"));
    CHECK_INT(symlink("../a/picture.png", scratch("set/b/link.png")), 0); /* this one stays inside */
    put_file(scratch("set/b/.hidden.png"), "x", 1);
    put_file(scratch("set/b/notes.txt"), "x", 1);
    CHECK_INT(symlink("a", scratch("set/c")), 0); /* a link to a folder is none */
    mw_error err = {0};
    mw_dataset *dataset = mw_dataset_open_images(scratch("set"), &options, &err);
    CHECK_OK(err);
    CHECK_INT(mw_dataset_examples(dataset), 2);
    CHECK_INT(mw_dataset_classes(dataset, "y").count, 2);
    mw_dataset_destroy(dataset);
    put_file(scratch("set/b/zzz.jpg"), "no picture", 10);
    expect_refused(scratch("set"), &options, MW_ERROR_FORMAT, "set/b/zzz.jpg\" is neither PNG nor JPEG nor WebP");
    folder_empty(scratch("set"));
    rmdir(scratch("set"));
    free(png);
}

static void test_options_out_of_range_are_refused(void)
{
    mw_image_options bad[4];
    for (int i = 0; i < 4; i++)
        bad[i] = mw_image_defaults();
    bad[0].struct_size = 1;
    bad[1].channels = 2;
    bad[2].pixels_max = ((int64_t)1 << 28) + 1;
    bad[3].bytes_max = -1;
    static const char *const parts[] = {"mw_image_defaults", "2 channels", "2^28", "not negative"};
    for (int i = 0; i < 4; i++)
        expect_refused("data/images", &bad[i], MW_ERROR_ARGUMENT, parts[i]);
    expect_refused(NULL, &bad[0], MW_ERROR_ARGUMENT, "no folder");
}

static void test_pictures_survive_failing_allocations(void)
{
    NEEDS_LIBRARIES;
    bool finished = false;
    for (long n = 0; !finished && n < 5000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_image_options options = mw_image_defaults();
        options.allocator = &allocator;
        options.threads = 1;
        mw_dataset *dataset = mw_dataset_open_images("data/images", &options, &err);
        finished = dataset != NULL && !failing.failed;
        CHECK((dataset != NULL) == (err.status == MW_OK));
        CHECK(dataset != NULL || err.status == MW_ERROR_MEMORY);
        mw_dataset_destroy(dataset);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

/* ---- files that are named ---- */

static void test_files_are_served_in_the_order_of_their_paths(void)
{
    static const char *const paths[] = {"data/images/png/rgb.png", "data/images/jpeg/plain.jpg",
                                        "data/images/png/rgb.png"};
    NEEDS_LIBRARIES;
    mw_error err = {0};
    const mw_image_options options = mw_image_defaults();
    mw_dataset *all = mw_dataset_open_images("data/images", &options, &err);
    mw_dataset *named = mw_dataset_open_image_files(paths, 3, &options, &err);
    CHECK_OK(err);
    REQUIRE(all != NULL && named != NULL);
    CHECK_INT(mw_dataset_examples(named), 3);
    CHECK(mw_dataset_column_at(named, 1) == NULL);
    const uint8_t *x = mw_dataset_column_at(named, 0)->data;
    CHECK(memcmp(x, x + 2 * 3 * W * H, 3 * W * H) == 0 && memcmp(x, x + 3 * W * H, 3 * W * H) != 0);
    mw_dataset_destroy(named);
    mw_dataset_destroy(all);
}

static void check_files_refused(const char *const *paths, size_t count, const mw_image_options *options,
                                const char *part)
{
    mw_error err = {0};
    CHECK(mw_dataset_open_image_files(paths, count, options, &err) == NULL);
    CHECK_CONTAINS(err.message, part);
}

static void test_paths_that_are_no_pictures_are_refused(void)
{
    static const char *const hole[] = {"data/images/png/rgb.png", NULL}, *const gone[] = {"data/images/gone.png"};
    static const char *const labels[] = {"a"};
    NEEDS_LIBRARIES;
    mw_image_options options = mw_image_defaults();
    check_files_refused(NULL, 0, &options, "there is no path");
    check_files_refused(hole, 2, &options, "path 1 of 2 is NULL");
    check_files_refused(gone, 1, &options, "gone.png");
    check_files_refused(gone, 1, NULL, "mw_image_defaults");
    options.class_names = labels;
    options.class_count = 1;
    check_files_refused(gone, 1, &options, "have no labels");
}

int main(void)
{
    RUN(test_pictures_are_read_as_pillow_reads_them);
    RUN(test_pictures_cut_anywhere_are_refused_by_name);
    RUN(test_bombs_are_refused_before_they_unpack);
    RUN(test_chunks_beside_the_pixels_are_not_read);
    RUN(test_folders_hold_to_their_rules);
    RUN(test_options_out_of_range_are_refused);
    RUN(test_pictures_survive_failing_allocations);
    RUN(test_files_are_served_in_the_order_of_their_paths);
    RUN(test_paths_that_are_no_pictures_are_refused);
    return check_finish();
}
