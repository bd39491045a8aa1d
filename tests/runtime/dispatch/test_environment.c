/* What the environment may do: a value that names nothing is refused with the variable's name, and in a process with
 * raised privileges every variable is ignored. This program runs itself, plain and setuid, to see both. */
#include "support/check.h"
#include "support/child.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OWNER = 65534, STRANGER = 65533, NOT_RAISED = 77, OUTPUT = 1024 };

typedef struct variable_row {
    const char *name, *value;
} variable_row;

static const variable_row malformed[] = {
    {"MW_BLAS", "/nonexistent/libblas.so"},
    {"MW_BLAS", "libm.so.6"}, /* loads, and has no cblas_sgemm */
    {"MW_E5RT_LIBRARY", "/nonexistent/libe5rt.so"},
    {"MW_ENGINE_THREADS", "0"},
    {"MW_ENGINE_THREADS", "99999999999999999999999"},
    {"MW_ENGINE_WAKE", "soon"},
    {"MW_ENGINE_WAKE", "-1"},
    {"MW_ENGINE_REF", "yes"},
    {"MW_ENGINE_WIDE", "128"},
    {"MW_ENGINE_FUSE", "off"},
    {"MW_PASSES_OFF", "conv_decomposed,nothing"},
    {"TMPDIR", "/nonexistent"},
};

static const variable_row sound[] = {{"MW_BLAS", "none"},         {"MW_BLAS", ""},
                                     {"MW_E5RT_LIBRARY", ""},     {"MW_ENGINE_THREADS", "2"},
                                     {"MW_ENGINE_THREADS", ""},   {"MW_ENGINE_WAKE", "0"},
                                     {"MW_ENGINE_REF", "0"},      {"MW_ENGINE_REF", "1"},
                                     {"MW_ENGINE_WIDE", "256"},   {"MW_ENGINE_WIDE", "0"},
                                     {"MW_ENGINE_FUSE", "0"},     {"MW_ENGINE_FUSE", "1"},
                                     {"MW_PASSES_OFF", "blocks"}, {"MW_PASSES_OFF", "digits,fuse"}};

/* ---- the program that runs itself: compiles something and prints why it could not ---- */

static int compile(bool is_raised)
{
    if (is_raised && geteuid() == getuid())
        return NOT_RAISED;
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(64, 64));
    mw_output(mw_matmul(x, x, MW_TRANSPOSE_NONE), "y");
    mw_compile_options options = mw_compile_defaults();
    mw_program *program = mw_program_create(graph, &options, &err);
    printf("%s\n", err.message);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    fflush(stdout);
    return program == NULL;
}

/* ---- running it ---- */

static char folder[64] = "/tmp/millwright-test-XXXXXX", copy_path[128];
static const char *own_path;

static void become_stranger(void)
{
    if (setgid(STRANGER) != 0 || setuid(STRANGER) != 0)
        _exit(NOT_RAISED);
}

/* The exit code; `output` gets what it printed. */
static int run(const char *path, const char *mode, const variable_row *row, char output[OUTPUT])
{
    int ends[2];
    output[0] = '\0';
    if (pipe(ends) != 0)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        setenv(row->name, row->value, 1);
        if (strcmp(mode, "raised") == 0)
            become_stranger();
        execl(path, path, mode, (char *)NULL);
        _exit(NOT_RAISED);
    }
    close(ends[1]);
    size_t size = 0;
    for (ssize_t got; (got = read(ends[0], output + size, OUTPUT - 1 - size)) > 0;)
        size += (size_t)got;
    output[size] = '\0';
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char piece[1 << 16];
    bool good = in != NULL && out != NULL;
    for (size_t got; good && (got = fread(piece, 1, sizeof piece, in)) > 0;)
        good = fwrite(piece, 1, got, out) == got;
    if (in != NULL)
        fclose(in);
    if (out != NULL)
        good = fclose(out) == 0 && good;
    return good;
}

/* A copy that belongs to OWNER and runs with its rights. */
static bool make_raised_copy(void)
{
    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(copy_path, sizeof copy_path, "%s/raised", folder);
    return chmod(folder, 0755) == 0 && copy_file(own_path, copy_path) && chown(copy_path, OWNER, OWNER) == 0 &&
           chmod(copy_path, 04755) == 0;
}

static void remove_copy(void)
{
    unlink(copy_path);
    rmdir(folder);
}

/* ---- tests ---- */

static void test_a_malformed_value_is_refused_by_name(void)
{
    char output[OUTPUT];
    if (!child_can_start(own_path))
        SKIP("an emulator runs this test, and no other program");
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        const variable_row *row = &malformed[i];
        const int code = run(own_path, "plain", row, output);
        check_note(code == 1 && strstr(output, row->name) != NULL, __FILE__, __LINE__, "%s=%s gives %d \"%s\"",
                   row->name, row->value, code, output);
        if (strcmp(row->name, "MW_BLAS") == 0 || strcmp(row->name, "MW_E5RT_LIBRARY") == 0)
            CHECK_CONTAINS(output, row->value);
    }
}

static void test_every_documented_value_is_taken(void)
{
    char output[OUTPUT];
    if (!child_can_start(own_path))
        SKIP("an emulator runs this test, and no other program");
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        const int code = run(own_path, "plain", &sound[i], output);
        check_note(code == 0, __FILE__, __LINE__, "%s=%s gives %d \"%s\"", sound[i].name, sound[i].value, code, output);
    }
}

static void test_raised_privileges_ignore_the_environment(void)
{
    char output[OUTPUT];
    if (!child_can_start(own_path))
        SKIP("an emulator runs this test, and no other program");
    if (geteuid() != 0)
        SKIP("only root can make a setuid program of another user");
    if (child_is_sanitized())
        SKIP("the leak check cannot look into a process with other rights, and ends it");
    const bool is_made = make_raised_copy();
    for (size_t i = 0; is_made && i < sizeof malformed / sizeof *malformed; i++) {
        const variable_row *row = &malformed[i];
        const int code = run(copy_path, "raised", row, output);
        if (code == NOT_RAISED) {
            remove_copy();
            SKIP("programs do not get their owner's rights here");
        }
        check_note(code == 0, __FILE__, __LINE__, "%s=%s gives %d \"%s\"", row->name, row->value, code, output);
    }
    remove_copy();
    CHECK(is_made);
}

int main(int count, char **arguments)
{
    if (count > 1)
        return compile(strcmp(arguments[1], "raised") == 0);
    char path[4096];
    own_path = realpath(arguments[0], path);
    if (own_path == NULL)
        return 1;
    RUN(test_a_malformed_value_is_refused_by_name);
    RUN(test_every_documented_value_is_taken);
    RUN(test_raised_privileges_ignore_the_environment);
    return check_finish();
}
