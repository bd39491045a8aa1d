/* Options: each that has a getter gives back what was set, what is kept lives as long as the options, and those with an
 * effect have it. */
#include "base/file/file.h"
#include "engine/refused.h"
#include "engine/run.h"
#include "support/check.h"

#include <stdlib.h>

#define RELU RUN_TEXT("tensor<fp32, [4]> x", "tensor<fp32, [4]> y = relu(x = x);\n", "y")

/* ---- rows ---- */

static run_program program; /* whose function options are made for */

static e5rt_error_code make_operation_options(void **out)
{
    return e5rt_precompiled_compute_op_create_options_create_with_program_function(out, program.function);
}

#define MAKE_e5_compiler_config_options                e5rt_e5_compiler_config_options_create
#define MAKE_e5_compiler_options                       e5rt_e5_compiler_options_create
#define MAKE_precompiled_compute_op_create_options     make_operation_options
#define MAKE_execution_stream_operation_config_options e5rt_execution_stream_operation_config_options_create
#define MAKE_execution_stream_config_options           e5rt_execution_stream_config_options_create

/* A flag of any value but 0 is given back as 1. */
#define MW_E5RT_GET(object, key, type, confidence, source, what)                                                       \
    static void round_trip_##object##_##key(void)                                                                      \
    {                                                                                                                  \
        void *options = NULL;                                                                                          \
        type first = 99, got = 99;                                                                                     \
        const type wanted = sizeof(type) == 1 ? 1 : 7;                                                                 \
        CHECK_INT(MAKE_##object(&options), 0);                                                                         \
        CHECK_INT(e5rt_##object##_get_##key(options, &first), 0);                                                      \
        CHECK_INT(first, strcmp(#key, "compute_device_types_mask") == 0);                                              \
        const e5rt_error_code code = e5rt_##object##_set_##key(options, 7);                                            \
        CHECK_INT(code == 0, strcmp(#key, "create_protected_assets") != 0);                                            \
        CHECK_INT(e5rt_##object##_get_##key(options, &got), 0);                                                        \
        CHECK_INT(got, code == 0 ? wanted : first);                                                                    \
        REFUSED(e5rt_##object##_get_##key(options, NULL), E5RT_INVALID_ARGUMENT, "out pointer is NULL");               \
        REFUSED(e5rt_##object##_get_##key(NULL, &got), E5RT_INVALID_ARGUMENT, "options is NULL");                      \
        REFUSED(e5rt_##object##_set_##key(program.stream, 1), E5RT_INVALID_ARGUMENT, "options is not a live handle");  \
        CHECK_INT(e5rt_##object##_release(&options), 0);                                                               \
        CHECK(options == NULL);                                                                                        \
    }
#define MW_E5RT(name, parameters, confidence, source, what)
#define MW_E5RT_ABSENT MW_E5RT
#define MW_E5RT_SET(object, key, type, confidence, source, what)
#define MW_E5RT_GET_TEXT(object, key, confidence, source, what)
#include "engine/surface/symbols.def"
#undef MW_E5RT_GET

static void test_every_value_is_given_back(void)
{
    REQUIRE(run_open(&program, RELU, E5RT_CPU, 1));
#define MW_E5RT_GET(object, key, type, confidence, source, what) round_trip_##object##_##key();
#include "engine/surface/symbols.def"
    run_close(&program);
}

/* ---- texts and lists ---- */

static void test_texts_live_as_long_as_the_options(void)
{
    void *options = NULL;
    const char *first = NULL, *second = NULL, *none = NULL;
    CHECK_INT(e5rt_e5_compiler_config_options_create(&options), 0);
    CHECK_INT(e5rt_e5_compiler_config_options_get_cache_bundle_location(options, &none), 0);
    CHECK_STR(none, "");
    CHECK_INT(e5rt_e5_compiler_config_options_set_cache_bundle_location(options, "/tmp/one"), 0);
    CHECK_INT(e5rt_e5_compiler_config_options_get_cache_bundle_location(options, &first), 0);
    CHECK_INT(e5rt_e5_compiler_config_options_set_cache_bundle_location(options, "/tmp/another"), 0);
    CHECK_INT(e5rt_e5_compiler_config_options_get_cache_bundle_location(options, &second), 0);
    CHECK_STR(first, "/tmp/one");
    CHECK_STR(second, "/tmp/another");
    REFUSED(e5rt_e5_compiler_config_options_set_cache_bundle_location(options, NULL), E5RT_INVALID_ARGUMENT, "NULL");
    CHECK_INT(e5rt_e5_compiler_config_options_release(&options), 0);
}

static void test_the_name_of_an_operation_is_given_back(void)
{
    void *options = NULL;
    const char *name = NULL;
    REQUIRE(run_open(&program, RELU, E5RT_CPU, 1));
    CHECK_INT(make_operation_options(&options), 0);
    CHECK_INT(e5rt_precompiled_compute_op_create_options_get_operation_name(options, &name), 0);
    CHECK_STR(name, "");
    CHECK_INT(e5rt_precompiled_compute_op_create_options_set_operation_name(options, "step"), 0);
    CHECK_INT(e5rt_precompiled_compute_op_create_options_get_operation_name(options, &name), 0);
    CHECK_STR(name, "step");
    CHECK_INT(e5rt_precompiled_compute_op_create_options_release(&options), 0);
    run_close(&program);
}

static void test_backends_are_a_list(void)
{
    void *options = NULL;
    uint32_t given[] = {3, 1, 2}, got[3] = {0};
    CHECK_INT(e5rt_e5_compiler_options_create(&options), 0);
    CHECK_INT(e5rt_e5_compiler_options_get_preferred_cpu_backends(options, NULL, 0), 0);
    CHECK_INT(e5rt_e5_compiler_options_set_preferred_cpu_backends(options, given, 3), 0);
    given[0] = 9; /* a copy was taken */
    CHECK_INT(e5rt_e5_compiler_options_get_preferred_cpu_backends(options, got, 2), 0);
    CHECK(got[0] == 3 && got[1] == 1 && got[2] == 0);
    REFUSED(e5rt_e5_compiler_options_get_preferred_cpu_backends(options, got, 4), E5RT_OUT_OF_BOUNDS, "there are 3");
    REFUSED(e5rt_e5_compiler_options_get_preferred_cpu_backends(options, NULL, 1), E5RT_INVALID_ARGUMENT, "NULL");
    REFUSED(e5rt_e5_compiler_options_set_preferred_cpu_backends(options, NULL, 1), E5RT_INVALID_ARGUMENT, "NULL");
    REFUSED(e5rt_e5_compiler_options_set_preferred_cpu_backends(options, given, UINT64_MAX), E5RT_INVALID_ARGUMENT,
            "values");
    CHECK_INT(e5rt_e5_compiler_options_set_preferred_cpu_backends(options, NULL, 0), 0);
    REFUSED(e5rt_e5_compiler_options_get_preferred_cpu_backends(options, got, 1), E5RT_OUT_OF_BOUNDS, "there are 0");
    CHECK_INT(e5rt_e5_compiler_options_release(&options), 0);
}

static void test_three_segmenters_are_known(void)
{
    static const char *const known[] = {"graph",         "coarse",       "shortest_path",         "shortestPath",
                                        "shortest-path", "ShortestPath", "SegmenterShortestPath", "SegmenterGraph"};
    static const char *const unknown[] = {"", "graphs", "grap", "greedy", "segmenter", "shortest"};
    void *options = NULL;
    const char *name = NULL;
    CHECK_INT(e5rt_e5_compiler_options_create(&options), 0);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        CHECK_INT(e5rt_e5_compiler_options_set_segmenter(options, known[i]), 0);
        CHECK_INT(e5rt_e5_compiler_options_get_segmenter(options, &name), 0);
        CHECK_STR(name, known[i]);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        REFUSED(e5rt_e5_compiler_options_set_segmenter(options, unknown[i]), E5RT_INVALID_ARGUMENT, unknown[i]);
    CHECK_INT(e5rt_e5_compiler_options_get_segmenter(options, &name), 0);
    CHECK_STR(name, "SegmenterGraph");
    CHECK_INT(e5rt_e5_compiler_options_release(&options), 0);
}

static void test_unknown_options_of_the_ane_are_refused_by_name(void)
{
    static const char *const unknown[] = {"Verbose=1", "TargetArchitecture", "TargetArchitecture=h13,Fast=1", "=",
                                          "targetarchitecture=h13"};
    void *options = NULL;
    const char *text = NULL;
    CHECK_INT(e5rt_e5_compiler_options_create(&options), 0);
    CHECK_INT(e5rt_e5_compiler_options_set_custom_ane_compiler_options(options, " TargetArchitecture=h13; "), 0);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        REFUSED(e5rt_e5_compiler_options_set_custom_ane_compiler_options(options, unknown[i]), E5RT_INVALID_ARGUMENT,
                "known is TargetArchitecture=NAME");
    REFUSED(e5rt_e5_compiler_options_set_custom_ane_compiler_options(options, unknown[2]), E5RT_INVALID_ARGUMENT,
            "\"Fast=1\" is no option");
    CHECK_INT(e5rt_e5_compiler_options_get_custom_ane_compiler_options(options, &text), 0);
    CHECK_STR(text, " TargetArchitecture=h13; ");
    CHECK_INT(e5rt_e5_compiler_options_set_custom_ane_compiler_options(options, ""), 0);
    CHECK_INT(e5rt_e5_compiler_options_release(&options), 0);
}

/* ---- entry points ---- */

#define FUNCTION(name, body)                                                                                           \
    "func " name "<ios18>(tensor<fp32, [4]> x) {\n tensor<fp32, [4]> y = " body "(x = x);\n} -> (y);\n"
/* The last has a weight in a file that is not there. */
static const char three[] =
    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n" FUNCTION("main", "relu")
        FUNCTION("other", "square") "func lost<ios18>(tensor<fp32, [4]> x) {\n tensor<fp32, [4]> w = const()[val = "
                                    "tensor<fp32, [4]>(BLOBFILE(path = "
                                    "string(\"@model_path/weights.bin\"), offset = uint64(64)))];\n tensor<fp32, [4]> "
                                    "y = add(x = x, y = w);\n} -> "
                                    "(y);\n}\n";

/* The library of those functions, or NULL and the message of compile. */
static void *compile_some(const char *text, const char *const *names, uint64_t count)
{
    void *compiler = NULL, *options = NULL, *library = NULL;
    char *folder = NULL, path[512];
    mw_error err = {0};
    if (!CHECK(mw__file_make_private_folder(NULL, 0, &folder, &err) == MW_OK))
        return NULL;
    snprintf(path, sizeof path, "%s/model.mil", folder);
    CHECK(mw__file_write(NULL, path, text, strlen(text), false, &err) == MW_OK);
    CHECK_INT(e5rt_e5_compiler_create(&compiler), 0);
    CHECK_INT(e5rt_e5_compiler_options_create(&options), 0);
    CHECK_INT(e5rt_e5_compiler_options_set_mil_entry_points(options, names, count), 0);
    if (e5rt_e5_compiler_compile(compiler, path, options, &library) != 0)
        CHECK(library == NULL);
    char message[400];
    snprintf(message, sizeof message, "%s", e5rt_get_last_error_message());
    CHECK_INT(e5rt_e5_compiler_release(&compiler), 0);
    CHECK_INT(e5rt_e5_compiler_options_release(&options), 0);
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
    if (library == NULL)
        check_note(strstr(message, "weights.bin") != NULL || strstr(message, "there is no function \"none\"") != NULL,
                   __FILE__, __LINE__, "message \"%s\"", message);
    return library;
}

static void test_only_entry_points_are_compiled(void)
{
    static const char *const some[] = {"other", "main", "other"}, *const unknown[] = {"main", "none"};
    const char *names[2] = {NULL, NULL};
    void *function = NULL;
    uint64_t count = 0;
    CHECK(compile_some(three, NULL, 0) == NULL); /* all, and one has no weights */
    CHECK(compile_some(three, unknown, 2) == NULL);
    void *library = compile_some(three, some, 3);
    REQUIRE(library != NULL);
    CHECK_INT(e5rt_program_library_get_num_functions(library, &count), 0);
    CHECK_INT(count, 2);
    CHECK_INT(e5rt_program_library_get_function_names(library, 2, names), 0);
    CHECK_STR(names[0], "main");
    CHECK_STR(names[1], "other");
    REFUSED(e5rt_program_library_retain_program_function(library, "lost", &function), E5RT_INVALID_ARGUMENT,
            "the library has: main, other");
    CHECK_INT(e5rt_program_library_release(&library), 0);
    library = compile_some(three, some, 1);
    REQUIRE(library != NULL);
    REFUSED(e5rt_program_library_retain_program_function(library, "main", &function), E5RT_INVALID_ARGUMENT,
            "the library has: other");
    CHECK_INT(e5rt_program_library_release(&library), 0);
}

static void test_names_of_entry_points_are_checked(void)
{
    static const char *const names[] = {"main", NULL};
    void *options = NULL;
    CHECK_INT(e5rt_e5_compiler_options_create(&options), 0);
    REFUSED(e5rt_e5_compiler_options_set_mil_entry_points(options, names, 2), E5RT_INVALID_ARGUMENT, "NULL");
    REFUSED(e5rt_e5_compiler_options_set_mil_entry_points(options, NULL, 1), E5RT_INVALID_ARGUMENT, "names is NULL");
    REFUSED(e5rt_e5_compiler_options_set_mil_entry_points(options, names, UINT64_MAX), E5RT_INVALID_ARGUMENT, "names");
    CHECK_INT(e5rt_e5_compiler_options_set_mil_entry_points(options, names, 1), 0);
    CHECK_INT(e5rt_e5_compiler_options_set_mil_entry_points(options, NULL, 0), 0);
    CHECK_INT(e5rt_e5_compiler_options_release(&options), 0);
}

int main(void)
{
    RUN(test_every_value_is_given_back);
    RUN(test_texts_live_as_long_as_the_options);
    RUN(test_the_name_of_an_operation_is_given_back);
    RUN(test_backends_are_a_list);
    RUN(test_three_segmenters_are_known);
    RUN(test_unknown_options_of_the_ane_are_refused_by_name);
    RUN(test_only_entry_points_are_compiled);
    RUN(test_names_of_entry_points_are_checked);
    return check_finish();
}
