/* Bundles as data, the device that a mask of several bits gets, and the record of it. */
#include "cache_case.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/folder.h"

#include <millwright/mil.h>
#include <millwright/millwright.h>

#include <stdlib.h>
#include <sys/stat.h>

/* A chip takes the first, and no port of fp32. */
#define HALF   RUN_TEXT("tensor<fp16, [8]> x", "tensor<fp16, [8]> y = add(x = x, y = x)[name = string(\"y\")];\n", "y")
#define SINGLE RUN_TEXT("tensor<fp32, [8]> x", "tensor<fp32, [8]> y = add(x = x, y = x)[name = string(\"y\")];\n", "y")

static void begin(const char *text)
{
    cache_forget();
    folder_empty(".");
    cache_put_model("model", text, HALF_ONE);
}

/* ---- masks ---- */

static void check_placed(const char *text, uint64_t mask, const char *backend, const char *fallback)
{
    begin(text);
    cache_case c = CACHE_CASE;
    void *library = NULL;
    const char *actual = NULL, *why = NULL;
    c.mask = mask;
    if (!CHECK(cache_compile(&c, &library) == 0))
        return;
    CHECK_INT(e5rt_mw_program_library_get_placement(library, &actual, &why), 0);
    check_note(strcmp(actual, backend) == 0, __FILE__, __LINE__, "mask %d: %s, not %s", (int)mask, actual, backend);
    if (fallback[0] == '\0')
        CHECK_STR(why, "");
    else
        CHECK_CONTAINS(why, fallback);
    e5rt_program_library_release(&library);
}

static void check_refused(const char *text, uint64_t mask, const char *part)
{
    begin(text);
    cache_case c = CACHE_CASE;
    void *library = NULL;
    c.mask = mask;
    CHECK(cache_compile(&c, &library) != 0 && library == NULL);
    CHECK_CONTAINS(cache_message(), part);
}

static void test_a_mask_of_several_bits_takes_the_documented_device(void)
{
    check_placed(HALF, 1, "bnns", "");
    check_placed(HALF, 3, "bnns", "");
    check_placed(HALF, 4, "ane", "");
    check_placed(HALF, 5, "ane", "");
    check_placed(HALF, 6, "ane", "");
    check_placed(HALF, 7, "ane", "");
    check_refused(HALF, 2, "no GPU");
    check_refused(HALF, 8, "compute device mask is 8");
}

static void test_only_a_mask_with_the_cpu_falls_back(void)
{
    check_placed(SINGLE, 1, "bnns", "");
    check_placed(SINGLE, 3, "bnns", "");
    check_placed(SINGLE, 5, "bnns", "fp16");
    check_placed(SINGLE, 7, "bnns", "fp16");
    check_refused(SINGLE, 4, "fp16");
    check_refused(SINGLE, 6, "fp16");
}

static void test_what_fails_on_every_device_is_refused(void)
{
    check_refused(
        RUN_TEXT("tensor<fp16, [8]> x", "tensor<fp16, [9]> y = add(x = x, y = x)[name = string(\"y\")];\n", "y"), 7,
        "add");
}

/* ---- analytics ---- */

static void check_text(const char *bundle, const char *backend)
{
    char path[1100];
    mw_error err = {0};
    snprintf(path, sizeof path, "%s/analytics.mil", bundle);
    mw_graph *graph = mw_graph_open_mil(path, NULL, &err);
    CHECK_OK(err);
    REQUIRE(graph != NULL);
    char *text = mw_graph_print_mil(graph, NULL, &err), wanted[100];
    REQUIRE(text != NULL);
    snprintf(wanted, sizeof wanted, "SelectedBackend = string(\"%s\")", backend);
    CHECK_CONTAINS(text, wanted);
    CHECK_CONTAINS(text, "OpPath = string(\"main/");
    CHECK_CONTAINS(text, "OpType = string(\"add\")");
    CHECK_CONTAINS(text, "BackendSupport = string(");
    CHECK_CONTAINS(text, "EstimatedRuntime = fp64(0x");
    CHECK_CONTAINS(text, "ValidationMessages = string(");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void check_bundle(const char *text, uint64_t mask, const char *backend, const char *support)
{
    begin(text);
    cache_case c = CACHE_CASE;
    void *library = NULL, *out = NULL;
    const char *bundle = "";
    c.mask = mask;
    REQUIRE(cache_compile(&c, &library) == 0);
    CHECK_INT(e5rt_program_library_get_e5_bundle_path(library, &bundle), 0);
    check_text(bundle, backend);
    CHECK_INT(e5rt_program_library_get_segmentation_analytics(library, &out), 0);
    const e5rt_mw_analytics *analytics = out;
    REQUIRE(analytics != NULL && analytics->placement_count == 1);
    const e5rt_mw_placement *add = &analytics->placements[0];
    CHECK_STR(analytics->selected_backend, backend);
    CHECK_STR(add->selected_backend, backend);
    CHECK_STR(add->backend_support, support);
    CHECK_STR(add->op_type, "add");
    CHECK_STR(add->op_name, "y");
    CHECK(add->estimated_runtime > 0.0 && add->estimated_runtime < 1e-3);
    CHECK_INT(e5rt_program_library_get_segmentation_analytics(library, &out), 0);
    CHECK(out == (const void *)analytics); /* the same, and not one more each time */
    e5rt_program_library_release(&library);
}

static void test_a_bundle_says_where_operations_are(void)
{
    check_bundle(HALF, E5RT_CPU, "bnns", "ane bnns");
    check_bundle(HALF, E5RT_ANE, "ane", "ane bnns");
    check_bundle(HALF, 7, "ane", "ane bnns");
    check_bundle(SINGLE, 7, "bnns", "ane bnns");
    check_bundle(cache_text, E5RT_CPU, "bnns", "ane bnns");
}

#define BRANCH                                                                                                         \
    RUN_TEXT("bool p, tensor<fp16, [8]> x",                                                                            \
             "tensor<fp16, [8]> y = cond(pred = p)[name = string(\"y\")]\n{ tensor<fp16, [8]> a = add(x = x, y = "     \
             "x)[name = string(\"a\")]; } -> (a)\n{ tensor<fp16, [8]> b = mul(x = x, y = x)[name = "                   \
             "string(\"b\")]; } -> (b);\n",                                                                            \
             "y")

static const e5rt_mw_placement *find_type(const e5rt_mw_analytics *analytics, const char *type)
{
    for (uint64_t i = 0; i < analytics->placement_count; i++)
        if (strcmp(analytics->placements[i].op_type, type) == 0)
            return &analytics->placements[i];
    return NULL;
}

static void test_what_a_chip_lacks_has_a_message(void)
{
    begin(RUN_TEXT("tensor<fp16, [2]> x",
                   "tensor<int32, [2]> i = const()[name = string(\"i\"), val = tensor<int32, [2]>([1, 0])];\n"
                   "tensor<fp16, [2]> y = scatter_along_axis(axis = int32(0), data = x, indices = i, mode = "
                   "string(\"add\"), updates = x)[name = string(\"y\")];\n",
                   "y"));
    const cache_case c = CACHE_CASE;
    void *library = NULL, *out = NULL;
    const e5rt_error_code code = cache_compile(&c, &library);
    if (!check_note(code == 0, __FILE__, __LINE__, "%s", cache_message()))
        return;
    CHECK_INT(e5rt_program_library_get_segmentation_analytics(library, &out), 0);
    const e5rt_mw_placement *refused = out != NULL ? find_type(out, "scatter_along_axis") : NULL;
    REQUIRE(refused != NULL);
    CHECK_STR(refused->backend_support, "bnns");
    CHECK_CONTAINS(refused->validation_messages, "scatter_along_axis: ");
    e5rt_program_library_release(&library);
}

/* Operations of blocks have paths through their owner. */
static void test_operations_of_blocks_have_paths(void)
{
    begin(BRANCH);
    const cache_case c = CACHE_CASE;
    void *library = NULL, *out = NULL;
    const e5rt_error_code code = cache_compile(&c, &library);
    if (!check_note(code == 0, __FILE__, __LINE__, "%s", cache_message()))
        return;
    CHECK_INT(e5rt_program_library_get_segmentation_analytics(library, &out), 0);
    const e5rt_mw_analytics *analytics = out;
    REQUIRE(analytics != NULL && analytics->placement_count == 3);
    CHECK_STR(analytics->placements[0].op_type, "cond");
    CHECK_STR(analytics->placements[0].op_path, "main/0");
    CHECK_STR(analytics->placements[1].op_path, "main/0/0/0");
    CHECK_STR(analytics->placements[2].op_path, "main/0/1/0");
    e5rt_program_library_release(&library);
}

/* ---- what is in a bundle runs as what it was made of ---- */

/* Compressed weights, which compiling expands; the text of the bundle must still have them as they were. */
static mw_graph *make_compressed(mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    float weights[64];
    for (int i = 0; i < 64; i++)
        weights[i] = (float)(i % 13) - 6.0f;
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(8, 8));
    mw_tensor *w = mw_cast(mw_constant(graph, MW_F32, MW_SHAPE(8, 8), weights), MW_F16);
    mw_output(mw_matmul(x, w, MW_TRANSPOSE_NONE), "y");
    mw_graph_write(graph, "model", NULL, err);
    return graph;
}

static bool run_eight(void *library, uint16_t out[64])
{
    run_program r;
    if (!run_adopt(&r, library))
        return false;
    uint16_t *x = run_bind(&r, false, "x", 128), *y = run_bind(&r, true, "y", 128);
    for (int i = 0; x != NULL && i < 64; i++)
        x[i] = (uint16_t)(HALF_ONE + i);
    const bool good = x != NULL && y != NULL && run_encode(&r) && run_execute(&r);
    if (good)
        memcpy(out, y, 128);
    run_close(&r);
    return good;
}

static void test_an_opened_bundle_gives_the_same_bits(void)
{
    begin(NULL);
    mw_error err = {0};
    uint16_t before[64], after[64];
    char bundle[1024];
    folder_empty("model");
    mw_graph *graph = make_compressed(&err);
    CHECK_OK(err);
    const cache_case c = CACHE_CASE;
    void *library = NULL, *opened = NULL;
    REQUIRE(cache_compile(&c, &library) == 0);
    CHECK(run_eight(library, before));
    cache_bundle(&c, bundle, sizeof bundle);
    cache_forget();
    folder_empty("model");
    CHECK_INT(e5rt_program_library_create(&opened, bundle), 0);
    CHECK(opened != NULL && run_eight(opened, after));
    CHECK(memcmp(before, after, sizeof before) == 0);
    mw_graph_destroy(graph);
}

/* A library that is held is the one that is opened. */
static void test_in_one_process_opening_shares_the_library(void)
{
    begin(NULL);
    const cache_case c = CACHE_CASE;
    void *library = NULL, *opened = NULL;
    const char *one = NULL, *two = NULL;
    char link[1100];
    REQUIRE(cache_compile(&c, &library) == 0);
    CHECK_INT(e5rt_program_library_get_e5_bundle_path(library, &one), 0);
    snprintf(link, sizeof link, "%s/../%s", one, strrchr(one, '/') + 1);
    CHECK_INT(e5rt_program_library_create(&opened, link), 0);
    CHECK_INT(e5rt_program_library_get_e5_bundle_path(opened, &two), 0);
    CHECK(one == two);
    e5rt_program_library_release(&library);
    CHECK_INT(cache_run(opened), HALF_TWO);
}

static void test_what_is_no_bundle_is_refused(void)
{
    begin(NULL);
    static const char *const paths[] = {"nowhere", "model", "model/model.mil", "", "."};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        void *library = &library;
        CHECK_INT(e5rt_program_library_create(&library, paths[i]), E5RT_INVALID_ARGUMENT);
        CHECK(library == NULL);
        CHECK_CONTAINS(e5rt_get_last_error_message(), "Invalid E5 path specified");
    }
    void *library = NULL;
    CHECK_INT(e5rt_program_library_create(&library, NULL), E5RT_INVALID_ARGUMENT);
    CHECK_INT(e5rt_program_library_create(NULL, "model"), E5RT_INVALID_ARGUMENT);
}

/* ---- dictionaries ---- */

static const char *value_of(const e5rt_mw_dictionary *dictionary, const char *key)
{
    for (uint64_t i = 0; dictionary != NULL && i < dictionary->count; i++)
        if (strcmp(dictionary->keys[i], key) == 0)
            return dictionary->values[i];
    return "";
}

static void test_a_library_says_what_it_is(void)
{
    begin(NULL);
    cache_case c = CACHE_CASE;
    c.location = NULL;
    void *library = NULL, *info = NULL, *metadata = NULL, *again = NULL;
    REQUIRE(cache_compile(&c, &library) == 0);
    CHECK_INT(e5rt_program_library_get_build_info(library, &info), 0);
    CHECK_CONTAINS(value_of(info, "engine"), "millwright-");
    CHECK_STR(value_of(info, "coremlc-version"), "1");
    CHECK_INT(e5rt_program_library_get_function_metadata(library, "main", &metadata), 0);
    CHECK_STR(value_of(metadata, "name"), "main");
    CHECK_STR(value_of(metadata, "opset"), "ios18");
    CHECK_STR(value_of(metadata, "inputs"), "x");
    CHECK_STR(value_of(metadata, "outputs"), "y");
    CHECK_STR(value_of(metadata, "backend"), "bnns");
    CHECK_INT(e5rt_program_library_get_function_metadata(library, "main", &again), 0);
    CHECK(again == metadata);
    CHECK_INT(e5rt_program_library_get_function_metadata(library, "side", &again), E5RT_INVALID_ARGUMENT);
    CHECK(again == NULL);
    CHECK_INT(e5rt_program_library_get_build_info(NULL, &info), E5RT_INVALID_ARGUMENT);
    CHECK_INT(e5rt_program_library_get_segmentation_analytics(library, NULL), E5RT_INVALID_ARGUMENT);
    e5rt_program_library_release(&library);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_mask_of_several_bits_takes_the_documented_device);
    RUN(test_only_a_mask_with_the_cpu_falls_back);
    RUN(test_what_fails_on_every_device_is_refused);
    RUN(test_a_bundle_says_where_operations_are);
    RUN(test_what_a_chip_lacks_has_a_message);
    RUN(test_operations_of_blocks_have_paths);
    RUN(test_an_opened_bundle_gives_the_same_bits);
    RUN(test_in_one_process_opening_shares_the_library);
    RUN(test_what_is_no_bundle_is_refused);
    RUN(test_a_library_says_what_it_is);
    cache_forget();
    folder_leave(folder);
    return check_finish();
}
