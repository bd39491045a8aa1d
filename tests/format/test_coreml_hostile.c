/* Packages that were made to harm: cut at every byte, every allocation that fails, memory, nesting, paths. */
#include "format/package.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <errno.h>
#include <millwright/coreml.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static mw_status read_with(const char *path, const mw_allocator *allocator, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    mw_coreml *model = mw_coreml_open(path, &options, err);
    mw_coreml_destroy(model);
    return err->status;
}

static const char *const recorded[] = {"literals", "functions", "classifier", "pipeline"};

/* ---- cut and changed ---- */

static void cut_everywhere(const char *name)
{
    char from[512], path[1024], folder[512];
    size_t size;
    snprintf(from, sizeof from, RECORDED "%s.mlpackage", name);
    REQUIRE(folder_enter(folder) && package_copy(from, "p"));
    snprintf(path, sizeof path, "%s/" MODEL, from);
    char *data = package_read_file(path, &size);
    for (size_t cut = 0; cut < size; cut++) {
        mw_error err = {0};
        CHECK(package_write_file("p/" MODEL, data, cut));
        read_with("p", NULL, &err); /* a cut between two fields is another model: it only must not do harm */
        data[cut] ^= 0x55;
        CHECK(package_write_file("p/" MODEL, data, size));
        err = (mw_error){0};
        read_with("p", NULL, &err);
        data[cut] ^= 0x55;
    }
    free(data);
    folder_leave(folder);
}

static void test_models_cut_or_changed_at_every_byte_do_no_harm(void)
{
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        cut_everywhere(recorded[i]);
}

static void test_a_cut_program_is_malformed(void)
{
    char folder[512];
    size_t size;
    REQUIRE(folder_enter(folder) && package_copy(RECORDED "literals.mlpackage", "p"));
    char *data = package_read_file("p/" MODEL, &size);
    for (size_t cut = size / 2; cut < size; cut++) { /* within the last field of the model */
        mw_error err = {0};
        CHECK(package_write_file("p/" MODEL, data, cut));
        CHECK(read_with("p", NULL, &err) == MW_ERROR_FORMAT);
    }
    free(data);
    folder_leave(folder);
}

static void test_a_cut_manifest_and_compiled_model_are_malformed(void)
{
    char folder[512];
    size_t size;
    REQUIRE(folder_enter(folder) && package_copy(RECORDED "literals.mlpackage", "p"));
    char *data = package_read_file("p/Manifest.json", &size);
    for (size_t cut = 0; cut + 1 < size; cut++) {
        mw_error err = {0};
        CHECK(package_write_file("p/Manifest.json", data, cut));
        CHECK(read_with("p", NULL, &err) == MW_ERROR_FORMAT);
    }
    free(data);
    folder_leave(folder);
}

/* coremldata.bin of a program with an empty description, and its text. */
static size_t make_compiled(unsigned char *out)
{
    memset(out, 0, 0x53);
    out[0] = 0xf6;
    out[1] = 0x01;
    out[0x1c] = 7;
    memcpy(out + 0x24, "generic", 7);
    out[0x2b] = 7;
    return 0x53;
}

static void test_compiled_models_are_read_and_cut(void)
{
    char folder[512], text_path[] = RECORDED "literals.mil";
    unsigned char header[128];
    size_t text_size;
    const size_t size = make_compiled(header);
    mw_error err = {0};
    char *text = package_read_file(text_path, &text_size);
    REQUIRE(text != NULL && folder_enter(folder));
    CHECK(package_write_file("model.mil", text, text_size) && package_write_file("coremldata.bin", header, size));
    mw_coreml *model = mw_coreml_open(".", NULL, &err);
    CHECK_OK(err);
    CHECK_INT(mw_coreml_get_info(model).specification, 7);
    mw_coreml_destroy(model);
    for (size_t cut = 0; cut < size; cut++) {
        err = (mw_error){0};
        CHECK(package_write_file("coremldata.bin", header, cut));
        CHECK(read_with(".", NULL, &err) == MW_ERROR_FORMAT);
    }
    free(text);
    folder_leave(folder);
}

static void put_compiled(const char *folder, unsigned kind, const char *text, size_t text_size)
{
    unsigned char header[128];
    char path[64];
    const size_t size = make_compiled(header);
    header[0] = (unsigned char)kind;
    header[1] = (unsigned char)(kind >> 8);
    CHECK(mkdir(folder, 0700) == 0 || errno == EEXIST);
    snprintf(path, sizeof path, "%s/coremldata.bin", folder);
    CHECK(package_write_file(path, header, size));
    snprintf(path, sizeof path, "%s/model.mil", folder);
    CHECK(text == NULL || package_write_file(path, text, text_size));
}

static void test_a_compiled_pipeline_is_its_parts(void)
{
    char folder[512];
    size_t size;
    mw_error err = {0};
    char *text = package_read_file(RECORDED "literals.mil", &size);
    REQUIRE(text != NULL && folder_enter(folder));
    put_compiled("p", 202, NULL, 0);
    CHECK(read_with("p", NULL, &err) == MW_ERROR_FORMAT);
    CHECK_CONTAINS(err.message, "a pipeline of no models");
    put_compiled("p/model0", 502, text, size);
    put_compiled("p/model1", 610, NULL, 0);
    err = (mw_error){0};
    mw_coreml *model = mw_coreml_open("p", NULL, &err);
    CHECK_OK(err);
    CHECK_STR(mw_coreml_get_info(model).kind, "pipeline");
    CHECK_INT(mw_coreml_get_info(model).part_count, 2);
    CHECK(mw_coreml_graph(mw_coreml_part(model, 0), &err) != NULL);
    CHECK_STR(mw_coreml_get_info(mw_coreml_part(model, 1)).name, "model1");
    CHECK(mw_coreml_graph(mw_coreml_part(model, 1), &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "nonMaximumSuppression");
    mw_coreml_destroy(model);
    for (int i = 0; i < 6; i++) { /* a pipeline in a pipeline in .. */
        char path[64] = "p";
        for (int k = 0; k <= i; k++)
            strcat(path, "/model0");
        put_compiled(path, 202, NULL, 0);
    }
    err = (mw_error){0};
    CHECK(read_with("p", NULL, &err) == MW_ERROR_FORMAT);
    CHECK_CONTAINS(err.message, "deeper than");
    free(text);
    folder_leave(folder);
}

/* ---- memory ---- */

static void test_every_allocation_may_fail(void)
{
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        char path[512];
        snprintf(path, sizeof path, RECORDED "%s.mlpackage", recorded[i]);
        bool good = false;
        for (long n = 0; !good; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            good = read_with(path, &allocator, &err) == MW_OK;
            check_note(good ? !failing.failed : err.status == MW_ERROR_MEMORY, __FILE__, __LINE__,
                       "%s, allocation %ld: %d %s", recorded[i], n, (int)err.status, err.message);
            CHECK_INT(failing.live, 0);
            REQUIRE(n < 20000);
        }
    }
}

/* Counts what is held, and its peak. */
typedef struct measured {
    size_t now, peak;
} measured;

static void *measure(void *user, void *pointer, size_t size)
{
    enum { HEAD = 16 };
    measured *m = user;
    unsigned char *block = pointer != NULL ? (unsigned char *)pointer - HEAD : NULL;
    m->now -= block != NULL ? *(size_t *)(void *)block : 0;
    if (size == 0) {
        free(block);
        return NULL;
    }
    block = realloc(block, size + HEAD);
    *(size_t *)(void *)block = size;
    m->now += size;
    m->peak = m->now > m->peak ? m->now : m->peak;
    return block + HEAD;
}

static size_t put_varint(unsigned char *out, uint64_t value)
{
    size_t size = 0;
    for (; value > 127; value >>= 7)
        out[size++] = (unsigned char)(value | 128);
    out[size++] = (unsigned char)value;
    return size;
}

/* Wraps data[0..size) as field `number` in place; returns the new size. */
static size_t wrap(unsigned char *data, size_t size, unsigned number)
{
    unsigned char head[20];
    size_t length = put_varint(head, number << 3 | 2u);
    length += put_varint(head + length, size);
    memmove(data + length, data, size);
    memcpy(data, head, length);
    return size + length;
}

/* A program of ios16 whose one block holds `data`. */
static size_t wrap_block(unsigned char *data, size_t size)
{
    static const unsigned char opset[] = "\x12\x07"
                                         "CoreML6",
                               key[] = "\x0a\x07"
                                       "CoreML6",
                               name[] = "\x0a\x04"
                                        "main";
    size = wrap(data, size, 2);
    memmove(data + sizeof key - 1, data, size);
    memcpy(data, key, sizeof key - 1);
    size = wrap(data, size + sizeof key - 1, 3);
    memmove(data + sizeof opset - 1, data, size);
    memcpy(data, opset, sizeof opset - 1);
    size = wrap(data, size + sizeof opset - 1, 2);
    memmove(data + sizeof name - 1, data, size);
    memcpy(data, name, sizeof name - 1);
    size = wrap(data, size + sizeof name - 1, 2);
    return wrap(data, size, 502);
}

/* Reads a model of these bytes, with what it takes held to the bound of the header. */
static mw_status read_bounded(const unsigned char *data, size_t size, const char *what, mw_error *err)
{
    measured m = {0};
    const mw_allocator allocator = {.resize = measure, .user = &m};
    CHECK(package_write_file("p/" MODEL, data, size));
    read_with("p", &allocator, err);
    check_note(m.peak <= 256 * size + ((size_t)16 << 20), __FILE__, __LINE__, "%s: %zu bytes for %zu", what, m.peak,
               size);
    CHECK_INT(m.now, 0);
    return err->status;
}

/* `count` copies of a message, as field `number` of the block. */
static void repeat(const char *what, const char *unit, size_t unit_size, size_t count, unsigned number)
{
    mw_error err = {0};
    unsigned char *data = malloc(count * (unit_size + 8) + 256);
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += put_varint(data + size, number << 3 | 2u);
        size += put_varint(data + size, unit_size);
        memcpy(data + size, unit, unit_size);
        size += unit_size;
    }
    CHECK(read_bounded(data, wrap_block(data, size), what, &err) != MW_OK || number == 0);
    free(data);
}

static void test_many_small_messages_stay_within_the_bound(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder) && package_copy(RECORDED "literals.mlpackage", "p"));
    repeat("operations", "", 0, 500000, 3);
    repeat("outputs", "", 0, 500000, 2);
    repeat("attributes", "", 0, 500000, 4);
    repeat("relu", "\x0a\x04relu", 6, 200000, 3);
    folder_leave(folder);
}

/* A constant with `elements` zeros along one axis, of the type that the schema numbers so; freed by the caller. */
static unsigned char *make_literal(unsigned char dtype, size_t elements, size_t bytes, size_t *out_size)
{
    unsigned char *data = calloc(1, bytes + 4096);
    size_t size = wrap(data, wrap(data, wrap(data, bytes, 1), 7), 1); /* bytes, tensor value, immediate */
    size = wrap(data, size, 3);
    unsigned char type[64] = {0x08, dtype, 0x10, 1};
    unsigned char extent[16] = {0x08};
    const size_t extent_size = wrap(extent, 1 + put_varint(extent + 1, elements), 1);
    memcpy(type + 4, extent, extent_size);
    size_t type_size = 4 + wrap(type + 4, extent_size, 3);
    type_size = wrap(type, wrap(type, type_size, 1), 2);
    memmove(data + type_size, data, size);
    memcpy(data, type, type_size);
    size = wrap(data, size + type_size, 2); /* an attribute's value */
    static const unsigned char key[] = "\x0a\x03val";
    memmove(data + 5, data, size);
    memcpy(data, key, 5);
    size = wrap(data, size + 5, 5); /* of an operation */
    static const unsigned char op[] = "\x0a\x05"
                                      "const";
    memmove(data + 7, data, size);
    memcpy(data, op, 7);
    *out_size = wrap_block(data, wrap(data, size + 7, 3));
    return data;
}

/* A literal of uint1: each bit would become three characters. */
static void test_literals_that_are_long_as_text_are_refused(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder) && package_copy(RECORDED "literals.mlpackage", "p"));
    size_t size;
    unsigned char *data = make_literal(37, (size_t)8 << 20, (size_t)1 << 20, &size);
    CHECK(read_bounded(data, size, "uint1", &err) == MW_ERROR_FORMAT);
    CHECK_CONTAINS(err.message, "longer, as text");
    free(data);
    folder_leave(folder);
}

/* Zeros of int8 take three characters of the eight that a byte of the file may become, whatever the longest take. */
static void test_of_long_literals_what_is_printed_counts(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder) && package_copy(RECORDED "literals.mlpackage", "p"));
    size_t size;
    unsigned char *data = make_literal(21, 300000, 300000, &size);
    read_bounded(data, size, "int8", &err);
    CHECK_CONTAINS(err.message, "const needs one result"); /* said when the text, which is there, is parsed */
    free(data);
    folder_leave(folder);
}

static void test_deep_nesting_is_refused(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder) && package_copy(RECORDED "literals.mlpackage", "p"));
    unsigned char *data = malloc(1 << 20);
    size_t size = 0;
    for (int i = 0; i < 20000; i++)
        size = wrap(data, wrap(data, size, 4), 3); /* a block in an operation in a block .. */
    CHECK(read_bounded(data, wrap_block(data, size), "blocks", &err) == MW_ERROR_FORMAT);
    CHECK_CONTAINS(err.message, "nested deeper");
    size = 0;
    for (int i = 0; i < 20000; i++)
        size = wrap(data, wrap(data, size, 1), 202); /* a pipeline in a pipeline .. */
    err = (mw_error){0};
    CHECK(read_bounded(data, size, "pipelines", &err) == MW_ERROR_FORMAT);
    free(data);
    folder_leave(folder);
}

/* Names that would be compared with each other, 8000 by 8000 inputs and features. */
static void test_many_inputs_and_features_take_no_longer(void)
{
    enum { COUNT = 8000 };
    static const unsigned char unknown[] = "\x12\x08\x0a\x06\x10\x01\x1a\x02\x12\x00";
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder) && package_copy(RECORDED "literals.mlpackage", "p"));
    unsigned char *data = calloc(COUNT, 64), *out = calloc(COUNT, 64);
    size_t size = 0;
    for (int i = 0; i < COUNT; i++) { /* field 1: name, and a type with ? */
        char name[16];
        snprintf(name, sizeof name, "x%06d", i);
        unsigned char unit[32] = {10, 7};
        memcpy(unit + 2, name, 7);
        memcpy(unit + 9, unknown, sizeof unknown - 1);
        const size_t whole = wrap(unit, 9 + sizeof unknown - 1, 1);
        memcpy(data + size, unit, whole);
        size += whole;
    }
    static const unsigned char opset[] = "\x12\x07"
                                         "CoreML6\x1a\x0b\x0a\x07"
                                         "CoreML6\x12\x00",
                               key[] = "\x0a\x04"
                                       "main";
    memcpy(data + size, opset, sizeof opset - 1);
    size = wrap(data, size + sizeof opset - 1, 2);
    memmove(data + 6, data, size);
    memcpy(data, key, 6);
    size = wrap(data, wrap(data, size + 6, 2), 502);
    size_t features = 0;
    for (int i = 0; i < COUNT; i++) {
        memcpy(out + features, "\x0a\x06\x0a\x00\x1a\x02\x1a\x00", 8); /* a string without a name */
        features += 8;
    }
    features = wrap(out, features, 2);
    memcpy(out + features, data, size);
    CHECK(read_bounded(out, features + size, "names", &err) == MW_ERROR_FORMAT);
    CHECK_CONTAINS(err.message, "more inputs and features");
    free(data);
    free(out);
    folder_leave(folder);
}

/* ---- paths ---- */

static void put_manifest(const char *path)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"fileFormatVersion\":\"1.0.0\",\"itemInfoEntries\":{\"a\":{\"path\":\"%s\"}},"
             "\"rootModelIdentifier\":\"a\"}",
             path);
    folder_put("p/Manifest.json", text);
}

static void test_paths_stay_in_the_package(void)
{
    static const char *const paths[] = {"../../secret", "/etc/passwd", "../Data/../../secret", "link/model.mlmodel",
                                        "com.apple.CoreML/out"};
    char folder[512];
    REQUIRE(folder_enter(folder) && package_copy(RECORDED "literals.mlpackage", "p/inner"));
    CHECK(package_copy(RECORDED "literals.mlpackage", "p"));
    CHECK(symlink("../..", "p/Data/link") == 0);
    CHECK(symlink("/etc/passwd", "p/Data/com.apple.CoreML/out") == 0);
    folder_put("secret", "secret");
    folder_put("model.mlmodel", "secret");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        mw_error err = {0};
        put_manifest(paths[i]);
        CHECK(read_with("p", NULL, &err) != MW_OK);
        check_note(err.status == MW_ERROR_FILE || err.status == MW_ERROR_FORMAT, __FILE__, __LINE__, "%s: %d %s",
                   paths[i], (int)err.status, err.message);
        CHECK(strstr(err.message, "protobuf") == NULL); /* it was not even read */
    }
    put_manifest("com.apple.CoreML/model.mlmodel");
    mw_error err = {0};
    CHECK(read_with("p", NULL, &err) == MW_OK);
    folder_leave(folder);
}

static void test_manifests_are_checked(void)
{
    static const char *const texts[] = {
        "{}", "[]", "{\"fileFormatVersion\":\"2.0.0\",\"itemInfoEntries\":{},\"rootModelIdentifier\":\"a\"}",
        "{\"fileFormatVersion\":\"1.0.0\",\"itemInfoEntries\":{},\"rootModelIdentifier\":\"a\"}",
        "{\"fileFormatVersion\":\"1.0.0\",\"itemInfoEntries\":{\"a\":{\"path\":\"\"}},\"rootModelIdentifier\":\"a\"}"};
    char folder[512];
    REQUIRE(folder_enter(folder) && package_copy(RECORDED "literals.mlpackage", "p"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mw_error err = {0};
        folder_put("p/Manifest.json", texts[i]);
        CHECK(read_with("p", NULL, &err) != MW_OK);
        CHECK_CONTAINS(err.message, "Manifest.json");
    }
    folder_leave(folder);
}

int main(void)
{
    RUN(test_models_cut_or_changed_at_every_byte_do_no_harm);
    RUN(test_a_cut_program_is_malformed);
    RUN(test_a_cut_manifest_and_compiled_model_are_malformed);
    RUN(test_compiled_models_are_read_and_cut);
    RUN(test_a_compiled_pipeline_is_its_parts);
    RUN(test_every_allocation_may_fail);
    RUN(test_many_small_messages_stay_within_the_bound);
    RUN(test_literals_that_are_long_as_text_are_refused);
    RUN(test_of_long_literals_what_is_printed_counts);
    RUN(test_deep_nesting_is_refused);
    RUN(test_many_inputs_and_features_take_no_longer);
    RUN(test_paths_stay_in_the_package);
    RUN(test_manifests_are_checked);
    return check_finish();
}
