/* Weight files: the layout byte for byte, reading by offset, and what a hostile file may try. */
#include "base/file/file.h"
#include "mil/weights/blob.h"
#include "support/check.h"
#include "support/failing.h"
#include <millwright/mil.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder; /* a private one for the running test */

static void begin(void)
{
    mw_error err = {0};
    char path[1024];
    if (mw__file_make_private_folder(NULL, 0, &folder, &err) != MW_OK)
        folder = NULL;
    snprintf(path, sizeof path, "%s/w", folder);
    (void)mkdir(path, 0700);
}

static void end(void)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/w", folder);
    mw__file_remove_folder(path);
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
}

static const char *in_folder(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(unsigned char *bytes, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

/* One int8 [4] entry {-128, -1, 0, 127}: 192 bytes. */
static void make_file(unsigned char out[192])
{
    memset(out, 0, 192);
    put(out, 4, 1);
    put(out + 4, 4, 2);
    put(out + 64, 4, 0xdeadbeef);
    put(out + 68, 4, 4);
    put(out + 72, 8, 4);
    put(out + 80, 8, 128);
    put(out + 128, 4, 0x7f00ff80);
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    mw_error err = {0};
    mw__file_write(NULL, in_folder(name), bytes, size, false, &err);
    CHECK_OK(err);
}

/* A program with one constant at that place. */
static mw_graph *read_as(const char *type, const char *path, const char *offset, mw_error *err)
{
    char text[1024];
    snprintf(text, sizeof text,
             "program(1.3){func main<ios18>(fp16 x){%s c = const()[val = %s(BLOBFILE(path = string(\"%s\"), offset = "
             "uint64(%s)))];} -> (x);}",
             type, type, path, offset);
    return mw_graph_parse_mil(text, strlen(text), folder, NULL, err);
}

#define WEIGHTS "@model_path/w/weight.bin"
#define INT8    "tensor<int8, [4]>"

static void test_layout_is_that_of_a_published_file(void)
{
    const int8_t values[] = {-128, -1, 0, 127};
    const mw__type type = {.kind = MW__TENSOR, .dtype = MW_I8, .shape = MW_SHAPE(4)};
    const mw__payload payload = {.type = &type, .data = values, .size = 4};
    unsigned char wanted[192];
    mw__blob_list list;
    mw_error err = {0};
    uint64_t offset = 0;
    char *bytes = NULL;
    size_t size = 0;
    begin();
    make_file(wanted);
    mw__blob_list_init(&list, NULL);
    mw__blob_list_add(&list, &payload, 0, &offset, &err);
    mw__blob_list_write(&list, in_folder("w/weight.bin"), false, &err);
    mw__blob_list_deinit(&list);
    mw__file_read(NULL, in_folder("w/weight.bin"), 1 << 20, &bytes, &size, &err);
    CHECK_OK(err);
    CHECK_INT(offset, 64);
    if (CHECK_INT(size, 192))
        CHECK(memcmp(bytes, wanted, 192) == 0);
    mw__free(NULL, bytes);
    end();
}

static void test_every_type_code_round_trips(void)
{
    static const struct {
        const char *name;
        mw_dtype dtype;
        uint32_t code;
    } types[] = {
        {"fp16", MW_F16, 1},       {"fp32", MW_F32, 2},   {"uint8", MW_U8, 3},    {"int8", MW_I8, 4},
        {"bf16", MW_BF16, 5},      {"int16", MW_I16, 6},  {"uint16", MW_U16, 7},  {"int4", MW_I4, 8},
        {"uint1", MW_U1, 9},       {"uint2", MW_U2, 10},  {"uint4", MW_U4, 11},   {"uint3", MW_U3, 12},
        {"uint6", MW_U6, 13},      {"int32", MW_I32, 14}, {"uint32", MW_U32, 15}, {"fp8e4m3fn", MW_F8E4M3FN, 16},
        {"fp8e5m2", MW_F8E5M2, 17}};
    unsigned char values[44];
    mw_error err = {0};
    mw__blob_list list;
    uint64_t offsets[17];
    mw__type kinds[17];
    mw__payload payloads[17];
    begin();
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (unsigned char)(i * 7 + 1);
    values[1] = 0x05; /* 11 one-bit elements: 3 bits of the second byte */
    mw__blob_list_init(&list, NULL);
    for (size_t i = 0; i < 17; i++) {
        CHECK_INT(mw__blob_code(types[i].dtype), types[i].code);
        kinds[i] = (mw__type){.kind = MW__TENSOR, .dtype = types[i].dtype, .shape = MW_SHAPE(11)};
        payloads[i] = (mw__payload){.type = &kinds[i], .data = values};
        mw__blob_list_add(&list, &payloads[i], 0, &offsets[i], &err);
        CHECK_INT(offsets[i] % 64, 0);
    }
    mw__blob_list_write(&list, in_folder("w/weight.bin"), false, &err);
    mw__blob_list_deinit(&list);
    CHECK_OK(err);
    for (size_t i = 0; i < 17; i++) {
        char type[64], offset[32];
        snprintf(type, sizeof type, "tensor<%s, [11]>", types[i].name);
        snprintf(offset, sizeof offset, "%llu", (unsigned long long)offsets[i]);
        mw_graph *graph = read_as(type, WEIGHTS, offset, &err);
        const size_t bytes = (size_t)(11 * mw_dtype_bits(types[i].dtype) + 7) / 8;
        CHECK_OK(err);
        if (graph != NULL) {
            const mw__payload *payload = mw_graph_find(graph, "c")->payload;
            CHECK_INT(payload->size, bytes);
            CHECK(memcmp(payload->data, values, bytes) == 0);
        }
        mw_graph_destroy(graph);
    }
    CHECK_INT(mw__blob_code(MW_BOOL), 0);
    CHECK_INT(mw__blob_code(MW_I64), 0);
    end();
}

static void test_garbage_in_reserved_fields_is_ignored(void)
{
    unsigned char file[192];
    mw_error err = {0};
    begin();
    make_file(file);
    put(file, 4, 99); /* the count is wrong in some files */
    memset(file + 88, 0xa5, 40);
    write_bytes("w/weight.bin", file, sizeof file);
    mw_graph *graph = read_as(INT8, WEIGHTS, "64", &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    end();
}

static const struct {
    const char *what;
    size_t at, size;
    uint64_t value;
    const char *type, *offset;
    mw_status status;
    const char *message;
} refused[] = {
    {.what = "version 1",
     .at = 4,
     .size = 4,
     .value = 1,
     .type = INT8,
     .offset = "64",
     .status = MW_ERROR_UNSUPPORTED,
     .message = "version 1"},
    {.what = "wrong sentinel",
     .at = 64,
     .size = 4,
     .value = 0xdeadbeee,
     .type = INT8,
     .offset = "64",
     .status = MW_ERROR_FORMAT,
     .message = "sentinel"},
    {.what = "another type",
     .at = 68,
     .size = 4,
     .value = 3,
     .type = INT8,
     .offset = "64",
     .status = MW_ERROR_DTYPE,
     .message = "type code 3"},
    {.what = "too many bytes",
     .at = 72,
     .size = 8,
     .value = 5,
     .type = INT8,
     .offset = "64",
     .status = MW_ERROR_SHAPE,
     .message = "has 5 bytes"},
    {.what = "bytes that wrap",
     .at = 72,
     .size = 8,
     .value = UINT64_MAX,
     .type = INT8,
     .offset = "64",
     .status = MW_ERROR_SHAPE,
     .message = "bytes"},
    {.what = "data past the end",
     .at = 80,
     .size = 8,
     .value = 189,
     .type = INT8,
     .offset = "64",
     .status = MW_ERROR_FORMAT,
     .message = "outside the file"},
    {.what = "data that wrap",
     .at = 80,
     .size = 8,
     .value = UINT64_MAX - 1,
     .type = INT8,
     .offset = "64",
     .status = MW_ERROR_FORMAT,
     .message = "outside the file"},
    {.what = "entry past the end",
     .at = 0,
     .size = 4,
     .value = 1,
     .type = INT8,
     .offset = "192",
     .status = MW_ERROR_FORMAT,
     .message = "outside the file"},
    {.what = "entry cut by the end",
     .at = 0,
     .size = 4,
     .value = 1,
     .type = INT8,
     .offset = "129",
     .status = MW_ERROR_FORMAT,
     .message = "outside the file"},
    {.what = "entry at 2^64 - 1",
     .at = 0,
     .size = 4,
     .value = 1,
     .type = INT8,
     .offset = "18446744073709551615",
     .status = MW_ERROR_FORMAT,
     .message = "outside the file"},
    {.what = "unaligned entry",
     .at = 0,
     .size = 4,
     .value = 1,
     .type = INT8,
     .offset = "65",
     .status = MW_ERROR_FORMAT,
     .message = "sentinel"},
    {.what = "declared larger",
     .at = 0,
     .size = 4,
     .value = 1,
     .type = "tensor<int8, [5]>",
     .offset = "64",
     .status = MW_ERROR_SHAPE,
     .message = "has 4 bytes"},
    {.what = "declared huge",
     .at = 0,
     .size = 4,
     .value = 1,
     .type = "tensor<int8, [4611686018427387904, 2]>",
     .offset = "64",
     .status = MW_ERROR_SHAPE,
     .message = ""},
    {.what = "a type that no file holds",
     .at = 0,
     .size = 4,
     .value = 1,
     .type = "tensor<bool, [4]>",
     .offset = "64",
     .status = MW_ERROR_DTYPE,
     .message = "type code 4"},
    {.what = "unused bits that are not",
     .at = 88,
     .size = 8,
     .value = 1,
     .type = "tensor<int4, [8]>",
     .offset = "64",
     .status = MW_ERROR_DTYPE,
     .message = ""},
};

static void test_entries_that_do_not_fit_are_refused(void)
{
    begin();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        unsigned char file[192];
        mw_error err = {0};
        make_file(file);
        put(file + refused[i].at, refused[i].size, refused[i].value);
        write_bytes("w/weight.bin", file, sizeof file);
        mw_graph *graph = read_as(refused[i].type, WEIGHTS, refused[i].offset, &err);
        check_note(graph == NULL && err.status == refused[i].status && strstr(err.message, refused[i].message) != NULL,
                   __FILE__, __LINE__, "%s: %d \"%s\"", refused[i].what, (int)err.status, err.message);
        check_note(err.text_line == 1, __FILE__, __LINE__, "%s: no place in the text", refused[i].what);
        mw_graph_destroy(graph);
    }
    end();
}

static void test_padding_of_sub_byte_types_is_checked(void)
{
    unsigned char file[192];
    mw_error err = {0};
    begin();
    make_file(file);
    put(file + 68, 4, 8);
    put(file + 88, 8, 4); /* 7 x 4 bits in 4 bytes: 4 unused */
    write_bytes("w/weight.bin", file, sizeof file);
    mw_graph *graph = read_as("tensor<int4, [7]>", WEIGHTS, "64", &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    graph = read_as("tensor<int4, [8]>", WEIGHTS, "64", &err);
    CHECK(graph == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "4 unused bits");
    end();
}

static void test_a_file_cut_at_every_byte_is_an_error(void)
{
    unsigned char file[192];
    begin();
    make_file(file);
    for (size_t size = 0; size < 132; size++) {
        mw_error err = {0};
        write_bytes("w/weight.bin", file, size);
        mw_graph *graph = read_as(INT8, WEIGHTS, "64", &err);
        check_note(graph == NULL && err.status == MW_ERROR_FORMAT, __FILE__, __LINE__, "%zu bytes: %d %s", size,
                   (int)err.status, err.message);
        mw_graph_destroy(graph);
    }
    end();
}

static void test_entries_that_overlap_cannot_multiply_memory(void)
{
    unsigned char file[256] = {0};
    static const char text[] =
        "program(1.3){func main<ios18>(fp16 x){"
        "tensor<int8, [200]> a = const()[val = tensor<int8, [200]>(BLOBFILE(path = string(\"" WEIGHTS
        "\"), offset = uint64(64)))];"
        "tensor<int8, [200]> b = const()[val = tensor<int8, [200]>(BLOBFILE(path = string(\"" WEIGHTS
        "\"), offset = uint64(64)))];"
        "tensor<int8, [200]> c = const()[val = tensor<int8, [200]>(BLOBFILE(path = string(\"" WEIGHTS
        "\"), offset = uint64(128)))];} -> (x);}";
    mw_error err = {0};
    begin();
    put(file + 4, 4, 2);
    for (size_t at = 64; at <= 128; at += 64) {
        put(file + at, 4, 0xdeadbeef);
        put(file + at + 4, 4, 4);
        put(file + at + 8, 8, 200);
        put(file + at + 16, 8, 0);
    }
    write_bytes("w/weight.bin", file, sizeof file);
    CHECK(mw_graph_parse_mil(text, sizeof text - 1, folder, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "overlap");
    end();
}

static void test_one_entry_named_twice_is_read_once(void)
{
    static const char text[] =
        "program(1.3){func main<ios18>(fp16 x){" INT8 " a = const()[val = " INT8 "(BLOBFILE(path = string(\"" WEIGHTS
        "\"), offset = uint64(64)))];" INT8 " b = const()[val = " INT8 "(BLOBFILE(path = string(\"" WEIGHTS
        "\"), offset = uint64(64)))];} -> (x);}";
    unsigned char file[192];
    mw_error err = {0};
    begin();
    make_file(file);
    write_bytes("w/weight.bin", file, sizeof file);
    mw_graph *graph = mw_graph_parse_mil(text, sizeof text - 1, folder, NULL, &err);
    CHECK_OK(err);
    if (graph != NULL)
        CHECK(mw_graph_find(graph, "a")->payload->data == mw_graph_find(graph, "b")->payload->data);
    mw_graph_destroy(graph);
    end();
}

static void test_paths_never_leave_the_folder(void)
{
    static const char *const paths[] = {"/etc/passwd",
                                        "weight.bin",
                                        "@model_path/../x",
                                        "@model_path//etc/passwd",
                                        "@model_path/w/../w/a",
                                        "@model_path/link",
                                        "@model_path/way/weight.bin",
                                        "@model_path/fifo",
                                        "@model_path/w",
                                        "@model_path/",
                                        "@model_path/none",
                                        "@model_path",
                                        ""};
    unsigned char file[192];
    begin();
    make_file(file);
    write_bytes("w/weight.bin", file, sizeof file);
    char target[1024];
    snprintf(target, sizeof target, "%s/w", folder);
    CHECK(symlink("/etc/passwd", in_folder("link")) == 0);
    CHECK(symlink(target, in_folder("way")) == 0);
    CHECK(mkfifo(in_folder("fifo"), 0600) == 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        mw_error err = {0};
        mw_graph *graph = read_as(INT8, paths[i], "64", &err);
        check_note(graph == NULL && err.status != MW_OK, __FILE__, __LINE__, "\"%s\" was read", paths[i]);
        mw_graph_destroy(graph);
    }
    (void)unlink(in_folder("link"));
    (void)unlink(in_folder("way"));
    (void)unlink(in_folder("fifo"));
    end();
}

static void test_a_graph_written_and_read_has_the_same_bytes(void)
{
    float values[64];
    mw_error err = {0};
    char path[1024];
    begin();
    for (int i = 0; i < 64; i++)
        values[i] = (float)i / 7.0f - 3.0f;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *c = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(8, 8), values), "c");
    mw_argument arguments[] = {{"x", &c, 1}};
    mw_tensor *y = NULL;
    mw_op(graph, "relu", arguments, 1, &y, 1, &err);
    mw_output(y, "y");
    snprintf(path, sizeof path, "%s/w/out", folder);
    mw_graph_write(graph, path, NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    strcat(path, "/model.mil");
    graph = mw_graph_open_mil(path, NULL, &err);
    CHECK_OK(err);
    if (graph != NULL && CHECK(mw_graph_find(graph, "c") != NULL)) {
        const mw__payload *payload = mw_graph_find(graph, "c")->payload;
        CHECK_STR(payload->blob_path, "@model_path/weights/weight.bin");
        if (CHECK_INT(payload->size, sizeof values))
            CHECK(memcmp(payload->data, values, sizeof values) == 0);
    }
    mw_graph_destroy(graph);
    (void)unlink(path);
    mw__file_remove_folder(in_folder("w/out/weights"));
    mw__file_remove_folder(in_folder("w/out"));
    end();
}

/* Writes a graph with a blob and reads it back, with every allocation failing in turn. */
static void test_every_failed_allocation_is_an_error_without_a_leak(void)
{
    char path[1024], text[1100];
    float values[64] = {0};
    begin();
    snprintf(path, sizeof path, "%s/w/out", folder);
    snprintf(text, sizeof text, "%s/model.mil", path);
    for (long n = 0; n < 10000; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(&options, NULL);
        if (graph != NULL) {
            mw_output(mw_constant(graph, MW_F32, MW_SHAPE(8, 8), values), "y");
            mw_graph_write(graph, path, NULL, &err);
        }
        mw_graph *again = graph != NULL && err.status == MW_OK ? mw_graph_open_mil(text, &options, &err) : NULL;
        check_note(again != NULL || failing.failed, __FILE__, __LINE__, "allocation %ld: %s", n, err.message);
        const bool done = again != NULL && !failing.failed;
        mw_graph_destroy(graph);
        mw_graph_destroy(again);
        CHECK_INT(failing.live, 0);
        if (done)
            break;
    }
    (void)unlink(text);
    mw__file_remove_folder(in_folder("w/out/weights"));
    mw__file_remove_folder(in_folder("w/out"));
    end();
}

int main(void)
{
    RUN(test_layout_is_that_of_a_published_file);
    RUN(test_every_type_code_round_trips);
    RUN(test_garbage_in_reserved_fields_is_ignored);
    RUN(test_entries_that_do_not_fit_are_refused);
    RUN(test_padding_of_sub_byte_types_is_checked);
    RUN(test_a_file_cut_at_every_byte_is_an_error);
    RUN(test_entries_that_overlap_cannot_multiply_memory);
    RUN(test_one_entry_named_twice_is_read_once);
    RUN(test_paths_never_leave_the_folder);
    RUN(test_a_graph_written_and_read_has_the_same_bytes);
    RUN(test_every_failed_allocation_is_an_error_without_a_leak);
    return check_finish();
}
