/* What a compiler is configured by: the options that it is created with, and the environment, which is read then and
 * goes before them. */
#include "base/file/file.h"
#include "engine/run.h"
#include "support/check.h"

#include <stdlib.h>

#define SET e5rt_mw_e5_compiler_config_options_set_variable

static char folder[256];

/* The summary of a program that `compiler` compiles, in `out`; "" after a failure. */
static const char *summary_of(void *compiler, char *out, size_t size)
{
    void *options = NULL, *library = NULL, *function = NULL;
    const char *summary = "";
    bool good = e5rt_e5_compiler_options_create(&options) == 0 &&
                e5rt_e5_compiler_compile(compiler, folder, options, &library) == 0 &&
                e5rt_program_library_retain_program_function(library, "main", &function) == 0 &&
                e5rt_mw_program_function_get_summary(function, &summary) == 0;
    snprintf(out, size, "%s", good ? summary : "");
    if (function != NULL)
        e5rt_program_function_release(&function);
    if (library != NULL)
        e5rt_program_library_release(&library);
    if (options != NULL)
        e5rt_e5_compiler_options_release(&options);
    return out;
}

/* A compiler of options with one variable. */
static void *compiler_with(const char *name, const char *value)
{
    void *options = NULL, *compiler = NULL;
    CHECK_INT(e5rt_e5_compiler_config_options_create(&options), 0);
    CHECK_INT(SET(options, name, value), 0);
    CHECK_INT(e5rt_e5_compiler_create_with_config(&compiler, options), 0);
    e5rt_e5_compiler_config_options_release(&options);
    return compiler;
}

static void check_threads(void *compiler, const char *wanted)
{
    char summary[128];
    CHECK_CONTAINS(summary_of(compiler, summary, sizeof summary), wanted);
}

static void test_options_configure_the_compilers_made_with_them(void)
{
    void *three = compiler_with("MW_ENGINE_THREADS", "3"), *two = compiler_with("MW_ENGINE_THREADS", "2");
    check_threads(three, "3 threads");
    check_threads(two, "2 threads");
    e5rt_e5_compiler_release(&three);
    e5rt_e5_compiler_release(&two);
}

static void test_the_environment_goes_before_the_options(void)
{
    setenv("MW_ENGINE_THREADS", "5", 1);
    void *compiler = compiler_with("MW_ENGINE_THREADS", "3");
    unsetenv("MW_ENGINE_THREADS");
    check_threads(compiler, "5 threads");
    e5rt_e5_compiler_release(&compiler);
}

static void test_the_environment_is_read_when_the_compiler_is_made(void)
{
    void *compiler = NULL;
    setenv("MW_ENGINE_THREADS", "4", 1);
    CHECK_INT(e5rt_e5_compiler_create(&compiler), 0);
    setenv("MW_ENGINE_THREADS", "2", 1);
    check_threads(compiler, "4 threads");
    unsetenv("MW_ENGINE_THREADS");
    check_threads(compiler, "4 threads");
    e5rt_e5_compiler_release(&compiler);
    setenv("MW_ENGINE_THREADS", "none", 1);
    CHECK_INT(e5rt_e5_compiler_create(&compiler), E5RT_INVALID_ARGUMENT);
    CHECK_CONTAINS(e5rt_get_last_error_message(), "MW_ENGINE_THREADS is \"none\"");
    CHECK(compiler == NULL);
    unsetenv("MW_ENGINE_THREADS");
}

static void test_what_is_no_variable_or_no_value_is_refused(void)
{
    static const char *const wrong[][2] = {
        {"MW_ENGINE_FUSE", "2"},   {"MW_ENGINE_REF", "yes"},  {"MW_ENGINE_WIDE", "128"},
        {"MW_ENGINE_WAKE", "-1"},  {"MW_ENGINE_WAKE", "1.5"}, {"MW_ENGINE_THREADS", "0"},
        {"MW_PASSES_OFF", "fp16"}, {"mw_engine_fuse", "1"},   {"", "1"},
        {"MW_ENGINE_FUSE", "0 "},
    };
    void *options = NULL, *compiler = NULL;
    CHECK_INT(e5rt_e5_compiler_config_options_create(&options), 0);
    CHECK_INT(SET(options, "MW_ENGINE_THREADS", "3"), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_INT(SET(options, wrong[i][0], wrong[i][1]), E5RT_INVALID_ARGUMENT);
        CHECK_CONTAINS(e5rt_get_last_error_message(), wrong[i][0]);
    }
    CHECK_INT(SET(options, NULL, "1"), E5RT_INVALID_ARGUMENT);
    CHECK_INT(SET(options, "MW_ENGINE_FUSE", NULL), E5RT_INVALID_ARGUMENT);
    CHECK_INT(SET(NULL, "MW_ENGINE_FUSE", "1"), E5RT_INVALID_ARGUMENT);
    CHECK_INT(SET(options, "MW_ENGINE_THREADS", ""), 0); /* changes nothing */
    CHECK_INT(e5rt_e5_compiler_create_with_config(&compiler, options), 0);
    check_threads(compiler, "3 threads");
    e5rt_e5_compiler_release(&compiler);
    e5rt_e5_compiler_config_options_release(&options);
}

int main(void)
{
    mw_error err = {0};
    char *made = NULL, path[300];
    const char *text = RUN_TEXT("tensor<fp32, [8, 8]> x", "tensor<fp32, [8, 8]> y = relu(x = x);\n", "y");
    if (mw__file_make_private_folder(NULL, 0, &made, &err) != MW_OK)
        return 1;
    snprintf(folder, sizeof folder, "%s", made);
    snprintf(path, sizeof path, "%s/model.mil", folder);
    mw__file_write(NULL, path, text, strlen(text), false, &err);
    RUN(test_options_configure_the_compilers_made_with_them);
    RUN(test_the_environment_goes_before_the_options);
    RUN(test_the_environment_is_read_when_the_compiler_is_made);
    RUN(test_what_is_no_variable_or_no_value_is_refused);
    mw__file_remove_folder(folder);
    mw__free(NULL, made);
    return check_finish();
}
