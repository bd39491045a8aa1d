/* A model's folder is replaced as a whole or not at all: with every system call and allocation made to fail, the
 * process killed between any two, and readers and writers beside it. Models here are told apart by a number that is
 * both in their text and in their weights. */
#include "base/file/file.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include <millwright/millwright.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/ir/ir.h"

static char folder[512]; /* of this run; made in main; the current folder of every test */

enum { COUNT = 64 };

/* The output's name is in the text, the constant in the weights. */
static mw_graph *model(int number, const mw_allocator *allocator)
{
    float values[COUNT];
    char name[32];
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)(number * COUNT + i) + 0.25f;
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    mw_graph *graph = mw_graph_create(&options, NULL);
    snprintf(name, sizeof name, "model_%d", number);
    mw_tensor *weights = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(8, 8), values), "weights");
    mw_output(mw_relu(weights), name);
    return graph;
}

static mw_status save(int number, mw_error *err)
{
    mw_graph *graph = model(number, NULL);
    const mw_status status = mw_graph_write(graph, "m", NULL, err);
    mw_graph_destroy(graph);
    return status;
}

/* The number that the text in place has, and its weights; -1 if it cannot be read, -2 if they are of two models. */
static int read_model(mw_error *err)
{
    mw_graph *graph = mw_graph_open_mil("m/model.mil", NULL, err);
    int number = -1;
    for (int i = 0; graph != NULL && i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "model_%d", i);
        if (mw_graph_find(graph, name) != NULL)
            number = i;
    }
    const mw_tensor *weights = graph != NULL ? mw_graph_find(graph, "weights") : NULL;
    if (number >= 0 && weights != NULL) {
        const float *data = weights->payload->data;
        for (int i = 0; i < COUNT; i++)
            if (data[i] != (float)(number * COUNT + i) + 0.25f)
                number = -2;
    }
    mw_graph_destroy(graph);
    return number;
}

static bool exists(const char *name)
{
    struct stat status;
    return lstat(name, &status) == 0;
}

static void put(const char *name)
{
    FILE *file = fopen(name, "wb");
    if (CHECK(file != NULL)) {
        fputs("foreign", file);
        fclose(file);
    }
}

/* A new folder with model 0, and files of others in it. */
static void begin(void)
{
    mw_error err = {0};
    folder_empty(".");
    CHECK(save(0, &err) == MW_OK);
    CHECK_OK(err);
    put("m/metadata.json");
    put("m/weights/weight-foreign.bin");
    put("m/weights/weight-0123456789abcdeF.bin");
    CHECK(mkdir("m/analytics", 0700) == 0);
    put("m/analytics/coremldata.bin");
}

static void check_foreign(void)
{
    CHECK(exists("m/metadata.json") && exists("m/analytics/coremldata.bin"));
    CHECK(exists("m/weights/weight-foreign.bin") && exists("m/weights/weight-0123456789abcdeF.bin"));
}

static void test_first_model_has_the_layout_of_core_ml(void)
{
    folder_empty(".");
    CHECK(save(0, NULL) == MW_OK && read_model(NULL) == 0);
    CHECK(exists("m/weights/weight.bin") && folder_count("m") == 2 && folder_count("m/weights") == 1);
}

static void test_replaced_model_leaves_one_weight_file_and_all_others(void)
{
    begin();
    for (int i = 1; i < 6; i++) {
        mw_error err = {0};
        CHECK(save(i % 3, &err) == MW_OK);
        CHECK_OK(err);
        CHECK_INT(read_model(&err), i % 3);
        CHECK(!exists("m/weights/weight.bin"));
        CHECK_INT(folder_count("m/weights"), 3);
        CHECK_INT(folder_count("m"), 4);
    }
    check_foreign();
    CHECK(save(2, NULL) == MW_OK && read_model(NULL) == 2); /* the same again */
    CHECK_INT(folder_count("m/weights"), 3);
}

static void test_same_models_in_turn_make_the_same_folder(void)
{
    char names[2][64] = {"", ""};
    for (int i = 0; i < 2; i++) {
        begin();
        CHECK(save(1, NULL) == MW_OK);
        DIR *opened = opendir("m/weights");
        REQUIRE(opened != NULL);
        for (const struct dirent *entry; (entry = readdir(opened)) != NULL;)
            if (strlen(entry->d_name) == 27 && strchr(entry->d_name, 'F') == NULL)
                snprintf(names[i], sizeof names[i], "%.60s", entry->d_name);
        closedir(opened);
    }
    CHECK(names[0][0] != '\0');
    CHECK_STR(names[0], names[1]);
}

/* Another text may name them. */
static void test_weights_without_a_text_are_left_alone(void)
{
    folder_empty(".");
    CHECK(mkdir("m", 0700) == 0 && mkdir("m/weights", 0700) == 0);
    put("m/weights/weight.bin");
    CHECK(save(1, NULL) == MW_OK && read_model(NULL) == 1);
    CHECK(save(2, NULL) == MW_OK && read_model(NULL) == 2);
    char content[16] = "";
    FILE *file = fopen("m/weights/weight.bin", "rb");
    REQUIRE(file != NULL);
    CHECK(fread(content, 1, sizeof content - 1, file) == 7 && strcmp(content, "foreign") == 0);
    fclose(file);
}

static void test_model_without_weights_removes_the_old_ones(void)
{
    begin();
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 2))), "model_1");
    CHECK(mw_graph_write(graph, "m", NULL, NULL) == MW_OK);
    mw_graph_destroy(graph);
    CHECK_INT(read_model(NULL), 1);
    CHECK(!exists("m/weights/weight.bin"));
    check_foreign();
}

/* ---- faults ---- */

static struct {
    int made, at;
    bool kill;
} plan;

static bool hit(void)
{
    const bool here = plan.made++ == plan.at;
    if (here && plan.kill)
        _exit(9);
    errno = EIO;
    return here;
}

#define REAL mw__file_real_calls

static int hit_open(int at, const char *path, int flags, int mode)
{
    return hit() ? -1 : REAL.open(at, path, flags, mode);
}
static int hit_stat(int at, const char *name, struct stat *out, bool f)
{
    return hit() ? -1 : REAL.stat(at, name, out, f);
}
static int hit_chmod(int descriptor, int mode) { return hit() ? -1 : REAL.chmod(descriptor, mode); }
static long hit_write(int descriptor, const void *data, size_t size)
{
    return hit() ? -1 : REAL.write(descriptor, data, size);
}
static int hit_fsync(int descriptor) { return hit() ? -1 : REAL.fsync(descriptor); }
static int hit_rename(int at, const char *from, const char *to) { return hit() ? -1 : REAL.rename(at, from, to); }
static int hit_unlink(int at, const char *name) { return hit() ? -1 : REAL.unlink(at, name); }

static int hit_close(int descriptor)
{
    const bool failed = hit();
    close(descriptor);
    errno = EIO;
    return failed ? -1 : 0;
}

static mw_status save_with_fault(int number, int at, bool kill, mw_error *err)
{
    mw__file_calls calls = REAL;
    calls.open = hit_open;
    calls.stat = hit_stat;
    calls.chmod = hit_chmod;
    calls.write = hit_write;
    calls.fsync = hit_fsync;
    calls.close = hit_close;
    calls.rename = hit_rename;
    calls.unlink = hit_unlink;
    plan.made = 0;
    plan.at = at;
    plan.kill = kill;
    mw__file_set_calls(&calls);
    const mw_status status = save(number, err);
    mw__file_set_calls(NULL);
    return status;
}

static void test_failed_call_leaves_one_whole_model(void)
{
    int failures = 0;
    bool finished = false;
    for (int n = 0; !finished; n++) {
        REQUIRE(n < 200);
        begin();
        mw_error err = {0}, reading = {0};
        const mw_status status = save_with_fault(1, n, false, &err);
        finished = plan.made <= n;
        const int found = read_model(&reading);
        check_note(found == 0 || found == 1, __FILE__, __LINE__, "call %d left a broken model (%d): %s", n, found,
                   reading.message);
        CHECK(status == err.status && (status == MW_OK || status == MW_ERROR_FILE));
        CHECK(status != MW_OK || found == 1);
        CHECK(folder_count("m/weights") <= 4); /* the old weights may be left */
        failures += status != MW_OK;
        check_foreign();
        CHECK(save(2, &reading) == MW_OK && read_model(&reading) == 2); /* and the next one goes well */
        CHECK_INT(folder_count("m"), 4);
    }
    CHECK(failures > 10);
}

/* Nothing of a model that was not written stays. */
static void test_failed_save_removes_its_weights(void)
{
    bool finished = false;
    for (int n = 0; !finished; n++) {
        REQUIRE(n < 200);
        begin();
        const mw_status status = save_with_fault(1, n, false, NULL);
        finished = plan.made <= n;
        if (status != MW_OK && read_model(NULL) == 0)
            CHECK_INT(folder_count("m/weights"), 3);
    }
}

static void test_failed_allocation_leaves_one_whole_model(void)
{
    bool failed = true;
    for (long n = 0; failed; n++) {
        REQUIRE(n < 10000);
        begin();
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_graph *graph = model(1, &allocator);
        const mw_status status = mw_graph_write(graph, "m", NULL, &err);
        mw_graph_destroy(graph);
        failed = failing.failed;
        CHECK_INT(read_model(NULL), status == MW_OK ? 1 : 0);
        CHECK(failed || status == MW_OK);
        CHECK_INT(failing.live, 0);
    }
}

static void test_killed_save_leaves_one_whole_model(void)
{
    bool seen[2] = {false, false}, finished = false;
    for (int n = 0; !finished; n++) {
        REQUIRE(n < 200);
        begin();
        fflush(stdout);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0)
            _exit(save_with_fault(1, n, true, NULL) == MW_OK ? 0 : 1);
        int how = 0;
        REQUIRE(waitpid(child, &how, 0) == child && WIFEXITED(how));
        finished = WEXITSTATUS(how) == 0;
        const int found = read_model(NULL);
        check_note(found == 0 || found == 1, __FILE__, __LINE__, "killed at call %d: %d", n, found);
        if (found >= 0)
            seen[found] = true;
        check_foreign();
        CHECK(save(2, NULL) == MW_OK && read_model(NULL) == 2);
    }
    CHECK(seen[0] && seen[1]);
}

/* ---- beside others ---- */

static pid_t start_saving(int first)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = first;; i = (i + 1) % 3)
            if (save(i, NULL) != MW_OK)
                _exit(1);
    }
    return child;
}

static void stop(pid_t child)
{
    int how = 0;
    CHECK(child > 0 && kill(child, SIGKILL) == 0 && waitpid(child, &how, 0) == child && WIFSIGNALED(how));
}

static void test_reader_beside_two_writers_sees_whole_models(void)
{
    begin();
    const pid_t one = start_saving(1), two = start_saving(2);
    int seen[3] = {0}, broken = 0;
    for (int i = 0; i < 2000 || (i < 200000 && (seen[1] == 0 || seen[2] == 0)); i++) {
        mw_error err = {0};
        const int found = read_model(&err);
        if (found >= 0)
            seen[found]++;
        else
            check_note(broken++ > 9, __FILE__, __LINE__, "read %d: %d %s", i, found, err.message);
    }
    stop(one);
    stop(two);
    CHECK_INT(broken, 0);
    CHECK(seen[1] > 0 && seen[2] > 0);
    CHECK(save(1, NULL) == MW_OK && read_model(NULL) == 1);
    check_foreign();
}

int main(void)
{
    if (!folder_enter(folder))
        return 1;
    RUN(test_first_model_has_the_layout_of_core_ml);
    RUN(test_replaced_model_leaves_one_weight_file_and_all_others);
    RUN(test_same_models_in_turn_make_the_same_folder);
    RUN(test_weights_without_a_text_are_left_alone);
    RUN(test_model_without_weights_removes_the_old_ones);
    RUN(test_failed_call_leaves_one_whole_model);
    RUN(test_failed_save_removes_its_weights);
    RUN(test_failed_allocation_leaves_one_whole_model);
    RUN(test_killed_save_leaves_one_whole_model);
    RUN(test_reader_beside_two_writers_sees_whole_models);
    folder_leave(folder);
    return check_finish();
}
