/* Streams of metrics in a loop of one's own: the bytes of JSON Lines and tables, going on, and what is refused. */
#include "base/file/file.h"
#include "runtime/files.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <errno.h>
#include <millwright/millwright.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[512];

static void write_two(mw_metrics *metrics, mw_error *err)
{
    const mw_metrics_field first[] = {{.name = "loss", .value = 0.5},
                                      {.name = "norm/\"a\",b", .value = (double)NAN},
                                      {.name = "note", .text = "tab\t, quote \", caf\xc3\xa9, \xff"}};
    const mw_metrics_field second[] = {{.name = "accuracy", .value = -INFINITY}, {.name = "loss", .value = 1e300}};
    mw_metrics_write(metrics, "step", 1, first, 3, err);
    mw_metrics_write(metrics, "epoch", 2, second, 2, err);
}

static void test_json_lines_have_these_bytes(void)
{
    mw_error err = {0};
    mw_metrics *metrics = mw_metrics_create("a.jsonl", NULL, &err);
    REQUIRE(metrics != NULL);
    mw_metrics_write(metrics, "run", 0, NULL, 0, &err);
    write_two(metrics, &err);
    CHECK(folder_holds("a.jsonl", /* before it is closed */
                       "{\"kind\":\"run\",\"step\":0}\n"
                       "{\"kind\":\"step\",\"step\":1,\"loss\":0.5,\"norm/\\\"a\\\",b\":null,"
                       "\"note\":\"tab\\u0009, quote \\\", caf\xc3\xa9, \xef\xbf\xbd\","
                       "\"non_finite\":{\"norm/\\\"a\\\",b\":\"nan\"}}\n"
                       "{\"kind\":\"epoch\",\"step\":2,\"accuracy\":null,\"loss\":1e+300,"
                       "\"non_finite\":{\"accuracy\":\"-inf\"}}\n"));
    mw_metrics_destroy(metrics);
    CHECK_OK(err);
}

/* The file is replaced as a column comes; frames and texts are left out. */
static void test_a_table_has_these_bytes(void)
{
    mw_error err = {0};
    mw_metrics *metrics = mw_metrics_create("a.csv", NULL, &err);
    REQUIRE(metrics != NULL);
    CHECK(folder_holds("a.csv", "kind,step\n"));
    mw_metrics_write(metrics, "run", 0, &(mw_metrics_field){.name = "seed", .value = 1}, 1, &err);
    CHECK(folder_holds("a.csv", "kind,step\n"));
    write_two(metrics, &err);
    mw_metrics_write(metrics, "step", 3, &(mw_metrics_field){.name = "loss", .value = 3}, 1, &err);
    mw_metrics_destroy(metrics);
    CHECK_OK(err);
    CHECK(folder_holds("a.csv", "kind,step,loss,\"norm/\"\"a\"\",b\",accuracy\n"
                                "step,1,0.5,nan,\n"
                                "epoch,2,1e+300,,-inf\n"
                                "step,3,3,,\n"));
}

static void test_numbers_read_back_and_are_short(void)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},           {1.0 / 3.0, "0.3333333333333333"},
                 {68902912, "68902912"}, {9007199254740993.0, "9007199254740992"},
                 {1e17, "1e+17"},        {-0.0, "-0"},
                 {5e-324, "5e-324"},     {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {0.00001, "1e-05"}};
    char expected[4096] = "", line[200];
    mw_error err = {0};
    mw_metrics *metrics = mw_metrics_create("n.ndjson", NULL, &err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mw_metrics_write(metrics, "step", 1, &(mw_metrics_field){.name = "x", .value = cases[i].value}, 1, &err);
        snprintf(line, sizeof line, "{\"kind\":\"step\",\"step\":1,\"x\":%s}\n", cases[i].text);
        strcat(expected, line);
        CHECK(strtod(cases[i].text, NULL) == cases[i].value);
    }
    mw_metrics_destroy(metrics);
    CHECK_OK(err);
    CHECK(folder_holds("n.ndjson", expected));
}

/* ---- going on ---- */

static mw_metrics *go_on(const char *path, int64_t step, mw_error *err)
{
    mw_metrics_options options = mw_metrics_defaults();
    options.resume = true;
    options.step = step;
    return mw_metrics_create(path, &options, err);
}

static void test_going_on_drops_later_records(void)
{
    mw_error err = {0};
    static const char *const paths[] = {"b.jsonl", "b.csv"};
    static const char *const expected[] = {
        "{\"kind\":\"step\",\"step\":1,\"a\":1}\n{\"kind\":\"note\",\"step\":2,\"b,\\\"\":2}\n"
        "{\"kind\":\"step\",\"step\":3,\"c\":7}\n",
        "kind,step,a,\"b,\"\"\",c\nstep,1,1,,\nnote,2,,2,\nstep,3,,,7\n"};
    for (int i = 0; i < 2; i++) {
        mw_metrics *metrics = go_on(paths[i], 5, &err); /* nothing is there */
        mw_metrics_write(metrics, "step", 1, &(mw_metrics_field){.name = "a", .value = 1}, 1, &err);
        mw_metrics_write(metrics, "note", 2, &(mw_metrics_field){.name = "b,\"", .value = 2}, 1, &err);
        mw_metrics_write(metrics, "step", 3, &(mw_metrics_field){.name = "a", .value = 3}, 1, &err);
        mw_metrics_write(metrics, "end", 4, NULL, 0, &err);
        mw_metrics_destroy(metrics);
        metrics = go_on(paths[i], 2, &err);
        mw_metrics_write(metrics, "step", 3, &(mw_metrics_field){.name = "c", .value = 7}, 1, &err);
        mw_metrics_destroy(metrics);
        CHECK_OK(err);
        CHECK(folder_holds(paths[i], expected[i]));
    }
}

/* What a process that was killed in the middle of a write could leave. */
static void test_a_torn_record_goes(const char *path)
{
    mw_error err = {0};
    mw_metrics *metrics = mw_metrics_create(path, NULL, &err);
    write_two(metrics, &err);
    size_t size, whole;
    unsigned char *before = get_file(path, &whole);
    mw_metrics_write(metrics, "step", 3, &(mw_metrics_field){.name = "loss", .value = 1.5}, 1, &err);
    mw_metrics_destroy(metrics);
    unsigned char *all = get_file(path, &size);
    CHECK_OK(err);
    for (size_t length = whole; length < size; length++) {
        put_file(path, all, length);
        mw_metrics_destroy(go_on(path, 9, &err));
        CHECK_OK(err);
        size_t left;
        unsigned char *after = get_file(path, &left);
        CHECK(left == whole && memcmp(after, before, whole) == 0);
        free(after);
    }
    free(all);
    free(before);
}

static void test_torn_records_go(void)
{
    test_a_torn_record_goes("torn.jsonl");
    test_a_torn_record_goes("torn.csv");
    test_a_torn_record_goes("torn.tfevents");
}

/* ---- what is refused ---- */

static void test_files_of_others_stay(void)
{
    static const char *const paths[] = {"mine.csv", "mine.jsonl", "mine.tfevents"};
    static const char *const contents[] = {"kind,steps\n1,2\n", "{\"kind\": \"step\", \"step\": 1}\n",
                                           "kind,step of another\n"};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            mw_error err = {0};
            folder_put(paths[i], contents[k]);
            CHECK(mw_metrics_create(paths[i], NULL, &err) == NULL);
            CHECK_ERROR(err, MW_ERROR_FILE, "no ");
            err = (mw_error){0};
            CHECK(go_on(paths[i], 1, &err) == NULL);
            CHECK_ERROR(err, MW_ERROR_FILE, "another path");
            CHECK(folder_holds(paths[i], contents[k]));
        }
    mw_error err = {0};
    folder_put("mixed.jsonl", "{\"kind\":\"step\",\"step\":1}\n{\"mine\":1}\n");
    CHECK(go_on("mixed.jsonl", 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "line 2");
    CHECK_INT(err.text_line, 2);
    err = (mw_error){0};
    folder_put("empty.csv", ""); /* loses nothing */
    mw_metrics_destroy(mw_metrics_create("empty.csv", NULL, &err));
    CHECK_OK(err);
}

static void test_paths_and_options_are_checked(void)
{
    mw_error err = {0};
    CHECK(mw_metrics_create("a.txt", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "says no format");
    err = (mw_error){0};
    CHECK(mw_metrics_create("", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no path");
    err = (mw_error){0};
    CHECK(mkfifo("pipe.jsonl", 0600) == 0 && mw_metrics_create("pipe.jsonl", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "regular file");
    err = (mw_error){0};
    mw_metrics_options options = mw_metrics_defaults();
    options.format = MW_METRICS_CSV;
    mw_metrics_destroy(mw_metrics_create("any name", &options, &err));
    CHECK_OK(err);
    CHECK(folder_holds("any name", "kind,step\n"));
    options.step = -1;
    CHECK(mw_metrics_create("any name", &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "-1");
    err = (mw_error){0};
    mw_metrics_destroy(mw_metrics_create("new/folder/run.csv", NULL, &err)); /* made */
    CHECK_OK(err);
    CHECK(folder_holds("new/folder/run.csv", "kind,step\n"));
}

static void check_refused(mw_metrics *metrics, const char *kind, int64_t step, const mw_metrics_field *fields,
                          size_t count, const char *why)
{
    mw_error err = {0};
    mw_metrics_write(metrics, kind, step, fields, count, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, why);
}

static void test_records_are_checked(void)
{
    mw_error err = {0};
    mw_metrics *metrics = mw_metrics_create("checked.jsonl", NULL, &err);
    REQUIRE(metrics != NULL);
    char name[1200];
    memset(name, 'n', sizeof name);
    name[1101] = '\0';
    const mw_metrics_field twice[] = {{.name = "a"}, {.name = "b"}, {.name = "a"}};
    check_refused(metrics, "", 1, NULL, 0, "kind");
    check_refused(metrics, "two words", 1, NULL, 0, "two words");
    check_refused(metrics, "abcdefghijklmnopqrstuvwxyz123456", 1, NULL, 0, "31");
    check_refused(metrics, NULL, 1, NULL, 0, "NULL");
    check_refused(metrics, "step", -1, NULL, 0, "step -1");
    check_refused(metrics, "step", 1, NULL, 1, "NULL");
    check_refused(metrics, "step", 1, twice, 3, "\"a\" comes twice");
    check_refused(metrics, "step", 1, &(mw_metrics_field){.name = NULL}, 1, "no name");
    check_refused(metrics, "step", 1, &(mw_metrics_field){.name = "a\nb"}, 1, "control");
    check_refused(metrics, "step", 1, &(mw_metrics_field){.name = "\xff"}, 1, "UTF-8");
    check_refused(metrics, "step", 1, &(mw_metrics_field){.name = "kind"}, 1, "kind");
    check_refused(metrics, "step", 1, &(mw_metrics_field){.name = "non_finite"}, 1, "non_finite");
    check_refused(metrics, "step", 1, &(mw_metrics_field){.name = name}, 1, "1101");
    name[1100] = '\0';
    CHECK_INT(mw_metrics_write(metrics, "step", 1, &(mw_metrics_field){.name = name}, 1, &err), MW_OK);
    mw_metrics_destroy(metrics);
    CHECK_OK(err);
}

static void test_two_streams_have_two_files(void)
{
    mw_error err = {0};
    mw_metrics *first = mw_metrics_create("shared.csv", NULL, &err),
               *second = mw_metrics_create("shared.csv", NULL, &err);
    CHECK(first != NULL && second == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "another stream");
    err = (mw_error){0};
    mw_metrics_write(first, "step", 1, &(mw_metrics_field){.name = "a"}, 1, &err); /* widens */
    CHECK(mw_metrics_create("shared.csv", NULL, NULL) == NULL);
    mw_metrics_destroy(first);
    mw_metrics_destroy(mw_metrics_create("shared.csv", NULL, &err));
    CHECK_OK(err);
}

/* ---- failures of the system ---- */

static int writes_left;

static long write_a_part(int descriptor, const void *data, size_t size)
{
    if (writes_left-- > 0)
        return mw__file_real_calls.write(descriptor, data, size);
    errno = ENOSPC;
    return writes_left == -1 ? mw__file_real_calls.write(descriptor, data, size / 2) : -1;
}

static void test_a_full_disk_leaves_whole_records(void)
{
    mw_error err = {0};
    mw_metrics *metrics = mw_metrics_create("full.jsonl", NULL, &err);
    mw_metrics_write(metrics, "step", 1, NULL, 0, &err);
    CHECK_OK(err);
    mw__file_calls calls = mw__file_real_calls;
    calls.write = write_a_part;
    writes_left = 0;
    mw__file_set_calls(&calls);
    mw_metrics_write(metrics, "step", 2, NULL, 0, &err);
    mw__file_set_calls(NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "No space left");
    CHECK(folder_holds("full.jsonl", "{\"kind\":\"step\",\"step\":1}\n"));
    err = (mw_error){0};
    mw_metrics_write(metrics, "step", 3, NULL, 0, &err); /* there is room again */
    mw_metrics_destroy(metrics);
    CHECK_OK(err);
    CHECK(folder_holds("full.jsonl", "{\"kind\":\"step\",\"step\":1}\n{\"kind\":\"step\",\"step\":3}\n"));
}

static void test_every_allocation_may_fail(void)
{
    static const char *const paths[] = {"fault.jsonl", "fault.csv", "fault.tfevents"};
    for (int i = 0; i < 3; i++)
        for (long n = 0;; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            mw_metrics_options options = mw_metrics_defaults();
            options.allocator = &allocator;
            options.resume = n % 2 == 1;
            mw_metrics *metrics = mw_metrics_create(paths[i], &options, &err);
            write_two(metrics, &err);
            mw_metrics_destroy(metrics);
            CHECK_INT(failing.live, 0);
            CHECK(failing.failed ? err.status == MW_ERROR_MEMORY : err.status == MW_OK);
            if (!failing.failed)
                break;
        }
}

/* ---- a process that is killed ---- */

static void write_for_ever(const char *path)
{
    mw_error err = {0};
    mw_metrics *metrics = mw_metrics_create(path, NULL, &err);
    for (int64_t step = 1; err.status == MW_OK; step++) {
        const mw_metrics_field fields[] = {{.name = "loss", .value = 1.0 / (double)step},
                                           {.name = step % 2 == 0 ? "even" : "odd", .value = (double)step}};
        mw_metrics_write(metrics, "step", step, fields, 2, &err);
    }
    _exit(1);
}

static void kill_writer(const char *path, int microseconds)
{
    const pid_t child = fork();
    if (child == 0)
        write_for_ever(path);
    int status;
    struct stat there;
    for (int i = 0; i < 60000 && stat(path, &there) != 0; i++)
        usleep(1000);
    usleep((useconds_t)microseconds);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* A kill within the call that writes may tear the last line, where it crosses a page; going on mends it. */
static void check_lines(const char *path, int64_t *out_steps)
{
    size_t size;
    unsigned char *data = get_file(path, &size);
    const char *at = (const char *)data, *stop;
    for (*out_steps = 0; data != NULL && (stop = memchr(at, '\n', size)) != NULL; at = stop + 1, (*out_steps)++) {
        char expected[64];
        snprintf(expected, sizeof expected, "{\"kind\":\"step\",\"step\":%lld,\"loss\":", (long long)*out_steps + 1);
        CHECK(strncmp(at, expected, strlen(expected)) == 0 && stop[-1] == '}');
        size -= (size_t)(stop + 1 - at);
    }
    CHECK(size < 100); /* of the last */
    free(data);
}

static void test_a_killed_process_leaves_lines(void)
{
    for (int i = 0; i < 10; i++) {
        int64_t before, after;
        size_t size;
        mw_error err = {0};
        kill_writer("killed.jsonl", 3000 + 1711 * i);
        check_lines("killed.jsonl", &before);
        mw_metrics_destroy(go_on("killed.jsonl", before, &err)); /* its lock is gone with it */
        CHECK_OK(err);
        check_lines("killed.jsonl", &after);
        unsigned char *data = get_file("killed.jsonl", &size);
        CHECK(before == after && (size == 0 || data[size - 1] == '\n'));
        free(data);
    }
}

int main(void)
{
    if (!folder_enter(folder))
        return 1;
    RUN(test_json_lines_have_these_bytes);
    RUN(test_a_table_has_these_bytes);
    RUN(test_numbers_read_back_and_are_short);
    RUN(test_going_on_drops_later_records);
    RUN(test_torn_records_go);
    RUN(test_files_of_others_stay);
    RUN(test_paths_and_options_are_checked);
    RUN(test_records_are_checked);
    RUN(test_two_streams_have_two_files);
    RUN(test_a_full_disk_leaves_whole_records);
    RUN(test_every_allocation_may_fail);
    RUN(test_a_killed_process_leaves_lines);
    folder_leave(folder);
    return check_finish();
}
