/* Files: bounded reads, reads below a folder, and writes that appear whole or not at all, with every system call made
 * to fail and the process killed between any two. */
#include "base/file/file.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[512]; /* of this run; made in main */

static const char *in_folder(const char *name)
{
    static char paths[4][1024]; /* so that one expression may name several */
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static bool holds(const char *name, const char *content) { return folder_holds(in_folder(name), content); }

static void put(const char *name, const char *content) { folder_put(in_folder(name), content); }

static void empty_folder(void)
{
    mw__file_remove_folder(folder);
    CHECK(mkdir(folder, 0700) == 0);
}

/* ---- reading ---- */

static void test_read_returns_the_whole_file(void)
{
    put("a", "hello");
    char *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    CHECK(mw__file_read(NULL, in_folder("a"), 5, &data, &size, &err) == MW_OK);
    CHECK_OK(err);
    REQUIRE(data != NULL);
    CHECK_INT(size, 5);
    CHECK_STR(data, "hello");
    mw__free(NULL, data);
    put("empty", "");
    CHECK(mw__file_read(NULL, in_folder("empty"), 0, &data, &size, &err) == MW_OK);
    CHECK(data != NULL && size == 0 && data[0] == '\0');
    mw__free(NULL, data);
}

static void check_read_fails(const char *name, mw_status status, const char *part)
{
    char *data = (char *)"junk";
    size_t size = 7;
    mw_error err = {0};
    CHECK(mw__file_read(NULL, in_folder(name), 4, &data, &size, &err) == status);
    CHECK_ERROR(err, status, part);
    CHECK(data == NULL && size == 0);
}

static void test_read_refuses_what_is_no_file_or_too_large(void)
{
    put("a", "hello");
    check_read_fails("a", MW_ERROR_FORMAT, "more than the 4 allowed");
    check_read_fails("missing", MW_ERROR_FILE, "cannot open");
    check_read_fails(".", MW_ERROR_FILE, "not a regular file");
    CHECK(mkfifo(in_folder("fifo"), 0600) == 0);
    check_read_fails("fifo", MW_ERROR_FILE, "not a regular file"); /* and does not wait for a writer */
    mw__file file;
    CHECK(mw__file_open(&file, "/dev/null", NULL) == MW_ERROR_FILE);
    CHECK_INT(file.descriptor, -1);
    empty_folder();
}

static void test_read_survives_failed_allocations(void)
{
    put("a", "hello");
    failing_allocator failing = {.fail_at = 0};
    const mw_allocator allocator = failing_allocator_of(&failing);
    char *data;
    size_t size;
    mw_error err = {0};
    CHECK(mw__file_read(&allocator, in_folder("a"), 100, &data, &size, &err) == MW_ERROR_MEMORY);
    CHECK_INT(failing.live, 0);
}

static void test_read_at_is_bounded_by_the_file(void)
{
    put("a", "0123456789");
    mw__file file;
    mw_error err = {0};
    REQUIRE(mw__file_open(&file, in_folder("a"), &err) == MW_OK);
    CHECK_INT(file.size, 10);
    char part[8] = "";
    CHECK(mw__file_read_at(&file, 3, part, 4, "a", &err) == MW_OK);
    CHECK_STR(part, "3456");
    CHECK(mw__file_read_at(&file, 10, part, 0, "a", &err) == MW_OK);
    CHECK(mw__file_read_at(&file, 8, part, 3, "a", &err) == MW_ERROR_FORMAT);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "too short");
    CHECK(mw__file_read_at(&file, UINT64_MAX, part, 2, "a", NULL) == MW_ERROR_FORMAT);
    CHECK(truncate(in_folder("a"), 4) == 0);
    err = (mw_error){0};
    CHECK(mw__file_read_at(&file, 3, part, 4, "a", &err) == MW_ERROR_FORMAT);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "became shorter");
    mw__file_close(&file);
    mw__file_close(&file);
}

static mw_status open_below(const char *name)
{
    mw__file file;
    mw_error err = {0};
    const mw_status status = mw__file_open_below(&file, in_folder("root"), name, &err);
    CHECK(status == err.status && (status == MW_OK) == (file.descriptor >= 0));
    mw__file_close(&file);
    return status;
}

static void test_open_below_never_leaves_the_folder(void)
{
    CHECK(mkdir(in_folder("root"), 0700) == 0 && mkdir(in_folder("root/sub"), 0700) == 0);
    put("outside", "secret");
    put("root/weight.bin", "1");
    put("root/sub/weight.bin", "2");
    CHECK(symlink("../outside", in_folder("root/link")) == 0);
    CHECK(symlink("..", in_folder("root/up")) == 0);
    CHECK(symlink("weight.bin", in_folder("root/inner")) == 0);
    CHECK(mkfifo(in_folder("root/fifo"), 0600) == 0);
    CHECK(open_below("weight.bin") == MW_OK);
    CHECK(open_below("sub/weight.bin") == MW_OK);
    CHECK(open_below("inner") == MW_OK);
    const char *const refused[] = {"../outside",
                                   "sub/../../outside",
                                   "/etc/passwd",
                                   "link",
                                   "up/outside",
                                   "fifo",
                                   "",
                                   "/",
                                   "sub",
                                   "sub/",
                                   "sub//weight.bin",
                                   "./weight.bin",
                                   "..",
                                   "missing",
                                   "sub/missing",
                                   "weight.bin/",
                                   "weight.bin/other"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        check_note(open_below(refused[i]) == MW_ERROR_FILE, __FILE__, __LINE__, "\"%s\" was opened", refused[i]);
    char name[400];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK(open_below(name) == MW_ERROR_FILE);
    mw__file_remove_folder(in_folder("root/sub"));
    mw__file_remove_folder(in_folder("root"));
    empty_folder();
}

/* ---- writing with injected faults ---- */

typedef enum fault { NO_FAULT, FAIL, INTERRUPT, KILL } fault;

static struct {
    fault fault;
    int at;       /* the call that is hit; INTERRUPT hits every call once */
    int made;     /* calls so far */
    bool again;   /* the call before was interrupted */
    bool trickle; /* one byte a write */
    bool renamed;
} plan;

/* True if this call must fail; errno is set. */
static bool hit(void)
{
    if (plan.fault == INTERRUPT) {
        plan.again = !plan.again;
        plan.made++;
        errno = EINTR;
        return plan.again;
    }
    const bool here = plan.made++ == plan.at;
    if (here && plan.fault == KILL)
        _exit(9);
    errno = EIO;
    return here && plan.fault == FAIL;
}

/* Those that no signal interrupts. */
static bool hit_for_good(void) { return plan.fault != INTERRUPT && hit(); }

static int planned_open(int at, const char *path, int flags, int mode)
{
    return hit() ? -1 : mw__file_real_calls.open(at, path, flags, mode);
}

static int planned_stat(int at, const char *name, struct stat *out, bool follow)
{
    return hit_for_good() ? -1 : mw__file_real_calls.stat(at, name, out, follow);
}

static long planned_readlink(int at, const char *name, char *out, size_t size)
{
    return hit_for_good() ? -1 : mw__file_real_calls.readlink(at, name, out, size);
}

static int planned_chown(int descriptor, long owner, long group)
{
    return hit_for_good() ? -1 : mw__file_real_calls.chown(descriptor, owner, group);
}

static int planned_chmod(int descriptor, int mode)
{
    return hit_for_good() ? -1 : mw__file_real_calls.chmod(descriptor, mode);
}

static int planned_unlink(int at, const char *name) { return hit_for_good() ? -1 : unlinkat(at, name, 0); }

static long planned_write(int descriptor, const void *data, size_t size)
{
    return hit() ? -1 : write(descriptor, data, plan.trickle && size > 1 ? 1 : size);
}

static int planned_fsync(int descriptor) { return hit() ? -1 : fsync(descriptor); }

/* A close that fails has closed, as on Linux; an interrupted one is not called again. */
static int planned_close(int descriptor)
{
    const bool failed = hit();
    const int reason = errno;
    plan.again = false;
    close(descriptor);
    errno = reason;
    return failed ? -1 : 0;
}

static int planned_rename(int at, const char *from, const char *to)
{
    if (hit_for_good())
        return -1;
    plan.renamed = renameat(at, from, at, to) == 0;
    return plan.renamed ? 0 : -1;
}

static const mw__file_calls planned = {
    .open = planned_open,
    .stat = planned_stat,
    .readlink = planned_readlink,
    .chown = planned_chown,
    .chmod = planned_chmod,
    .write = planned_write,
    .fsync = planned_fsync,
    .close = planned_close,
    .rename = planned_rename,
    .unlink = planned_unlink,
    .lock = flock,
};

static const char *planned_target = "target";

static mw_status write_planned(const mw_allocator *allocator, fault kind, int at, bool durable, mw_error *err)
{
    memset(&plan, 0, sizeof plan);
    plan.fault = kind;
    plan.at = at;
    plan.trickle = true;
    mw__file_set_calls(&planned);
    const mw_status status = mw__file_write(allocator, in_folder(planned_target), "new content", 11, durable, err);
    mw__file_set_calls(NULL);
    return status;
}

static void test_write_replaces_the_file(void)
{
    for (int durable = 0; durable < 2; durable++) {
        put("target", "old");
        mw_error err = {0};
        CHECK(write_planned(NULL, NO_FAULT, 0, durable, &err) == MW_OK); /* also: one byte at a time */
        CHECK_OK(err);
        CHECK(holds("target", "new content"));
        CHECK_INT(folder_count(folder), 1);
        CHECK(mw__file_write(NULL, in_folder("target"), NULL, 0, durable, &err) == MW_OK);
        CHECK(holds("target", ""));
    }
}

static void test_durable_write_calls_fsync_and_the_other_does_not(void)
{
    CHECK(write_planned(NULL, NO_FAULT, 0, true, NULL) == MW_OK);
    const int durable_calls = plan.made;
    CHECK(write_planned(NULL, NO_FAULT, 0, false, NULL) == MW_OK);
    CHECK_INT(durable_calls - plan.made, 2); /* of the file and of its folder */
}

static void check_failed_calls(int files)
{
    for (int durable = 0; durable < 2; durable++) {
        bool reached_end = false;
        int failed_in_place = 0;
        for (int n = 0; !reached_end; n++) {
            REQUIRE(n < 100);
            put("target", "old");
            failing_allocator failing = {.fail_at = -1};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            const mw_status status = write_planned(&allocator, FAIL, n, durable, &err);
            reached_end = plan.made <= n; /* call n was never made */
            CHECK(status == err.status);
            CHECK(status == MW_OK || status == MW_ERROR_FILE);
            /* After the rename only the fsync of the folder can fail. Nothing hangs on closing the folder. */
            CHECK(holds("target", plan.renamed ? "new content" : "old"));
            CHECK(status != MW_OK || plan.renamed);
            failed_in_place += status != MW_OK && plan.renamed;
            CHECK(status == MW_OK || strstr(err.message, strerror(EIO)) != NULL);
            CHECK_INT(folder_count(folder), files);
            CHECK_INT(failing.live, 0);
        }
        CHECK_INT(failed_in_place, durable);
    }
}

static void test_failed_call_leaves_the_old_file_and_no_temporary(void) { check_failed_calls(1); }

static void test_failed_call_leaves_the_old_file_behind_links(void)
{
    char text[16] = "";
    CHECK(symlink("link", in_folder("chain")) == 0 && symlink("target", in_folder("link")) == 0);
    planned_target = "chain";
    check_failed_calls(3);
    planned_target = "target";
    CHECK(readlink(in_folder("chain"), text, sizeof text) == 4 && readlink(in_folder("link"), text, sizeof text) == 6);
    empty_folder();
}

static void test_failed_call_creates_no_file(void)
{
    empty_folder();
    for (int n = 0; n < 3; n++) {
        CHECK(write_planned(NULL, FAIL, n, true, NULL) == MW_ERROR_FILE);
        CHECK_INT(folder_count(folder), 0);
    }
}

static void test_interrupted_calls_are_made_again(void)
{
    for (int durable = 0; durable < 2; durable++) {
        put("target", "old");
        mw_error err = {0};
        CHECK(write_planned(NULL, INTERRUPT, 0, durable, &err) == MW_OK);
        CHECK_OK(err);
        CHECK(holds("target", "new content"));
    }
}

static void test_killed_process_leaves_the_old_or_the_new_file(void)
{
    bool finished = false, seen_old = false, seen_new = false;
    for (int n = 0; !finished; n++) {
        REQUIRE(n < 100);
        put("target", "old");
        fflush(stdout);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0)
            _exit(write_planned(NULL, KILL, n, true, NULL) == MW_OK ? 0 : 1);
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 9 || WEXITSTATUS(status) == 0);
        finished = WEXITSTATUS(status) == 0;
        const bool old = holds("target", "old"), new = holds("target", "new content");
        CHECK(old || new);
        seen_old |= old;
        seen_new |= new;
        CHECK(!finished || new);
    }
    CHECK(seen_old && seen_new);
    empty_folder(); /* of the temporaries that the killed left */
}

static void test_write_survives_every_failed_allocation(void)
{
    for (long n = 0;; n++) {
        put("target", "old");
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        const mw_status status = mw__file_write(&allocator, in_folder("target"), "new", 3, true, &err);
        CHECK(status == err.status && status == (failing.failed ? MW_ERROR_MEMORY : MW_OK));
        CHECK(holds("target", failing.failed ? "old" : "new"));
        CHECK_INT(folder_count(folder), 1);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            break;
    }
}

static void test_writer_is_dead_after_a_failure(void)
{
    put("target", "old");
    mw__file_writer writer;
    mw_error err = {0};
    REQUIRE(mw__file_writer_begin(&writer, NULL, in_folder("target"), true, &err) == MW_OK);
    memset(&plan, 0, sizeof plan);
    plan.fault = FAIL;
    mw__file_set_calls(&planned);
    CHECK(mw__file_writer_write(&writer, "x", 1, &err) == MW_ERROR_FILE);
    mw__file_set_calls(NULL);
    CHECK(mw__file_writer_write(&writer, "x", 1, NULL) == MW_ERROR_STATE);
    CHECK(mw__file_writer_commit(&writer, NULL) == MW_ERROR_STATE);
    mw__file_writer_deinit(&writer);
    CHECK(holds("target", "old"));
    CHECK_INT(folder_count(folder), 1);
}

static void test_abandoned_writer_leaves_nothing(void)
{
    empty_folder();
    mw__file_writer writer, other;
    REQUIRE(mw__file_writer_begin(&writer, NULL, in_folder("target"), false, NULL) == MW_OK);
    REQUIRE(mw__file_writer_begin(&other, NULL, in_folder("target"), false, NULL) == MW_OK); /* its own temporary */
    CHECK_INT(folder_count(folder), 2);
    CHECK(mw__file_writer_write(&writer, "abc", 3, NULL) == MW_OK);
    mw__file_writer_deinit(&writer);
    mw__file_writer_deinit(&writer);
    CHECK_INT(folder_count(folder), 1);
    CHECK(mw__file_writer_write(&other, "def", 3, NULL) == MW_OK);
    CHECK(mw__file_writer_commit(&other, NULL) == MW_OK);
    CHECK(holds("target", "def"));
    mw__file_writer zeroed = {0};
    mw__file_writer_deinit(&zeroed);
    empty_folder();
}

static void test_write_names_the_file_it_cannot_write(void)
{
    mw_error err = {0};
    CHECK(mw__file_write(NULL, in_folder("no/such/folder"), "x", 1, true, &err) == MW_ERROR_FILE);
    CHECK_ERROR(err, MW_ERROR_FILE, "no/such/folder");
    CHECK(mkdir(in_folder("taken"), 0700) == 0);
    CHECK(mw__file_write(NULL, in_folder("taken"), "x", 1, true, NULL) == MW_ERROR_FILE);
    CHECK_INT(folder_count(folder), 1);
    CHECK(rmdir(in_folder("taken")) == 0);
}

static void test_write_does_not_replace_what_is_no_file(void)
{
    mw_error err = {0};
    struct stat status;
    CHECK(mkfifo(in_folder("fifo"), 0600) == 0);
    CHECK(mw__file_write(NULL, in_folder("fifo"), "x", 1, true, &err) == MW_ERROR_FILE);
    CHECK_ERROR(err, MW_ERROR_FILE, "not a regular file");
    CHECK(lstat(in_folder("fifo"), &status) == 0 && S_ISFIFO(status.st_mode));
    CHECK_INT(folder_count(folder), 1);
    CHECK(unlink(in_folder("fifo")) == 0);
}

static void test_write_to_a_bare_name_uses_the_current_folder(void)
{
    char before[1024];
    REQUIRE(getcwd(before, sizeof before) != NULL && chdir(folder) == 0);
    mw_error err = {0};
    CHECK(mw__file_write(NULL, "bare", "x", 1, true, &err) == MW_OK);
    CHECK_OK(err);
    CHECK(holds("bare", "x"));
    CHECK(chdir(before) == 0);
    empty_folder();
}

/* ---- folders ---- */

static void test_private_folder_is_private_and_removed(void)
{
    char *path = NULL;
    mw_error err = {0};
    REQUIRE(mw__file_make_private_folder(NULL, 0, &path, &err) == MW_OK);
    struct stat status;
    CHECK(stat(path, &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & 0777) == 0700);
    char inside[1024];
    snprintf(inside, sizeof inside, "%s/model.mil", path);
    CHECK(mw__file_write(NULL, inside, "x", 1, false, &err) == MW_OK);
    mw__file_remove_folder(path);
    CHECK(stat(path, &status) != 0);
    mw__file_remove_folder(path);
    mw__free(NULL, path);
}

static void test_private_folder_names_the_variable_that_chose_its_place(void)
{
    const char *set = getenv("TMPDIR");
    char *const before = set != NULL ? strdup(set) : NULL;
    char *path = NULL;
    mw_error err = {0};
    setenv("TMPDIR", in_folder("no/such"), 1);
    CHECK(mw__file_make_private_folder(NULL, 0, &path, &err) == MW_ERROR_FILE);
    CHECK_ERROR(err, MW_ERROR_FILE, "no/such");
    CHECK_CONTAINS(err.message, "TMPDIR");
    if (before != NULL)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
}

/* A large program does not take the memory of the machine for its weights. */
static void test_private_folder_of_much_is_not_in_memory(void)
{
    const char *set = getenv("TMPDIR");
    char *const before = set != NULL ? strdup(set) : NULL;
    char *path = NULL;
    mw_error err = {0};
    unsetenv("TMPDIR");
    REQUIRE(mw__file_make_private_folder(NULL, (size_t)1 << 30, &path, &err) == MW_OK);
    CHECK(strncmp(path, "/tmp/", 5) == 0);
    mw__file_remove_folder(path);
    mw__free(NULL, path);
    if (before != NULL)
        setenv("TMPDIR", before, 1);
    free(before);
}

static void test_remove_folder_does_not_follow_links(void)
{
    CHECK(mkdir(in_folder("real"), 0700) == 0);
    put("real/keep", "x");
    CHECK(symlink("real", in_folder("link")) == 0);
    mw__file_remove_folder(in_folder("link"));
    CHECK(holds("real/keep", "x"));
    mw__file_remove_folder(in_folder("real"));
    empty_folder();
}

static void test_private_folder_survives_failed_allocations(void)
{
    failing_allocator failing = {.fail_at = 0};
    const mw_allocator allocator = failing_allocator_of(&failing);
    char *path = (char *)"junk";
    mw_error err = {0};
    CHECK(mw__file_make_private_folder(&allocator, 0, &path, &err) == MW_ERROR_MEMORY);
    CHECK(path == NULL && failing.live == 0);
}

static void test_make_folders_makes_parents_and_accepts_existing(void)
{
    mw_error err = {0};
    CHECK(mw__file_make_folders(in_folder("a/b//c/"), &err) == MW_OK);
    CHECK(mw__file_make_folders(in_folder("a/b/c"), &err) == MW_OK);
    CHECK_OK(err);
    put("a/b/c/file", "x");
    CHECK(mw__file_make_folders(in_folder("a/b/c/file/d"), &err) == MW_ERROR_FILE);
    CHECK_ERROR(err, MW_ERROR_FILE, "a/b/c/file");
    CHECK_CONTAINS(err.message, "not a folder");
    CHECK(mw__file_make_folders("", NULL) == MW_ERROR_ARGUMENT);
    mw__file_remove_folder(in_folder("a/b/c"));
    CHECK(rmdir(in_folder("a/b")) == 0 && rmdir(in_folder("a")) == 0);
}

int main(void)
{
    char *made = NULL;
    if (mw__file_make_private_folder(NULL, 0, &made, NULL) != MW_OK)
        return 1;
    snprintf(folder, sizeof folder, "%s", made);
    mw__free(NULL, made);
    RUN(test_read_returns_the_whole_file);
    RUN(test_read_refuses_what_is_no_file_or_too_large);
    RUN(test_read_survives_failed_allocations);
    RUN(test_read_at_is_bounded_by_the_file);
    RUN(test_open_below_never_leaves_the_folder);
    RUN(test_write_replaces_the_file);
    RUN(test_durable_write_calls_fsync_and_the_other_does_not);
    RUN(test_failed_call_leaves_the_old_file_and_no_temporary);
    RUN(test_failed_call_leaves_the_old_file_behind_links);
    RUN(test_failed_call_creates_no_file);
    RUN(test_interrupted_calls_are_made_again);
    RUN(test_killed_process_leaves_the_old_or_the_new_file);
    RUN(test_write_survives_every_failed_allocation);
    RUN(test_writer_is_dead_after_a_failure);
    RUN(test_abandoned_writer_leaves_nothing);
    RUN(test_write_names_the_file_it_cannot_write);
    RUN(test_write_does_not_replace_what_is_no_file);
    RUN(test_write_to_a_bare_name_uses_the_current_folder);
    RUN(test_private_folder_is_private_and_removed);
    RUN(test_private_folder_of_much_is_not_in_memory);
    RUN(test_private_folder_names_the_variable_that_chose_its_place);
    RUN(test_remove_folder_does_not_follow_links);
    RUN(test_private_folder_survives_failed_allocations);
    RUN(test_make_folders_makes_parents_and_accepts_existing);
    mw__file_remove_folder(folder);
    return check_finish();
}
