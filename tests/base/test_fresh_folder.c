/* Folders that are replaced as a whole. */
#include "base/file/file.h"
#include "base/file/fresh_folder.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fills a fresh folder with one file in a folder of its own. */
static mw_status make(const char *target, const char *content, mw_error *err)
{
    char path[1024];
    mw__fresh_folder folder;
    mw_status status = mw__fresh_folder_begin(&folder, mw__allocator_default(), target, err);
    if (status == MW_OK) {
        snprintf(path, sizeof path, "%s/inner", folder.path);
        CHECK(mkdir(path, 0777) == 0);
        snprintf(path, sizeof path, "%s/inner/file", folder.path);
        folder_put(path, content);
        status = mw__fresh_folder_commit(&folder, err);
    }
    mw__fresh_folder_deinit(&folder);
    return status;
}

static void test_a_folder_appears_and_is_replaced(void)
{
    char home[512];
    mw_error err = {0};
    REQUIRE(folder_enter(home));
    CHECK(make("t", "one", &err) == MW_OK);
    CHECK(folder_holds("t/inner/file", "one"));
    folder_put("t/more", "gone");
    CHECK(make("t/", "two", &err) == MW_OK);
    CHECK(folder_holds("t/inner/file", "two"));
    CHECK_INT(folder_count("t"), 1);
    CHECK_INT(folder_count("."), 1);
    CHECK_OK(err);
    folder_leave(home);
}

static void test_without_commit_nothing_stays(void)
{
    char home[512];
    mw_error err = {0};
    mw__fresh_folder folder;
    REQUIRE(folder_enter(home));
    CHECK(mw__fresh_folder_begin(&folder, mw__allocator_default(), "t", &err) == MW_OK);
    CHECK_INT(folder_count("."), 1);
    mw__fresh_folder_deinit(&folder);
    CHECK_INT(folder_count("."), 0);
    CHECK(mw__fresh_folder_begin(&folder, mw__allocator_default(), "no/such/place", &err) == MW_ERROR_FILE);
    CHECK_CONTAINS(err.message, "no/such/place");
    mw__fresh_folder_deinit(&folder);
    folder_leave(home);
}

/* Renames fail where the first finds a folder in its way, as on a file system without an exchange. */
static int renames_left;

static int counted_rename(int folder, const char *from, const char *to)
{
    if (renames_left-- > 0)
        return mw__file_real_calls.rename(folder, from, to);
    errno = EIO;
    return -1;
}

static void test_a_failed_rename_leaves_the_old_folder(void)
{
    char home[512];
    mw_error err = {0};
    mw__file_calls calls = mw__file_real_calls;
    calls.rename = counted_rename;
    REQUIRE(folder_enter(home));
    CHECK(make("t", "old", &err) == MW_OK);
    mw__file_set_calls(&calls);
    renames_left = 0;
    CHECK(make("t", "new", &err) == MW_ERROR_FILE);
    mw__file_set_calls(NULL);
    CHECK(folder_holds("t/inner/file", "old"));
    CHECK_INT(folder_count("."), 1);
    folder_leave(home);
}

static void test_removal_follows_no_links(void)
{
    char home[512];
    REQUIRE(folder_enter(home));
    CHECK(mkdir("keep", 0700) == 0 && mkdir("go", 0700) == 0 && mkdir("go/deep", 0700) == 0);
    folder_put("keep/file", "kept");
    folder_put("go/deep/file", "gone");
    CHECK(symlink("../keep", "go/link") == 0);
    mw__folder_remove("go");
    CHECK(access("go", F_OK) != 0);
    CHECK(folder_holds("keep/file", "kept"));
    mw__folder_remove("keep/file"); /* no folder */
    mw__folder_remove("nothing");
    CHECK(folder_holds("keep/file", "kept"));
    folder_leave(home);
}

static void test_every_allocation_may_fail(void)
{
    char home[512];
    REQUIRE(folder_enter(home));
    bool good = false;
    for (long n = 0; !good && n < 100; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw__fresh_folder folder;
        mw_error err = {0};
        mw_status status = mw__fresh_folder_begin(&folder, &allocator, "t", &err);
        if (status == MW_OK)
            status = mw__fresh_folder_commit(&folder, &err);
        mw__fresh_folder_deinit(&folder);
        good = status == MW_OK;
        CHECK(good || status == MW_ERROR_MEMORY);
        CHECK_INT(failing.live, 0);
        CHECK_INT(folder_count("."), good);
    }
    CHECK(good);
    folder_leave(home);
}

int main(void)
{
    RUN(test_a_folder_appears_and_is_replaced);
    RUN(test_without_commit_nothing_stays);
    RUN(test_a_failed_rename_leaves_the_old_folder);
    RUN(test_removal_follows_no_links);
    RUN(test_every_allocation_may_fail);
    return check_finish();
}
