/* Files of tensors that we write: .npy to the byte what numpy writes, the others by what comes back; Python reads them
 * in tests/client/tensors.py. */
#include "base/file/file.h"
#include "format/tensors/tensors.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/meter.h"

#include <millwright/tensors_derived.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float weight[6];
static const int64_t steps[3] = {1, -2, INT64_MAX};
static const uint16_t brain[2] = {0x3f80, 0xc000};
static const bool flag = true;

static void fill(void)
{
    for (int i = 0; i < 6; i++)
        weight[i] = (float)(i * 7 % 23 - 11) / 4;
}

static const mw_tensor_values three[] = {
    {"layer.0.weight", MW_F32, {2, {2, 3}}, weight}, {"steps", MW_I64, {1, {3}}, steps}, {"flag", MW_BOOL, {0}, &flag}};

static bool same_bytes_here(const char *path, const char *other)
{
    FILE *a = fopen(path, "rb"), *b = fopen(other, "rb");
    bool same = a != NULL && b != NULL;
    while (same) {
        const int left = fgetc(a), right = fgetc(b);
        same = left == right;
        if (left == EOF || right == EOF)
            break;
    }
    if (a != NULL)
        fclose(a);
    if (b != NULL)
        fclose(b);
    return same;
}

static bool same_bytes(const char *path, const char *recorded)
{
    char other[600];
    snprintf(other, sizeof other, "%s/data/tensors/%s", MW_TESTS_DIR, recorded);
    return same_bytes_here(path, other);
}

static void test_npy_is_what_numpy_writes_to_the_byte(void)
{
    mw_error err = {0};
    const mw_tensor_values f4 = {"x", MW_F32, MW_SHAPE(2, 3), weight};
    const mw_tensor_values empty = {"x", MW_F32, MW_SHAPE(0, 3), NULL};
    const float number = 2.5f;
    const mw_tensor_values scalar = {"x", MW_F32, mw_shape_scalar(), &number};
    mw_tensors_write("f4.npy", &f4, 1, &err);
    mw_tensors_write("empty.npy", &empty, 1, &err);
    mw_tensors_write("scalar.npy", &scalar, 1, &err);
    CHECK_OK(err);
    CHECK(same_bytes("f4.npy", "f4.npy"));
    CHECK(same_bytes("empty.npy", "empty.npy"));
    CHECK(same_bytes("scalar.npy", "scalar.npy"));
}

static void test_what_is_written_comes_back(void)
{
    static const char *const paths[] = {"three.npz", "three.safetensors"};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        float got[6];
        int64_t counts[3];
        bool on = false;
        mw_tensors_write(paths[i], three, 3, &err);
        mw_tensors *tensors = mw_tensors_open(paths[i], &err);
        CHECK_INT(mw_tensors_get_info(tensors).count, 3);
        mw_tensors_read(tensors, "layer.0.weight", MW_F32, got, 6, &err);
        mw_tensors_read(tensors, "steps", MW_I64, counts, 3, &err);
        mw_tensors_read(tensors, "flag", MW_BOOL, &on, 1, &err);
        CHECK_OK(err);
        CHECK(memcmp(got, weight, sizeof got) == 0 && memcmp(counts, steps, sizeof counts) == 0 && on);
        mw_tensors_destroy(tensors);
    }
}

static void test_equal_tensors_give_equal_bytes(void)
{
    mw_error err = {0};
    char *one = NULL, *two = NULL;
    size_t size, other;
    mw_tensors_write("one.npz", three, 3, &err);
    mw_tensors_write("two.npz", three, 3, &err);
    mw__file_read(NULL, "one.npz", 1 << 20, &one, &size, &err);
    mw__file_read(NULL, "two.npz", 1 << 20, &two, &other, &err);
    CHECK_OK(err);
    CHECK(size == other && memcmp(one, two, size) == 0);
    mw__free(mw__allocator_default(), one);
    mw__free(mw__allocator_default(), two);
}

static void refuse(const char *path, const mw_tensor_values *tensors, size_t count, mw_status status, const char *part)
{
    mw_error err = {0};
    const int before = folder_count(".");
    mw_tensors_write(path, tensors, count, &err);
    CHECK_ERROR(err, status, part);
    CHECK_INT(folder_count("."), before); /* nothing is left */
}

static void test_what_a_format_does_not_have_is_refused_before_anything_is_written(void)
{
    const mw_tensor_values bf16 = {"x", MW_BF16, MW_SHAPE(2), brain}, doubled[] = {three[0], three[0]},
                           out = {"../x", MW_F32, MW_SHAPE(2), weight}, nameless = {"", MW_F32, MW_SHAPE(2), weight},
                           none = {"x", MW_F32, MW_SHAPE(2), NULL}, unknown = {"x", MW_F32, {1, {-1}}, weight},
                           four = {"x", MW_I4, MW_SHAPE(2), weight};
    refuse("x.pt", three, 3, MW_ERROR_ARGUMENT, "ends with none of .safetensors, .npz and .npy");
    refuse("x.npy", three, 3, MW_ERROR_ARGUMENT, "one tensor, not 3");
    refuse("x.npz", &bf16, 1, MW_ERROR_DTYPE, "\"x\" is bf16, which .npy does not have");
    refuse("x.npz", doubled, 2, MW_ERROR_ARGUMENT, "\"layer.0.weight\" is there twice");
    refuse("x.safetensors", doubled, 2, MW_ERROR_ARGUMENT, "\"layer.0.weight\" is there twice");
    refuse("x.npz", &out, 1, MW_ERROR_ARGUMENT, "\"../x\" cannot be the name of a file");
    refuse("x.npz", &nameless, 1, MW_ERROR_ARGUMENT, "empty");
    refuse("x.npz", &none, 1, MW_ERROR_ARGUMENT, "\"x\" has no data");
    refuse("x.npz", &unknown, 1, MW_ERROR_SHAPE, "the shape of \"x\"");
    refuse("x.safetensors", &four, 1, MW_ERROR_DTYPE, "int4");
    refuse("missing/x.npz", three, 3, MW_ERROR_FILE, "missing");
}

static void test_bf16_stays_bf16_in_safetensors(void)
{
    const mw_tensor_values tensor = {"x", MW_BF16, MW_SHAPE(2), brain};
    uint16_t raw[2];
    float single[2];
    mw_error err = {0};
    mw_tensors_write("b.safetensors", &tensor, 1, &err);
    mw_tensors *tensors = mw_tensors_open("b.safetensors", &err);
    mw_tensors_read(tensors, "x", MW_BF16, raw, 2, &err);
    mw_tensors_read(tensors, "x", MW_F32, single, 2, &err);
    CHECK_OK(err);
    CHECK(memcmp(raw, brain, sizeof raw) == 0 && single[0] == 1.0f && single[1] == -2.0f);
    mw_tensors_destroy(tensors);
}

static void test_a_flipped_bit_in_our_safetensors_is_found(void)
{
    mw_error err = {0};
    mw_tensors_write("x.safetensors", three, 3, &err);
    FILE *file = fopen("x.safetensors", "r+b");
    REQUIRE(file != NULL);
    CHECK(fseek(file, -1, SEEK_END) == 0 && fputc(0, file) == 0);
    fclose(file);
    float got[6];
    mw_tensors *tensors = mw_tensors_open("x.safetensors", &err);
    CHECK_OK(err);
    mw_tensors_read(tensors, "layer.0.weight", MW_F32, got, 6, &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "is damaged");
    mw_tensors_destroy(tensors);
}

/* A compressed file of many tensors is small; so is what converting it takes. */
static void test_converting_holds_one_tensor_at_a_time(void)
{
    enum { TENSORS = 50, ELEMENTS = 1 << 15 };
    static float zeros[ELEMENTS];
    static char name[TENSORS][8];
    static const char *const endings[] = {"many.safetensors", "again.npz", "again.safetensors"};
    mw_tensor_values values[TENSORS];
    mw_error err = {0};
    for (int i = 0; i < TENSORS; i++) {
        snprintf(name[i], sizeof name[i], "t%d", i);
        values[i] = (mw_tensor_values){name[i], MW_F32, MW_SHAPE(ELEMENTS), zeros};
    }
    zeros[7] = 0.1f;
    mw_tensors_write("many.npz", values, TENSORS, &err);
    for (int i = 0; i < 3; i++) {
        meter m = {0};
        const mw_allocator allocator = {.resize = meter_resize, .user = &m};
        mw_tensors *tensors = mw__tensors_open(&allocator, i < 2 ? "many.npz" : "again.npz", &err);
        mw_tensors_convert(tensors, endings[i], MW_DTYPE_NONE, &err);
        CHECK_OK(err);
        CHECK(m.most < 3 * sizeof zeros + (1 << 18));
        mw_tensors_destroy(tensors);
        CHECK_INT(m.held, 0);
    }
    CHECK(same_bytes_here("many.safetensors", "again.safetensors"));
    mw_tensors_write("direct.safetensors", values, TENSORS, &err);
    CHECK(same_bytes_here("many.safetensors", "direct.safetensors"));
    CHECK(same_bytes_here("many.npz", "again.npz"));
    mw_tensors *tensors = mw_tensors_open("many.npz", &err);
    mw_tensors_convert(tensors, "many.npz", MW_F16, &err); /* in its own place */
    mw_tensors_destroy(tensors);
    tensors = mw_tensors_open("many.npz", &err);
    CHECK_OK(err);
    CHECK_INT(mw_tensors_get_info(tensors).count, TENSORS);
    CHECK_INT(mw_tensors_at(tensors, 3)->dtype, MW_F16);
    mw_tensors_destroy(tensors);
}

static void test_writing_survives_failing_allocations(void)
{
    static const char *const paths[] = {"a.npy", "a.npz", "a.safetensors"};
    for (int i = 0; i < 3; i++) {
        bool finished = false;
        for (long n = 0; !finished && n < 500; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            mw__tensors_write(&allocator, paths[i], three, i == 0 ? 1 : 3, &err);
            finished = !failing.failed;
            CHECK_INT(err.status, finished ? MW_OK : MW_ERROR_MEMORY);
            CHECK_INT(failing.live, 0);
        }
        CHECK(finished);
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    fill();
    RUN(test_npy_is_what_numpy_writes_to_the_byte);
    RUN(test_what_is_written_comes_back);
    RUN(test_equal_tensors_give_equal_bytes);
    RUN(test_what_a_format_does_not_have_is_refused_before_anything_is_written);
    RUN(test_bf16_stays_bf16_in_safetensors);
    RUN(test_a_flipped_bit_in_our_safetensors_is_found);
    RUN(test_converting_holds_one_tensor_at_a_time);
    RUN(test_writing_survives_failing_allocations);
    folder_leave(folder);
    return check_finish();
}
