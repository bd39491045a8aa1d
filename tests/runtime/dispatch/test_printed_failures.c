/* What reaches standard error: one line for each failed call of the ane_e5rt_* ABI, unless it is switched off, and
 * nothing from any mw_* call that fails. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/clean.h"

#include <fcntl.h>
#include <millwright/ane_e5rt.h>
#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 4 };

/* ---- what was printed ---- */

static int saved = -1;

static void begin_capture(void)
{
    fflush(stderr);
    saved = dup(STDERR_FILENO);
    const int file = open(scratch("stderr"), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
}

/* The text, until the next call. */
static const char *end_capture(void)
{
    static char text[8192];
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    size_t size = 0;
    unsigned char *bytes = get_file(scratch("stderr"), &size);
    snprintf(text, sizeof text, "%.*s", (int)size, bytes != NULL ? (const char *)bytes : "");
    free(bytes);
    return text;
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* ---- the calls that fail ---- */

static ane_e5rt_program_t *program;
static void *data;
static size_t size;
static uint16_t half[COUNT];
static const char hostile[] = "x\033[2J\r\xe2\x80\xae";

static const char *const names[] = {"x"}, *const results[] = {"y"};
static const size_t sizes[] = {COUNT * 2};

static void compile_null(void) { ane_e5rt_program_compile(NULL, NULL, 1, NULL, NULL, 0, NULL, NULL, 0); }
static void compile_no_mask(void) { ane_e5rt_program_compile("m.mil", NULL, 0, NULL, NULL, 0, NULL, NULL, 0); }
static void compile_no_file(void) { ane_e5rt_program_compile(hostile, NULL, 1, names, sizes, 1, results, sizes, 1); }
static void compile_no_names(void)
{
    ane_e5rt_program_compile(scratch("m/model.mil"), NULL, 1, NULL, NULL, 1, NULL, NULL, 0);
}
static void compile_no_port(void)
{
    const char *const other[] = {hostile};
    ane_e5rt_program_compile(scratch("m/model.mil"), NULL, 1, other, sizes, 1, results, sizes, 1);
}
static void set_no_program(void) { ane_e5rt_program_set_input_fp16(NULL, "x", half, 1); }
static void set_no_port(void) { ane_e5rt_program_set_input_fp16(program, hostile, half, 1); }
static void set_too_much(void) { ane_e5rt_program_set_input_fp16(program, "x", half, COUNT + 1); }
static void set_nothing(void) { ane_e5rt_program_set_input_fp16(program, "x", NULL, 1); }
static void get_no_port(void) { ane_e5rt_program_get_output_fp16(program, "x", half, 1); }
static void get_nothing(void) { ane_e5rt_program_get_output_fp16(program, "y", NULL, 1); }
static void execute_null(void) { ane_e5rt_program_execute(NULL); }
static void input_null(void) { ane_e5rt_program_input_buffer(program, NULL, &data, &size); }
static void output_no_place(void) { ane_e5rt_program_output_buffer(program, "y", NULL, NULL); }
static void share_no_operation(void) { ane_e5rt_program_share_buffer(program, 1, "y", 0, "x"); }
static void share_no_port(void) { ane_e5rt_program_share_buffer(program, 0, hostile, 0, "x"); }
static void check_null(void) { ane_e5rt_compile_check(NULL, NULL, 1, NULL); }
static void check_no_file(void) { ane_e5rt_compile_check(hostile, NULL, 1, NULL); }

static const struct {
    const char *call;
    void (*fail)(void);
} failures[] = {
    {"ane_e5rt_program_compile", compile_null},
    {"ane_e5rt_program_compile", compile_no_mask},
    {"ane_e5rt_program_compile", compile_no_file},
    {"ane_e5rt_program_compile", compile_no_names},
    {"ane_e5rt_program_compile", compile_no_port},
    {"ane_e5rt_program_set_input_fp16", set_no_program},
    {"ane_e5rt_program_set_input_fp16", set_no_port},
    {"ane_e5rt_program_set_input_fp16", set_too_much},
    {"ane_e5rt_program_set_input_fp16", set_nothing},
    {"ane_e5rt_program_get_output_fp16", get_no_port},
    {"ane_e5rt_program_get_output_fp16", get_nothing},
    {"ane_e5rt_program_execute", execute_null},
    {"ane_e5rt_program_input_buffer", input_null},
    {"ane_e5rt_program_output_buffer", output_no_place},
    {"ane_e5rt_program_share_buffer", share_no_operation},
    {"ane_e5rt_program_share_buffer", share_no_port},
    {"ane_e5rt_compile_check", check_null},
    {"ane_e5rt_compile_check", check_no_file},
};

static void make_program(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F16, MW_SHAPE(COUNT))), "y");
    mw_graph_write(graph, scratch("m"), NULL, &err);
    mw_graph_destroy(graph);
    CHECK_OK(err);
    program = ane_e5rt_program_compile(scratch("m/model.mil"), NULL, 1, names, sizes, 1, results, sizes, 1);
    CHECK(program != NULL);
}

/* ---- tests ---- */

static void test_each_failed_call_prints_one_line_with_its_reason(void)
{
    make_program();
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        begin_capture();
        failures[i].fail();
        const char *text = end_capture();
        const size_t length = strlen(failures[i].call);
        check_note(count_lines(text) == 1 && text_is_clean(text, true, 600), __FILE__, __LINE__, "failure %zu: \"%s\"",
                   i, text);
        CHECK(strncmp(text, failures[i].call, length) == 0 && strncmp(text + length, ": ", 2) == 0);
        CHECK(ane_e5rt_last_error()[0] != '\0' && strstr(text, ane_e5rt_last_error()) == text + length + 2);
    }
    ane_e5rt_program_release(program);
}

static void test_what_works_prints_nothing(void)
{
    begin_capture();
    make_program();
    CHECK_INT(ane_e5rt_program_set_input_fp16(program, "x", half, COUNT), 0);
    CHECK_INT(ane_e5rt_program_execute(program), 0);
    CHECK_INT(ane_e5rt_program_get_output_fp16(program, "y", half, COUNT), 0);
    CHECK_INT(ane_e5rt_compile_check(scratch("m/model.mil"), NULL, 1, NULL), 0);
    ane_e5rt_program_release(program);
    ane_e5rt_program_release(NULL);
    CHECK_STR(end_capture(), "");
}

/* Fails every call; returns how many lines that printed. */
static size_t lines_of_all(void)
{
    make_program();
    begin_capture();
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        failures[i].fail();
    const size_t lines = count_lines(end_capture());
    ane_e5rt_program_release(program);
    return lines;
}

static void test_lines_are_switched_off_by_a_call_and_by_the_environment(void)
{
    const size_t all = sizeof failures / sizeof failures[0];
    ane_e5rt_set_quiet(1);
    CHECK_INT(lines_of_all(), 0);
    CHECK(ane_e5rt_last_error()[0] != '\0'); /* the reason is kept */
    ane_e5rt_set_quiet(0);
    CHECK_INT(lines_of_all(), all);
    setenv("MW_ANE_E5RT_QUIET", "1", 1);
    CHECK_INT(lines_of_all(), 0);
    setenv("MW_ANE_E5RT_QUIET", "0", 1);
    CHECK_INT(lines_of_all(), all);
    setenv("MW_ANE_E5RT_QUIET", "", 1);
    CHECK_INT(lines_of_all(), all);
    unsetenv("MW_ANE_E5RT_QUIET");
}

static void fail_mw_calls(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    mw_program_create(graph, NULL, &err); /* no output */
    CHECK(err.status != MW_OK);
    mw_matmul(x, x, MW_TRANSPOSE_NONE);
    mw_program_create(graph, NULL, NULL);
    mw_program_create(NULL, NULL, NULL);
    mw_graph_destroy(graph);
    mw_graph_open_mil("/dev/null/m.mil", NULL, NULL);
    mw_graph_parse_mil("program", 7, NULL, NULL, NULL);
    mw_dataset_open_idx("/dev/null", "train", NULL);
    mw_trainer_create(NULL, NULL);
    mw_trainer_load(NULL, "x", NULL, NULL);
    mw_program_run(NULL, NULL);
    mw_trainer_fit(NULL, NULL, NULL);
    setenv("MW_E5RT_LIBRARY", "/dev/null/lib.so", 1);
    graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    CHECK(mw_program_create(graph, NULL, NULL) == NULL);
    unsetenv("MW_E5RT_LIBRARY");
    mw_program *compiled = mw_program_create(graph, NULL, NULL);
    mw_program_write(compiled, hostile, MW_F32, NULL, 2, NULL);
    mw_program_destroy(compiled);
    mw_graph_destroy(graph);
}

static void test_mw_calls_that_fail_print_nothing(void)
{
    begin_capture();
    fail_mw_calls();
    CHECK_STR(end_capture(), "");
}

int main(void)
{
    RUN(test_each_failed_call_prints_one_line_with_its_reason);
    RUN(test_what_works_prints_nothing);
    RUN(test_lines_are_switched_off_by_a_call_and_by_the_environment);
    RUN(test_mw_calls_that_fail_print_nothing);
    return check_finish();
}
