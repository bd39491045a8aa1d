/* The ONNX reader when files end early, bytes are wrong or memory runs out. */
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <millwright/millwright.h>
#include <stdlib.h>

static const char *const models[] = {"mlp", "cnn", "mobile", "recurrent", "attention"};
enum { MODELS = sizeof models / sizeof *models };

static unsigned char *read_model(const char *name, size_t *out_size)
{
    char path[512];
    snprintf(path, sizeof path, MW_TESTS_DIR "/data/onnx/%s.onnx", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    unsigned char *data = malloc(1 << 16);
    *out_size = fread(data, 1, 1 << 16, file);
    fclose(file);
    return data;
}

static void put_file(const unsigned char *data, size_t size)
{
    FILE *file = fopen("model.onnx", "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static mw_graph *read_with(const mw_allocator *allocator, bool open, mw_error *err)
{
    const mw_onnx_extent extents[] = {{"batch", 2}, {"time", 6}};
    mw_onnx_options options = mw_onnx_defaults();
    options.allocator = allocator;
    options.extents = extents;
    options.extent_count = open ? 0 : 2;
    mw_error_clear(err);
    return mw_graph_open_onnx("model.onnx", &options, err);
}

/* A file that is cut off is refused with a reason, or, at the border of a field, is a model without what followed. */
static void test_files_cut_at_every_byte_are_answered(void)
{
    for (size_t m = 0; m < MODELS; m++) {
        size_t size = 0, step = m == 0 ? 1 : 7;
        unsigned char *data = read_model(models[m], &size);
        REQUIRE(data != NULL);
        for (size_t cut = 0; cut < size; cut += step) {
            mw_error err = {0};
            put_file(data, cut);
            mw_graph *graph = read_with(NULL, false, &err);
            if ((graph == NULL) != (err.status != MW_OK))
                check_note(false, __FILE__, __LINE__, "%s cut at %zu: %d", models[m], cut, (int)err.status);
            mw_graph_destroy(graph);
        }
        free(data);
    }
}

static void test_wrong_bytes_are_answered(void)
{
    for (size_t m = 0; m < MODELS; m++) {
        size_t size = 0;
        unsigned char *data = read_model(models[m], &size);
        REQUIRE(data != NULL);
        for (size_t i = 0; i < size; i += 5) {
            mw_error err = {0};
            const unsigned char kept = data[i];
            data[i] = (unsigned char)(kept ^ (1u << i % 8) ^ (i % 3 == 0 ? 0x81 : 0));
            put_file(data, size);
            mw_graph *graph = read_with(NULL, false, &err);
            if ((graph == NULL) != (err.status != MW_OK))
                check_note(false, __FILE__, __LINE__, "%s with a wrong byte %zu: %d", models[m], i, (int)err.status);
            mw_graph_destroy(graph);
            data[i] = kept;
        }
        free(data);
    }
}

static void fail_allocations(const char *name, bool open)
{
    size_t size = 0;
    unsigned char *data = read_model(name, &size);
    REQUIRE(data != NULL);
    put_file(data, size);
    free(data);
    bool done = false;
    for (long n = 0; !done && n < 100000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_graph *graph = read_with(&allocator, open, &err);
        done = !failing.failed;
        CHECK(done == (graph != NULL));
        CHECK_INT(err.status, done ? MW_OK : MW_ERROR_MEMORY);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
    }
    CHECK(done);
}

static void test_every_allocation_may_fail(void)
{
    for (size_t m = 0; m < MODELS; m++)
        fail_allocations(models[m], false);
    fail_allocations("mlp", true);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_files_cut_at_every_byte_are_answered);
    RUN(test_wrong_bytes_are_answered);
    RUN(test_every_allocation_may_fail);
    folder_leave(folder);
    return check_finish();
}
