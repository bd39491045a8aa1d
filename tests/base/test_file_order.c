/* Files that change while they are read, and the order in which a write reaches the disk. */
#include "base/file/file.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdlib.h>
#include <sys/stat.h>
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

static void put(const char *name, const char *content) { folder_put(in_folder(name), content); }

/* What was checked is what is read, whatever stands at the path by then. */
static void test_a_file_replaced_after_it_was_opened_is_read_as_it_was(void)
{
    mw__file file;
    mw_error err = {0};
    char read[16] = "";
    put("model", "checked");
    put("other", "replaced");
    REQUIRE(mw__file_open(&file, in_folder("model"), &err) == MW_OK);
    CHECK(rename(in_folder("other"), in_folder("model")) == 0);
    CHECK(!mw__file_is_at(&file, in_folder("model")));
    mw__file_read_at(&file, 0, read, (size_t)file.size, "model", &err);
    CHECK_OK(err);
    CHECK_STR(read, "checked");
    mw__file_close(&file);
}

static void test_a_file_replaced_by_a_fifo_or_a_folder_is_refused(void)
{
    mw__file file;
    put("model", "x");
    CHECK(unlink(in_folder("model")) == 0 && mkfifo(in_folder("model"), 0600) == 0);
    alarm(20); /* opening must not wait for a writer */
    CHECK(mw__file_open(&file, in_folder("model"), NULL) == MW_ERROR_FILE);
    alarm(0);
    CHECK(unlink(in_folder("model")) == 0 && mkdir(in_folder("model"), 0700) == 0);
    CHECK(mw__file_open(&file, in_folder("model"), NULL) == MW_ERROR_FILE);
    CHECK(rmdir(in_folder("model")) == 0);
}

/* Two names of one file are two ways to it, as for everything else on the system. */
static void test_a_hard_link_is_a_file(void)
{
    mw__file file;
    mw_error err = {0};
    put("model", "x");
    CHECK(link(in_folder("model"), in_folder("second")) == 0);
    CHECK(mw__file_open_below(&file, folder, "second", &err) == MW_OK);
    mw__file_close(&file);
    CHECK(unlink(in_folder("second")) == 0 && unlink(in_folder("model")) == 0);
}

/* ---- the order of calls ---- */

static char calls[64]; /* w: write, f: fsync of a file, r: rename, d: fsync of a folder */

static void note(char call)
{
    const size_t length = strlen(calls);
    if (length + 1 < sizeof calls && (length == 0 || calls[length - 1] != call))
        calls[length] = call;
}

static long noted_write(int descriptor, const void *data, size_t size)
{
    note('w');
    return mw__file_real_calls.write(descriptor, data, size);
}

static int noted_fsync(int descriptor)
{
    struct stat status;
    note(fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode) ? 'd' : 'f');
    return mw__file_real_calls.fsync(descriptor);
}

static int noted_rename(int at, const char *from, const char *to)
{
    note('r');
    return mw__file_real_calls.rename(at, from, to);
}

/* Power may go at any moment: the new bytes lie on the disk before they get the name, and the name before the call
 * returns. A temporary that is written once more after its fsync would be w behind f. */
static void test_bytes_reach_the_disk_before_their_name(void)
{
    mw__file_calls noted = mw__file_real_calls;
    mw_error err = {0};
    noted.write = noted_write;
    noted.fsync = noted_fsync;
    noted.rename = noted_rename;
    put("target", "old");
    mw__file_set_calls(&noted);
    mw__file_write(NULL, in_folder("target"), "new", 3, true, &err);
    mw__file_set_calls(NULL);
    CHECK_OK(err);
    CHECK_STR(calls, "wfrd");
}

int main(void)
{
    char *made = NULL;
    if (mw__file_make_private_folder(NULL, 0, &made, NULL) != MW_OK)
        return 1;
    snprintf(folder, sizeof folder, "%s", made);
    mw__free(NULL, made);
    RUN(test_a_file_replaced_after_it_was_opened_is_read_as_it_was);
    RUN(test_a_file_replaced_by_a_fifo_or_a_folder_is_refused);
    RUN(test_a_hard_link_is_a_file);
    RUN(test_bytes_reach_the_disk_before_their_name);
    mw__file_remove_folder(folder);
    return check_finish();
}
