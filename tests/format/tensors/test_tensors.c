/* Files of tensors that numpy, PyTorch and a plain Python script wrote (tests/data/tensors/make.py): names, types,
 * shapes and every element, against the formula that the script fills them with. */
#include "base/number/fp16.h"
#include "support/check.h"

#include <math.h>
#include <millwright/tensors.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 4096 };

static const char *data_file(const char *name)
{
    static char path[2][600];
    static int next;
    next = 1 - next;
    snprintf(path[next], sizeof path[next], "%s/data/tensors/%s", MW_TESTS_DIR, name);
    return path[next];
}

static mw_tensors *open_file(const char *name)
{
    mw_error err = {0};
    mw_tensors *tensors = mw_tensors_open(data_file(name), &err);
    check_note(tensors != NULL, __FILE__, __LINE__, "%s: %s", name, err.message);
    return tensors;
}

/* ---- what the script fills with ---- */

static double value_at(mw_dtype dtype, int64_t i)
{
    const double v = (double)(i * 7 % 23);
    if (dtype == MW_BOOL)
        return i % 3 == 0;
    if (dtype == MW_F16 || dtype == MW_BF16 || dtype == MW_F32 || dtype == MW_F64)
        return (v - 11) / 4;
    return dtype == MW_U8 || dtype == MW_U16 || dtype == MW_U32 || dtype == MW_U64 ? v : v - 11;
}

/* Element `at` of a tensor that is filled by the formula in row-major order: as it is, in F64 and in F32. */
static void check_values(mw_tensors *tensors, const char *name)
{
    static double wide[MOST];
    static float single[MOST];
    const mw_tensor_info *info = mw_tensors_find(tensors, name);
    check_note(info != NULL, __FILE__, __LINE__, "no tensor %s", name);
    if (info == NULL)
        return;
    mw_error err = {0};
    const int64_t count = mw_shape_count(info->shape);
    mw_tensors_read(tensors, name, MW_F64, wide, (size_t)count, &err);
    mw_tensors_read(tensors, name, MW_F32, single, (size_t)count, &err);
    CHECK_OK(err);
    for (int64_t i = 0; i < count; i++) {
        const double want = value_at(info->dtype, i);
        if (wide[i] != want || (double)single[i] != want) {
            check_note(false, __FILE__, __LINE__, "%s[%lld] is %g and %g, not %g", name, (long long)i, wide[i],
                       (double)single[i], want);
            return;
        }
    }
}

static void check_info(mw_tensors *tensors, const char *name, mw_dtype dtype, mw_shape shape, const char *stored)
{
    const mw_tensor_info *info = mw_tensors_find(tensors, name);
    check_note(info != NULL, __FILE__, __LINE__, "no tensor %s", name);
    if (info == NULL)
        return;
    CHECK_STR(info->name, name);
    CHECK_STR(info->stored, stored);
    CHECK_STR(mw_dtype_name(info->dtype), mw_dtype_name(dtype));
    CHECK(mw_shape_equal(info->shape, shape));
    CHECK_INT(info->size, mw_shape_count(shape) * mw_dtype_bits(dtype) / 8);
}

static void check_tensor(mw_tensors *tensors, const char *name, mw_dtype dtype, mw_shape shape, const char *stored)
{
    check_info(tensors, name, dtype, shape, stored);
    check_values(tensors, name);
}

/* ---- numpy ---- */

static void check_npy(const char *file, const char *name, mw_dtype dtype, mw_shape shape, const char *stored)
{
    mw_tensors *tensors = open_file(file);
    CHECK_STR(mw_tensors_get_info(tensors).format, "npy");
    CHECK_INT(mw_tensors_get_info(tensors).count, 1);
    check_tensor(tensors, name, dtype, shape, stored);
    mw_tensors_destroy(tensors);
}

static void test_npy_files_of_numpy_are_read(void)
{
    check_npy("f4.npy", "f4", MW_F32, MW_SHAPE(2, 3), "<f4");
    check_npy("big.npy", "big", MW_F64, MW_SHAPE(2, 3), ">f8");
    check_npy("fortran.npy", "fortran", MW_F32, MW_SHAPE(3, 4, 2), "<f4");
    check_npy("empty.npy", "empty", MW_F32, MW_SHAPE(0, 3), "<f4");
    check_npy("version2.npy", "version2", MW_I32, MW_SHAPE(5), "<i4");
    mw_tensors *tensors = open_file("scalar.npy");
    float value = 0;
    mw_error err = {0};
    check_info(tensors, "scalar", MW_F32, mw_shape_scalar(), "<f4");
    mw_tensors_read(tensors, "scalar", MW_F32, &value, 1, &err);
    CHECK_OK(err);
    CHECK(value == 2.5f);
    mw_tensors_destroy(tensors);
}

static void test_npz_files_of_numpy_are_read(void)
{
    static const struct {
        const char *name;
        mw_dtype dtype;
        const char *stored;
    } every[] = {{"f2", MW_F16, "<f2"}, {"f4", MW_F32, "<f4"}, {"f8", MW_F64, "<f8"}, {"i1", MW_I8, "|i1"},
                 {"u1", MW_U8, "|u1"},  {"i2", MW_I16, "<i2"}, {"u2", MW_U16, "<u2"}, {"i4", MW_I32, "<i4"},
                 {"u4", MW_U32, "<u4"}, {"i8", MW_I64, "<i8"}, {"u8", MW_U64, "<u8"}, {"b1", MW_BOOL, "|b1"}};
    mw_tensors *tensors = open_file("all.npz");
    CHECK_STR(mw_tensors_get_info(tensors).format, "npz");
    CHECK_INT(mw_tensors_get_info(tensors).count, 12);
    for (size_t i = 0; i < 12; i++) {
        CHECK_STR(mw_tensors_at(tensors, i)->name, every[i].name);
        check_tensor(tensors, every[i].name, every[i].dtype, MW_SHAPE(4, 6), every[i].stored);
    }
    CHECK(mw_tensors_at(tensors, 12) == NULL && mw_tensors_find(tensors, "f2.npy") == NULL);
    mw_tensors_destroy(tensors);
}

static void test_compressed_npz_files_of_numpy_are_read(void)
{
    mw_error err = {0};
    mw_tensors *tensors = mw_tensors_open(data_file("packed.npz"), &err);
    if (err.status == MW_ERROR_UNSUPPORTED && strstr(err.message, "built without zlib") != NULL)
        SKIP("built without zlib");
    CHECK_OK(err);
    check_tensor(tensors, "layer.0/weight", MW_F32, MW_SHAPE(30, 20), "<f4");
    float zeros[2000];
    memset(zeros, 1, sizeof zeros);
    mw_tensors_read(tensors, "zeros", MW_F32, zeros, 2000, &err);
    CHECK_OK(err);
    for (int i = 0; i < 2000; i++)
        CHECK(zeros[i] == 0.0f);
    mw_tensors_destroy(tensors);
}

/* ---- PyTorch ---- */

static void test_a_state_dict_of_pytorch_is_read(void)
{
    mw_tensors *tensors = open_file("state.pt");
    CHECK_STR(mw_tensors_get_info(tensors).format, "PyTorch");
    CHECK_INT(mw_tensors_get_info(tensors).count, 17);
    check_tensor(tensors, "f4", MW_F32, MW_SHAPE(4, 6), "FloatStorage");
    check_tensor(tensors, "tied", MW_F32, MW_SHAPE(4, 6), "FloatStorage");
    check_tensor(tensors, "parameter", MW_F32, MW_SHAPE(3), "FloatStorage");
    check_tensor(tensors, "f2", MW_F16, MW_SHAPE(4, 6), "HalfStorage");
    check_tensor(tensors, "bf16", MW_BF16, MW_SHAPE(4, 6), "BFloat16Storage");
    check_tensor(tensors, "f8", MW_F64, MW_SHAPE(4, 6), "DoubleStorage");
    check_tensor(tensors, "i1", MW_I8, MW_SHAPE(4, 6), "CharStorage");
    check_tensor(tensors, "u1", MW_U8, MW_SHAPE(4, 6), "ByteStorage");
    check_tensor(tensors, "i2", MW_I16, MW_SHAPE(4, 6), "ShortStorage");
    check_tensor(tensors, "i4", MW_I32, MW_SHAPE(4, 6), "IntStorage");
    check_tensor(tensors, "i8", MW_I64, MW_SHAPE(4, 6), "LongStorage");
    check_tensor(tensors, "b1", MW_BOOL, MW_SHAPE(4, 6), "BoolStorage");
    check_tensor(tensors, "none", MW_F32, MW_SHAPE(0, 3), "FloatStorage");
    mw_tensors_destroy(tensors);
}

/* Views of one storage [4, 6]: what element (i, j) of each is there. */
static void test_views_of_a_storage_are_read_in_their_own_order(void)
{
    mw_tensors *tensors = open_file("state.pt");
    float transposed[24], column[4], inner[6];
    mw_error err = {0};
    mw_tensors_read(tensors, "transposed", MW_F32, transposed, 24, &err);
    mw_tensors_read(tensors, "column", MW_F32, column, 4, &err);
    mw_tensors_read(tensors, "inner", MW_F32, inner, 6, &err);
    CHECK_OK(err);
    check_info(tensors, "transposed", MW_F32, MW_SHAPE(6, 4), "FloatStorage");
    check_info(tensors, "column", MW_F32, MW_SHAPE(4), "FloatStorage");
    check_info(tensors, "inner", MW_F32, MW_SHAPE(2, 3), "FloatStorage");
    for (int i = 0; i < 24; i++)
        CHECK(transposed[i] == value_at(MW_F32, i % 4 * 6 + i / 4));
    for (int i = 0; i < 4; i++)
        CHECK(column[i] == value_at(MW_F32, i * 6 + 2));
    for (int i = 0; i < 6; i++)
        CHECK(inner[i] == value_at(MW_F32, (1 + i / 3) * 6 + 2 + i % 3));
    mw_tensors_destroy(tensors);
}

static void test_dicts_within_a_checkpoint_are_joined_with_dots(void)
{
    static const char *const files[] = {"checkpoint.pt", "protocol4.pt"};
    for (int i = 0; i < 2; i++) {
        mw_tensors *tensors = open_file(files[i]);
        const char *prefix = i == 0 ? "state_dict." : "";
        static const struct {
            const char *name;
            mw_shape shape;
        } parts[] = {{"0.weight", {2, {3, 2}}}, {"0.bias", {1, {3}}}, {"1.weight", {1, {3}}}, {"1.bias", {1, {3}}}};
        for (size_t k = 0; k < 4; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s", prefix, parts[k].name);
            check_tensor(tensors, name, MW_F32, parts[k].shape, "FloatStorage");
        }
        mw_tensors_destroy(tensors);
    }
    mw_tensors *tensors = open_file("checkpoint.pt");
    check_info(tensors, "state_dict.1.num_batches_tracked", MW_I64, mw_shape_scalar(), "LongStorage");
    check_info(tensors, "optimizer.state.0.exp_avg", MW_F32, MW_SHAPE(3, 2), "FloatStorage");
    mw_tensors_destroy(tensors);
}

/* ---- safetensors ---- */

static void test_safetensors_are_read(void)
{
    mw_tensors *tensors = open_file("plain.safetensors");
    CHECK_STR(mw_tensors_get_info(tensors).format, "safetensors");
    check_tensor(tensors, "a.weight", MW_F32, MW_SHAPE(4, 6), "F32");
    check_tensor(tensors, "a.bias", MW_BF16, MW_SHAPE(6), "BF16");
    check_tensor(tensors, "steps", MW_I64, MW_SHAPE(3), "I64");
    CHECK_STR(mw_tensors_note_find(tensors, "note"), "by hand");
    CHECK_STR(mw_tensors_note_at(tensors, 0)->key, "format");
    CHECK(mw_tensors_note_at(tensors, 2) == NULL && mw_tensors_note_find(tensors, "x") == NULL);
    mw_tensors_destroy(tensors);
}

static void test_shards_are_read_as_one_file(void)
{
    static const char *const paths[] = {"shards", "shards/model.safetensors.index.json"};
    for (int i = 0; i < 2; i++) {
        mw_tensors *tensors = open_file(paths[i]);
        CHECK_STR(mw_tensors_get_info(tensors).format, "safetensors shards");
        CHECK_INT(mw_tensors_get_info(tensors).count, 3);
        check_tensor(tensors, "a", MW_F32, MW_SHAPE(2, 3), "F32");
        check_tensor(tensors, "b", MW_F16, MW_SHAPE(5), "F16");
        check_tensor(tensors, "c", MW_BF16, MW_SHAPE(4), "BF16");
        CHECK_STR(mw_tensors_find(tensors, "b")->file, "model-00001-of-00002.safetensors");
        CHECK_STR(mw_tensors_find(tensors, "c")->file, "model-00002-of-00002.safetensors");
        mw_tensors_destroy(tensors);
    }
}

/* ---- GGUF ---- */

static void test_plain_tensors_and_notes_of_gguf_are_read(void)
{
    mw_tensors *tensors = open_file("blocks.gguf");
    CHECK_STR(mw_tensors_get_info(tensors).format, "GGUF");
    check_tensor(tensors, "F32", MW_F32, MW_SHAPE(2, 3), "F32");
    check_tensor(tensors, "F16", MW_F16, MW_SHAPE(2, 3), "F16");
    check_tensor(tensors, "BF16", MW_BF16, MW_SHAPE(2, 3), "BF16");
    check_tensor(tensors, "I8", MW_I8, MW_SHAPE(2, 3), "I8");
    CHECK_STR(mw_tensors_note_find(tensors, "general.architecture"), "by-hand");
    CHECK_STR(mw_tensors_note_find(tensors, "n"), "-7");
    CHECK_STR(mw_tensors_note_find(tensors, "eps"), "0.5");
    CHECK_STR(mw_tensors_note_find(tensors, "on"), "true");
    CHECK_STR(mw_tensors_note_find(tensors, "words"), "[2 of string]");
    mw_tensors_destroy(tensors);
}

/* The floats that the script expanded, in the order of these types, each 3 rows of a block. */
static void test_blocks_of_gguf_are_expanded_as_their_formulas_say(void)
{
    static const char *const types[] = {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"};
    static float got[768], want[768];
    FILE *floats = fopen(data_file("blocks.f32"), "rb");
    REQUIRE(floats != NULL);
    mw_tensors *tensors = open_file("blocks.gguf");
    for (int k = 0; k < 8; k++) {
        const size_t count = k < 5 ? 96 : 768;
        mw_error err = {0};
        check_info(tensors, types[k], MW_F32, MW_SHAPE(3, (int64_t)count / 3), types[k]);
        mw_tensors_read(tensors, types[k], MW_F32, got, count, &err);
        CHECK_OK(err);
        CHECK(fread(want, sizeof *want, count, floats) == count);
        check_note(memcmp(got, want, count * sizeof *got) == 0, __FILE__, __LINE__, "%s differs", types[k]);
    }
    CHECK(fgetc(floats) == EOF);
    fclose(floats);
    mw_tensors_destroy(tensors);
}

/* ---- refusals ---- */

static void test_what_is_not_read_is_refused_by_name(void)
{
    static const struct {
        const char *file;
        mw_status status;
        const char *part;
    } rows[] = {
        {"object.npy", MW_ERROR_UNSUPPORTED, "Python objects, which are a pickle"},
        {"complex.npy", MW_ERROR_UNSUPPORTED, "complex numbers"},
        {"fields.npy", MW_ERROR_UNSUPPORTED, "structured"},
        {"old.pt", MW_ERROR_FORMAT, "a bare pickle"},
        {"module.pt", MW_ERROR_UNSUPPORTED, "made by the global \"torch.nn.modules.container Sequential\""},
        {"expanded.pt", MW_ERROR_UNSUPPORTED, "\"x\": it has more elements than its storage (an expanded view)"},
        {"sparse.pt", MW_ERROR_UNSUPPORTED, "torch._utils _rebuild_sparse_tensor"},
        {"complex.pt", MW_ERROR_UNSUPPORTED, "torch ComplexFloatStorage"},
        {"unknown.gguf", MW_ERROR_UNSUPPORTED, "type 10 (Q2_K)"},
        {"make.py", MW_ERROR_FORMAT, "none of safetensors"},
        {"missing.npz", MW_ERROR_FILE, "missing.npz"},
        {"..", MW_ERROR_FILE, "has neither model.safetensors.index.json nor model.safetensors"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mw_error err = {0};
        CHECK(mw_tensors_open(data_file(rows[i].file), &err) == NULL);
        CHECK_ERROR(err, rows[i].status, rows[i].part);
        CHECK_CONTAINS(err.message, rows[i].file);
    }
}

/* ---- files with more than what is read ---- */

/* The tensors as make.py has them: [n] of float32. */
static void check_known(mw_tensors *tensors, const char *name, size_t count)
{
    mw_error err = {0};
    float values[6];
    mw_tensors_read(tensors, name, MW_F32, values, count, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", name, err.message);
    for (size_t i = 0; i < count && err.status == MW_OK; i++)
        CHECK_NEAR((double)values[i], ((double)(i * 7 % 23) - 11) / 4, 0);
}

static void check_left_out(mw_tensors *tensors, const char *name, const char *reason)
{
    const mw_tensors_note *found = NULL, *item;
    for (size_t i = 0; (item = mw_tensors_left_out_at(tensors, i)) != NULL; i++)
        if (strcmp(item->key, name) == 0)
            found = item;
    check_note(found != NULL && strstr(found->value, reason) != NULL, __FILE__, __LINE__, "%s: %s", name,
               found != NULL ? found->value : "not listed");
    mw_error err = {0};
    float value;
    mw_tensors_read(tensors, name, MW_F32, &value, 1, &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "is not read: ");
}

static void test_a_checkpoint_is_read_beside_objects_that_are_not(void)
{
    static const struct {
        const char *name, *reason;
    } rows[] = {
        {"args", "argparse Namespace"},
        {"best", "numpy.core.multiarray scalar"},
        {"random.1", "numpy.core.multiarray _reconstruct"},
        {"path", "pathlib PurePosixPath"},
        {"complex", "torch ComplexFloatStorage"},
        {"sparse", "torch._utils _rebuild_sparse_tensor"},
        {"expanded", "an expanded view"},
        {"module", "torch.nn.modules.container Sequential"},
    };
    static const char *const files[] = {"beside2.pt", "beside4.pt"};
    for (int f = 0; f < 2; f++) {
        mw_error err = {0};
        mw_tensors *tensors = mw_tensors_open(data_file(files[f]), &err);
        CHECK_OK(err);
        REQUIRE(tensors != NULL);
        CHECK_INT(mw_tensors_get_info(tensors).count, 3);
        check_known(tensors, "w", 6);
        check_known(tensors, "parameter", 3);
        check_known(tensors, "state.0.exp", 3);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            check_left_out(tensors, rows[i].name, rows[i].reason);
        CHECK(mw_tensors_left_out_at(tensors, 1000) == NULL);
        mw_tensors_destroy(tensors);
    }
}

static void test_a_tensor_that_is_saved_alone_has_the_name_of_the_file(void)
{
    mw_error err = {0};
    mw_tensors *tensors = mw_tensors_open(data_file("alone.pt"), &err);
    REQUIRE(tensors != NULL);
    check_known(tensors, "alone", 6);
    mw_tensors_destroy(tensors);
    tensors = mw_tensors_open(data_file("list.pt"), &err);
    REQUIRE(tensors != NULL);
    check_known(tensors, "0", 6);
    mw_tensors_destroy(tensors);
    CHECK_OK(err);
}

static void test_a_type_that_is_not_read_leaves_the_other_tensors(void)
{
    static const struct {
        const char *file, *read, *left_out, *reason;
    } rows[] = {
        {"words.npz", "w", "words", "'<U2'"},
        {"words.npz", "w", "objects", "a pickle"},
        {"words.npz", "w", "pairs", "structured"},
        {"eight.safetensors", "w", "scale", "type F8_E4M3"},
        {"eight.safetensors", "w", "last", "type F8_E5M2"},
        {"mixed.gguf", "F32", "Q4_0", "type 10 (Q2_K)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mw_error err = {0};
        mw_tensors *tensors = mw_tensors_open(data_file(rows[i].file), &err);
        CHECK_OK(err);
        REQUIRE(tensors != NULL);
        check_known(tensors, rows[i].read, 6);
        check_left_out(tensors, rows[i].left_out, rows[i].reason);
        mw_tensors_destroy(tensors);
    }
}

/* What others write is named, with the way to here. */
static void test_files_of_others_are_named_with_what_to_do(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *part;
    } rows[] = {
        {"\x89HDF\r\n\x1a\n........", 16, "HDF5 (Keras .h5, MATLAB .mat 7.3): read it with h5py"},
        {"MATLAB 5.0 MAT-file, Platform", 29, "scipy.io.loadmat"},
        {"\x1c\0\0\0TFL3....", 12, "TensorFlow Lite: convert it with tf2onnx"},
        {"\x80\2\x8a\nl\xfc\x9c\x46\xf9", 9, "a bare pickle"},
    };
    char path[] = "/tmp/mw-strange-XXXXXX";
    const int file = mkstemp(path);
    REQUIRE(file >= 0);
    close(file);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mw_error err = {0};
        FILE *out = fopen(path, "wb");
        REQUIRE(out != NULL);
        fwrite(rows[i].bytes, 1, rows[i].size, out);
        fclose(out);
        CHECK(mw_tensors_open(path, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_FORMAT, rows[i].part);
    }
    unlink(path);
}

static void expect_refused(const char *name, mw_dtype dtype, size_t count, mw_status status, const char *part)
{
    mw_tensors *tensors = open_file("plain.safetensors");
    double out[32];
    mw_error err = {0};
    mw_tensors_read(tensors, name, dtype, out, count, &err);
    CHECK_ERROR(err, status, part);
    mw_tensors_destroy(tensors);
}

static void test_values_that_do_not_fit_are_refused_with_tensor_element_and_value(void)
{
    expect_refused("large", MW_I32, 3, MW_ERROR_ARGUMENT, "element 1 of \"large\" is 9007199254740993");
    expect_refused("large", MW_F32, 3, MW_ERROR_ARGUMENT, "element 1 of \"large\" is 9007199254740993");
    expect_refused("wide", MW_F32, 3, MW_ERROR_NUMERIC, "element 1 of \"wide\" is 1e+300, too large");
    expect_refused("a.weight", MW_I32, 24, MW_ERROR_ARGUMENT, "element 0 of \"a.weight\" is -2.75, no integer");
    expect_refused("bad", MW_BOOL, 3, MW_ERROR_FORMAT, "element 2 of \"bad\" is 2, no bool");
    expect_refused("steps", MW_U64, 3, MW_ERROR_DTYPE, "\"steps\"");
    expect_refused("steps", MW_I64, 2, MW_ERROR_SHAPE, "\"steps\" has 3 elements, not 2");
    expect_refused("step", MW_I64, 2, MW_ERROR_ARGUMENT, "no tensor \"step\"");
}

static void test_a_number_is_rounded_once(void)
{
    mw_tensors *tensors = open_file("plain.safetensors");
    int64_t large[3];
    uint16_t half[24];
    mw_error err = {0};
    mw_tensors_read(tensors, "large", MW_I64, large, 3, &err);
    mw_tensors_read(tensors, "a.weight", MW_F16, half, 24, &err);
    CHECK_OK(err);
    CHECK(large[1] == (INT64_C(1) << 53) + 1);
    for (int i = 0; i < 24; i++)
        CHECK((double)mw__fp16_to_float(half[i]) == value_at(MW_F32, i));
    mw_tensors_destroy(tensors);
}

int main(void)
{
    RUN(test_npy_files_of_numpy_are_read);
    RUN(test_npz_files_of_numpy_are_read);
    RUN(test_compressed_npz_files_of_numpy_are_read);
    RUN(test_a_state_dict_of_pytorch_is_read);
    RUN(test_views_of_a_storage_are_read_in_their_own_order);
    RUN(test_dicts_within_a_checkpoint_are_joined_with_dots);
    RUN(test_safetensors_are_read);
    RUN(test_shards_are_read_as_one_file);
    RUN(test_plain_tensors_and_notes_of_gguf_are_read);
    RUN(test_blocks_of_gguf_are_expanded_as_their_formulas_say);
    RUN(test_what_is_not_read_is_refused_by_name);
    RUN(test_a_checkpoint_is_read_beside_objects_that_are_not);
    RUN(test_a_tensor_that_is_saved_alone_has_the_name_of_the_file);
    RUN(test_a_type_that_is_not_read_leaves_the_other_tensors);
    RUN(test_files_of_others_are_named_with_what_to_do);
    RUN(test_values_that_do_not_fit_are_refused_with_tensor_element_and_value);
    RUN(test_a_number_is_rounded_once);
    return check_finish();
}
