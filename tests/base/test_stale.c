/* What killed processes leave is removed by the next one, and nothing else is: not what belongs to one that lives, not
 * what only has such a name. */
#include "base/file/file.h"
#include "base/file/fresh_folder.h"
#include "base/file/lock.h"
#include "base/file/private_folder.h"
#include "base/file/stale.h"
#include "base/file/temporary.h"
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[512]; /* of this run; made in main */

static const char *in_folder(const char *name)
{
    static char paths[4][1024];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static bool holds(const char *name, const char *content) { return folder_holds(in_folder(name), content); }

static void put(const char *name, const char *content) { folder_put(in_folder(name), content); }

static bool there(const char *name)
{
    struct stat status;
    return lstat(in_folder(name), &status) == 0;
}

static int count_with(const char *part)
{
    DIR *opened = opendir(folder);
    int count = 0;
    for (const struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;)
        count += strstr(entry->d_name, part) != NULL;
    if (opened != NULL)
        closedir(opened);
    return count;
}

static void sweep_files(const char *name)
{
    const int opened = open(folder, O_RDONLY | O_DIRECTORY);
    mw__stale_sweep_files(opened, name);
    close(opened);
}

/* ---- a process that holds something ---- */

static void end_nothing(void) {}

typedef struct owner {
    pid_t process;
    int go; /* a byte sent here lets it end its work; else it waits */
} owner;

/* Runs `begin`, says so, waits for the byte, runs `end`. */
static owner start(void (*begin)(void), void (*end)(void))
{
    int ready[2], go[2];
    char byte = 0;
    owner made = {.process = -1};
    if (!CHECK(pipe(ready) == 0 && pipe(go) == 0))
        return made;
    made.process = fork();
    if (made.process == 0) {
        begin();
        if (write(ready[1], "r", 1) != 1 || read(go[0], &byte, 1) != 1)
            _exit(1);
        end();
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    close(go[0]);
    made.go = go[1];
    return made;
}

static void finish(owner *o, bool by_killing)
{
    int status = -1;
    if (by_killing)
        kill(o->process, SIGKILL);
    else
        CHECK(write(o->go, "g", 1) == 1);
    CHECK(waitpid(o->process, &status, 0) == o->process);
    CHECK(by_killing ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(o->go);
}

/* ---- temporaries ---- */

static mw__file_writer writer;

static void begin_file(void)
{
    mw__file_writer_begin(&writer, NULL, in_folder("state"), true, NULL);
    mw__file_writer_write(&writer, "new", 3, NULL);
}

static void end_file(void)
{
    if (mw__file_writer_commit(&writer, NULL) != MW_OK)
        _exit(2);
}

static void test_a_killed_writer_leaves_nothing_for_long(void)
{
    owner o = start(begin_file, end_file);
    CHECK_INT(count_with(".tmp"), 1);
    finish(&o, true);
    CHECK_INT(count_with(".tmp"), 1);
    CHECK_INT(mw__file_write(NULL, in_folder("state"), "next", 4, true, NULL), MW_OK);
    CHECK_INT(count_with(".tmp"), 0);
    CHECK(holds("state", "next"));
}

static void test_what_a_living_writer_has_stays(void)
{
    owner o = start(begin_file, end_file);
    CHECK_INT(mw__file_write(NULL, in_folder("state"), "mine", 4, true, NULL), MW_OK);
    sweep_files("state");
    CHECK_INT(count_with(".tmp"), 1);
    CHECK(holds("state", "mine"));
    finish(&o, false); /* its commit finds what it wrote */
    CHECK(holds("state", "new"));
    CHECK_INT(count_with(".tmp"), 0);
}

static void test_what_only_looks_alike_stays(void)
{
    static const char *const names[] = {"state.12-0.tmp.bak", "state.12-x.tmp",  "state.-0.tmp",  "state.12-.tmp",
                                        "state.12.tmp",       "states.12-0.tmp", "tate.12-0.tmp", "state12-0.tmp",
                                        "state. 12-0.tmp",    "state.12-0.TMP"};
    enum { NAMES = sizeof names / sizeof names[0] };
    for (int i = 0; i < NAMES; i++)
        put(names[i], "mine");
    put("victim", "mine");
    CHECK(mkdir(in_folder("state.1-0.tmp"), 0700) == 0);
    CHECK(symlink("victim", in_folder("state.2-0.tmp")) == 0);
    CHECK(mkfifo(in_folder("state.3-0.tmp"), 0600) == 0);
    put("state.4-0.tmp", "dead");
    const bool root = geteuid() == 0;
    if (root) {
        put("state.5-0.tmp", "another user's");
        CHECK(chown(in_folder("state.5-0.tmp"), 12345, 12345) == 0);
    }
    CHECK_INT(mw__file_write(NULL, in_folder("state"), "next", 4, true, NULL), MW_OK);
    CHECK(!there("state.4-0.tmp"));
    for (int i = 0; i < NAMES; i++) {
        CHECK(holds(names[i], "mine"));
        unlink(in_folder(names[i]));
    }
    CHECK(there("state.1-0.tmp") && there("state.2-0.tmp") && there("state.3-0.tmp") && holds("victim", "mine"));
    CHECK(!root || there("state.5-0.tmp"));
    rmdir(in_folder("state.1-0.tmp"));
    for (int i = 2; i <= 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "state.%d-0.tmp", i);
        unlink(in_folder(name));
    }
}

/* Writers that remove each other's leftovers all the time never take one of the living. */
static void test_writers_and_sweepers_do_not_meet(void)
{
    enum { PROCESSES = 4, WRITES = 150 };
    pid_t processes[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        processes[i] = fork();
        if (processes[i] == 0) {
            for (int k = 0; k < WRITES; k++) {
                sweep_files("shared");
                if (mw__file_write(NULL, in_folder("shared"), "text", 4, false, NULL) != MW_OK)
                    _exit(1);
            }
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        CHECK(waitpid(processes[i], &status, 0) == processes[i]);
        CHECK_INT(status, 0);
    }
    CHECK_INT(count_with(".tmp"), 0);
}

/* Without a descriptor a folder cannot be marked, and then a kill would leave it for ever. */
static void make_folder_without_descriptors(void *user)
{
    (void)user;
    int taken[64], count = 0;
    mw__private_folder made;
    mw_error err = {0};
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){32, 32});
    while (count < 64 && (taken[count] = open("/dev/null", O_RDONLY)) >= 0)
        count++;
    setenv("TMPDIR", folder, 1);
    CHECK_INT(mw__private_folder_make(&made, NULL, 1, &err), MW_ERROR_FILE);
    CHECK_CONTAINS(err.message, "cannot make a temporary folder");
    while (count > 0)
        close(taken[--count]);
    CHECK_INT(count_with("millwright-"), 0);
}

static void test_a_folder_that_cannot_be_marked_is_not_made(void)
{
    child_check(make_folder_without_descriptors, NULL);
}

/* ---- folders beside their target ---- */

static mw__fresh_folder fresh;

static void begin_fresh(void)
{
    if (mw__fresh_folder_begin(&fresh, mw__allocator_or_default(NULL), in_folder("package"), NULL) != MW_OK)
        _exit(1);
    char path[1024];
    snprintf(path, sizeof path, "%s/inner", fresh.path);
    mkdir(path, 0700);
}

static mw_status replace_package(void)
{
    mw__fresh_folder mine;
    mw_status status = mw__fresh_folder_begin(&mine, mw__allocator_or_default(NULL), in_folder("package"), NULL);
    if (status == MW_OK)
        status = mw__fresh_folder_commit(&mine, NULL);
    mw__fresh_folder_deinit(&mine);
    return status;
}

static void test_folders_of_killed_writers_go_with_the_next_one(void)
{
    owner o = start(begin_fresh, end_nothing);
    CHECK_INT(count_with(".tmp"), 1);
    CHECK_INT(replace_package(), MW_OK);
    CHECK_INT(count_with(".tmp"), 1); /* its owner lives */
    finish(&o, true);
    CHECK_INT(count_with(".tmp"), 1);
    mkdir(in_folder("package.12-x.tmp"), 0700);
    CHECK_INT(replace_package(), MW_OK);
    CHECK_INT(count_with(".tmp"), 1);
    CHECK(there("package.12-x.tmp") && there("package"));
    rmdir(in_folder("package.12-x.tmp"));
    rmdir(in_folder("package"));
}

/* ---- long names ---- */

/* All lengths around the longest that a file system takes, of bytes and of characters of two bytes. */
static void test_names_of_every_length_can_be_written(void)
{
    char name[300];
    for (int length = 200; length <= 255; length++)
        for (int wide = 0; wide < 2; wide++) {
            for (int i = 0; i < length; i++)
                name[i] = (char)(!wide || (length % 2 && i == 0) ? 'n' : (i + length) % 2 == 0 ? 0xc3 : 0xa4);
            name[length] = '\0';
            mw_error err = {0};
            mw__lock lock;
            CHECK_INT(mw__lock_take(&lock, mw__allocator_or_default(NULL), in_folder(name), NULL, &err), MW_OK);
            CHECK_INT(mw__file_write(NULL, in_folder(name), "text", 4, true, &err), MW_OK);
            CHECK_OK(err);
            CHECK(holds(name, "text"));
            mw__lock_release(&lock);
            unlink(in_folder(name));
        }
    name[255] = 'n', name[256] = '\0';
    CHECK(mw__file_write(NULL, in_folder(name), "text", 4, true, NULL) == MW_ERROR_FILE);
    CHECK_INT(count_with("nn"), 0);
}

/* What a killed writer of a long name left is told from that of another name with the same beginning. */
static void test_leftovers_of_long_names_are_told_apart(void)
{
    char one[256], other[256], beside[MW__NAME_BYTES];
    memset(one, 'n', 250);
    memset(other, 'n', 250);
    one[250] = other[250] = '\0';
    other[249] = 'm';
    mw__temporary_name(beside, one, 0);
    put(beside, "dead");
    CHECK(mw__temporary_is_of(beside, one) && !mw__temporary_is_of(beside, other));
    CHECK_INT(mw__file_write(NULL, in_folder(other), "text", 4, true, NULL), MW_OK);
    CHECK(there(beside));
    CHECK_INT(mw__file_write(NULL, in_folder(one), "text", 4, false, NULL), MW_OK);
    CHECK(!there(beside));
    unlink(in_folder(one));
    unlink(in_folder(other));
}

/* ---- private folders ---- */

/* All below one folder: the names are fixed, so that the parent knows them. */
static void begin_folder(void)
{
    mkdir(in_folder("millwright-abc123"), 0700);
    mw__stale_mark_folder(in_folder("millwright-abc123"));
    put("millwright-abc123/model.mil", "text");
    mkdir(in_folder("millwright-abc123/weights"), 0700);
    put("millwright-abc123/weights/weight.bin", "weights");
    if (symlink(in_folder("kept"), in_folder("millwright-abc123/weights/link")) != 0)
        _exit(1);
}

static void make_kept(void)
{
    mkdir(in_folder("kept"), 0700);
    put("kept/file", "mine");
}

static void test_the_folder_of_a_killed_process_is_removed(void)
{
    make_kept();
    owner o = start(begin_folder, end_nothing);
    mw__stale_sweep_folders(folder);
    CHECK(there("millwright-abc123/weights/weight.bin")); /* it lives */
    finish(&o, true);
    CHECK(there("millwright-abc123/weights/weight.bin"));
    mw__stale_sweep_folders(folder);
    CHECK(!there("millwright-abc123"));
    CHECK(holds("kept/file", "mine")); /* the link was removed, not followed */
}

/* A folder of the same form that no library marked, a copy of a marked one, links in the place of folder and marker. */
static void test_folders_that_only_look_alike_stay(void)
{
    make_kept();
    mkdir(in_folder("millwright-source"), 0755);
    put("millwright-source/main.c", "mine");
    owner o = start(begin_folder, end_nothing);
    finish(&o, true);
    CHECK(rename(in_folder("millwright-abc123"), in_folder("millwright-backup")) == 0);
    CHECK(symlink("kept", in_folder("millwright-linked")) == 0);
    put("kept/.owner", "millwright-linked");
    mkdir(in_folder("millwright-marker"), 0700);
    put("marker", "millwright-marker");
    CHECK(symlink("../marker", in_folder("millwright-marker/.owner")) == 0);
    mkdir(in_folder("millwright-longer1"), 0700);
    put("millwright-longer1/.owner", "millwright-longer1");
    put("millwright-afile1", "mine");
    mw__stale_sweep_folders(folder);
    CHECK(holds("millwright-source/main.c", "mine"));
    CHECK(there("millwright-backup/weights/weight.bin"));
    CHECK(there("millwright-linked") && holds("kept/file", "mine"));
    CHECK(there("millwright-marker/.owner") && there("marker"));
    CHECK(there("millwright-longer1/.owner"));
    CHECK(holds("millwright-afile1", "mine"));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

int main(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/mw-test-XXXXXX", parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 1;
    RUN(test_a_killed_writer_leaves_nothing_for_long);
    RUN(test_what_a_living_writer_has_stays);
    RUN(test_what_only_looks_alike_stays);
    RUN(test_writers_and_sweepers_do_not_meet);
    RUN(test_folders_of_killed_writers_go_with_the_next_one);
    RUN(test_names_of_every_length_can_be_written);
    RUN(test_leftovers_of_long_names_are_told_apart);
    RUN(test_a_folder_that_cannot_be_marked_is_not_made);
    RUN(test_the_folder_of_a_killed_process_is_removed);
    RUN(test_folders_that_only_look_alike_stay);
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return check_finish();
}
