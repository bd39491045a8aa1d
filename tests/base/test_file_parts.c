/* Private files with copies of parts of others. */
#include "base/file/file_parts.h"
#include "support/check.h"
#include "support/child.h"
#include "support/failing.h"
#include "support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 300000, AT = 70001, COUNT = 150003 };

static char original[SIZE];

/* A file named "original", and it opened. */
static mw__file make_original(void)
{
    mw_error err = {0};
    mw__file file;
    for (int i = 0; i < SIZE; i++)
        original[i] = (char)(i * 7 + i / 251);
    CHECK(mw__file_write(NULL, "original", original, SIZE, false, &err) == MW_OK);
    CHECK(mw__file_open(&file, "original", &err) == MW_OK);
    CHECK_OK(err);
    return file;
}

static bool is_zero(const char *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (from[i] != 0)
            return false;
    return true;
}

static void test_a_part_is_at_its_place_between_holes(void)
{
    mw_error err = {0};
    mw__file_parts parts;
    mw__file file = make_original();
    bool copied = false;
    REQUIRE(mw__file_parts_make(&parts, NULL, SIZE, &err) == MW_OK);
    CHECK(is_zero(parts.data, SIZE));
    CHECK(mw__file_parts_copy(&parts, &file, AT, COUNT, "original", &copied, &err) == MW_OK && copied);
    mw__file_parts_complete(&parts);
    mw__file_close(&file);
    const char *data = parts.data;
    CHECK(memcmp(data + AT, original + AT, COUNT) == 0);
    CHECK(is_zero(data, AT) && is_zero(data + AT + COUNT, SIZE - AT - COUNT));
    CHECK(mw__file_write(NULL, "original", "short", 5, false, &err) == MW_OK);
    CHECK(memcmp(data + AT, original + AT, COUNT) == 0);
    CHECK_OK(err);
    struct stat status;
    CHECK(stat(parts.path, &status) == 0 && (status.st_mode & 0777) == 0600);
    char folder[512];
    snprintf(folder, sizeof folder, "%s", parts.folder.path);
    mw__file_parts_release(&parts, NULL);
    CHECK(stat(folder, &status) != 0);
}

static void test_what_cannot_be_read_is_an_error(void)
{
    mw_error err = {0};
    mw__file_parts parts;
    mw__file file = make_original();
    bool copied = false;
    REQUIRE(mw__file_parts_make(&parts, NULL, SIZE, &err) == MW_OK);
    CHECK(truncate("original", 1000) == 0);
    CHECK(mw__file_parts_copy(&parts, &file, 500, 2000, "original", &copied, &err) == MW_ERROR_FORMAT);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "original");
    mw__file_close(&file);
    mw__file_parts_release(&parts, NULL);
}

/* The name outlives the file that it was made from, and its holes take no room. */
static void test_a_further_name_stays(void)
{
    mw_error err = {0};
    mw__file_parts parts;
    mw__file file = make_original(), linked;
    bool copied = false;
    char bytes[COUNT];
    struct stat status;
    CHECK(mw__file_parts_make(&parts, NULL, (uint64_t)SIZE * 10, &err) == MW_OK);
    CHECK(mw__file_parts_copy(&parts, &file, AT, COUNT, "original", &copied, &err) == MW_OK && copied);
    CHECK(mw__file_parts_link(&parts, "linked") && !mw__file_parts_link(&parts, "linked"));
    CHECK(!mw__file_parts_link(&parts, "no/such/folder"));
    mw__file_parts_release(&parts, NULL);
    mw__file_close(&file);
    REQUIRE(mw__file_open(&linked, "linked", &err) == MW_OK);
    CHECK(mw__file_read_at(&linked, AT, bytes, COUNT, "linked", &err) == MW_OK);
    CHECK(memcmp(bytes, original + AT, COUNT) == 0);
    CHECK(fstat(linked.descriptor, &status) == 0 && status.st_blocks * 512 < 3 * COUNT);
    mw__file_close(&linked);
    CHECK_OK(err);
}

static void test_without_room_there_is_none(void)
{
    mw_error err = {0};
    mw__file_parts parts;
    CHECK(mw__file_parts_make(&parts, NULL, 0, &err) == MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    CHECK(mw__file_parts_make(&parts, NULL, (uint64_t)1 << 55, &err) != MW_OK && parts.path == NULL);
    mw_error_clear(&err);
    CHECK(mw__file_parts_make(&parts, NULL, UINT64_MAX, &err) != MW_OK && parts.path == NULL);
}

/* The system's own answer would be a signal that ends the process. */
static void fill_beyond_the_limit(void *user)
{
    (void)user;
    mw_error err = {0};
    mw__file_parts parts;
    mw__file file = make_original();
    bool copied = true;
    struct rlimit limit = {.rlim_cur = SIZE, .rlim_max = RLIM_INFINITY};
    CHECK(mw__file_parts_make(&parts, NULL, SIZE, &err) == MW_OK);
    limit.rlim_cur = AT + 10;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(mw__file_parts_copy(&parts, &file, AT, COUNT, "original", &copied, &err) == MW_OK && !copied);
    mw__file_parts_release(&parts, NULL);
    CHECK(mw__file_parts_make(&parts, NULL, SIZE, &err) == MW_ERROR_FILE);
    mw__file_close(&file);
}

static void test_a_limit_on_files_is_no_signal(void) { child_check(fill_beyond_the_limit, NULL); }

/* ---- a disk that is full ---- */

static size_t room;

/* In pieces, as a disk does that fills up. */
static long write_while_there_is_room(int descriptor, const void *data, size_t size)
{
    const size_t piece = room < 7001 ? room : 7001;
    errno = ENOSPC;
    if (piece == 0)
        return -1;
    const long written = mw__file_real_calls.write(descriptor, data, size < piece ? size : piece);
    room -= written > 0 ? (size_t)written : 0;
    return written;
}

static bool copy_with_room(mw__file_parts *parts, const mw__file *file, uint64_t offset, uint64_t size, size_t bytes)
{
    mw_error err = {0};
    mw__file_calls calls = mw__file_real_calls;
    bool copied = bytes < size; /* the other answer */
    calls.write = write_while_there_is_room;
    room = bytes;
    mw__file_set_calls(&calls);
    CHECK(mw__file_parts_copy(parts, file, offset, size, "original", &copied, &err) == MW_OK);
    mw__file_set_calls(NULL);
    CHECK_OK(err);
    return copied;
}

/* The lowest that is free: what leaks moves it. */
static int next_descriptor(void)
{
    const int descriptor = dup(STDIN_FILENO);
    close(descriptor);
    return descriptor;
}

static void test_a_full_disk_is_told_and_what_was_copied_stays(void)
{
    mw_error err = {0};
    failing_allocator counting = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&counting);
    const int descriptor = next_descriptor();
    char folder[512];
    mw__file_parts parts;
    mw__file file = make_original();
    REQUIRE(mw__file_parts_make(&parts, &allocator, SIZE, &err) == MW_OK);
    snprintf(folder, sizeof folder, "%s", parts.folder.path);
    CHECK(copy_with_room(&parts, &file, 0, AT, AT));
    CHECK(!copy_with_room(&parts, &file, AT, COUNT, 90000)); /* in the second piece that is read */
    const char *data = parts.data;
    CHECK(memcmp(data, original, AT + 90000) == 0 && is_zero(data + AT + 90000, SIZE - AT - 90000));
    CHECK(copy_with_room(&parts, &file, AT, COUNT, COUNT));
    CHECK(memcmp(data, original, AT + COUNT) == 0 && is_zero(data + AT + COUNT, SIZE - AT - COUNT));
    mw__file_parts_release(&parts, &allocator);
    mw__file_close(&file);
    CHECK(access(folder, F_OK) != 0);
    CHECK_INT(counting.live, 0);
    CHECK_INT(next_descriptor(), descriptor);
    CHECK_OK(err);
}

static long write_nothing(int descriptor, const void *data, size_t size)
{
    (void)descriptor, (void)data, (void)size;
    return 0;
}

/* Else the loop would never end. */
static void test_a_write_of_nothing_is_a_full_disk(void)
{
    mw__file_calls calls = mw__file_real_calls;
    calls.write = write_nothing;
    mw__file_set_calls(&calls);
    CHECK(!mw__file_write_all(STDOUT_FILENO, "x", 1) && errno == ENOSPC);
    mw__file_set_calls(NULL);
}

static void test_making_survives_failing_allocations(void)
{
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw__file_parts parts;
        const mw_status status = mw__file_parts_make(&parts, &allocator, SIZE, NULL);
        CHECK(status == (failing.failed ? MW_ERROR_MEMORY : MW_OK));
        if (status == MW_OK)
            mw__file_parts_release(&parts, &allocator);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            break;
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_part_is_at_its_place_between_holes);
    RUN(test_what_cannot_be_read_is_an_error);
    RUN(test_a_further_name_stays);
    RUN(test_without_room_there_is_none);
    RUN(test_a_limit_on_files_is_no_signal);
    RUN(test_a_full_disk_is_told_and_what_was_copied_stays);
    RUN(test_a_write_of_nothing_is_a_full_disk);
    RUN(test_making_survives_failing_allocations);
    folder_leave(folder);
    return check_finish();
}
