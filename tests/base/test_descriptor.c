/* Data files never get the numbers of standard input, output and error, also where a host has closed these. */
#include "base/file/descriptor.h"

#include "base/file/file.h"
#include "base/file/lock.h"
#include "support/check.h"
#include "support/folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool are_closed(void)
{
    for (int i = 0; i < 3; i++) {
        if (fcntl(i, F_GETFD) >= 0)
            return false;
    }
    return true;
}

/* In a child without standard descriptors; how it ended is all that it can say. */
static int run_closed(bool (*work)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 3; i++)
            close(i);
        _exit(work() && are_closed() ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool read_one(void)
{
    mw__file file;
    char *text;
    size_t size;
    mw_error err = {0};
    const mw_allocator *heap = mw__allocator_or_default(NULL);
    const bool good = mw__file_open(&file, "one", &err) == MW_OK && file.descriptor > 2 && are_closed();
    mw__file_close(&file);
    if (!good || mw__file_read(heap, "one", 100, &text, &size, &err) != MW_OK)
        return false;
    mw__free(heap, text);
    return mw__file_open_in_folder(&file, "one", &err) == MW_OK && file.descriptor > 2;
}

static bool write_one(void)
{
    mw__file_writer writer;
    mw_error err = {0};
    const mw_allocator *heap = mw__allocator_or_default(NULL);
    const bool good = mw__file_writer_begin(&writer, heap, "two", true, &err) == MW_OK && writer.descriptor > 2 &&
                      writer.folder > 2 && are_closed() && mw__file_writer_commit(&writer, &err) == MW_OK;
    mw__file_writer_deinit(&writer);
    return good;
}

static bool lock_one(void)
{
    mw__lock lock;
    mw_error err = {0};
    const bool good = mw__lock_take(&lock, mw__allocator_or_default(NULL), "one", NULL, &err) == MW_OK &&
                      lock.descriptor > 2 && lock.folder > 2 && are_closed();
    mw__lock_release(&lock);
    return good;
}

static bool make_folder(void)
{
    char *folder;
    mw_error err = {0};
    const mw_allocator *heap = mw__allocator_or_default(NULL);
    if (mw__file_make_private_folder(heap, 10, &folder, &err) != MW_OK || !are_closed())
        return false;
    mw__file_remove_folder(folder);
    mw__free(heap, folder);
    return true;
}

static bool move_three(void)
{
    const int low = open("one", O_RDONLY | O_CLOEXEC), high = mw__descriptor_above(low);
    FILE *stream = mw__descriptor_stream("one");
    const bool good = low == 0 && high > 2 && stream != NULL && fileno(stream) > 2;
    return good && mw__descriptor_above(high) == high && mw__descriptor_above(-1) == -1;
}

static void test_no_file_gets_a_standard_descriptor(void)
{
    folder_put("one", "1");
    CHECK_INT(run_closed(move_three), 0);
    CHECK_INT(run_closed(read_one), 0);
    CHECK_INT(run_closed(write_one), 0);
    CHECK_INT(run_closed(lock_one), 0);
    CHECK_INT(run_closed(make_folder), 0);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_no_file_gets_a_standard_descriptor);
    folder_leave(folder);
    return check_finish();
}
