/* Files that other files name: links inside one tree are followed, and none leads out of it. What is read says whether
 * it was the right file. */
#include "base/file/file.h"
#include "support/check.h"
#include "support/folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[512]; /* of this run; made in main; the current folder of every test */

static void make(const char *const *folders, const char *const (*links)[2])
{
    for (; *folders != NULL; folders++)
        CHECK(mkdir(*folders, 0700) == 0);
    for (; links != NULL && (*links)[0] != NULL; links++)
        check_note(symlink((*links)[1], (*links)[0]) == 0, __FILE__, __LINE__, "link %s", (*links)[0]);
}

/* The first byte of what is opened, 0 if it is refused. */
static char read_below(const char *root, const char *name, mw_error *err)
{
    mw__file file;
    char byte = 0;
    const mw_status status = mw__file_open_below(&file, root, name, err);
    CHECK((status == MW_OK) == (file.descriptor >= 0) && (status == MW_OK || status == MW_ERROR_FILE));
    if (status == MW_OK)
        CHECK(mw__file_read_at(&file, 0, &byte, 1, name, NULL) == MW_OK);
    mw__file_close(&file);
    return byte;
}

static int open_descriptors(void)
{
    int count = 0;
    for (int i = 0; i < 256; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void check_opens(const char *root, const char *name, char content)
{
    mw_error err = {0};
    const char found = read_below(root, name, &err);
    check_note(found == content, __FILE__, __LINE__, "%s in %s: '%c' %s", name, root, found != 0 ? found : '-',
               err.message);
}

static void check_refused(const char *root, const char *name, const char *part)
{
    mw_error err = {0};
    const char found = read_below(root, name, &err);
    check_note(found == 0 && strstr(err.message, part) != NULL, __FILE__, __LINE__, "%s in %s: '%c' %s", name, root,
               found != 0 ? found : '-', err.message);
}

/* ---- a folder ---- */

static void test_links_below_the_folder_are_followed(void)
{
    folder_empty(".");
    make((const char *[]){"m", "m/a", "m/a/b", "m/c", NULL}, (const char *const[][2]){{"m/plain", "a/b/file"},
                                                                                      {"m/c/up", "../a/b/file"},
                                                                                      {"m/c/way", "../a"},
                                                                                      {"m/c/twice", "way/b/../b/file"},
                                                                                      {"m/chain", "c/twice"},
                                                                                      {"m/dots", "./c//.././plain"},
                                                                                      {"outer", "m"},
                                                                                      {NULL, NULL}});
    folder_put("m/a/b/file", "F");
    static const char *const names[] = {"a/b/file", "plain", "c/up", "c/way/b/file", "c/twice", "chain", "dots"};
    const int before = open_descriptors();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        check_opens("m", names[i], 'F');
        check_opens("outer", names[i], 'F'); /* the folder itself is as the user says */
    }
    CHECK_INT(open_descriptors(), before);
}

static void test_links_that_leave_the_folder_are_refused(void)
{
    char absolute[1024];
    folder_empty(".");
    snprintf(absolute, sizeof absolute, "%s/m/file", folder);
    make((const char *[]){"m", "m/a", "other", NULL}, (const char *const[][2]){{"m/out", "../secret"},
                                                                               {"m/a/out", "../../secret"},
                                                                               {"m/back", "../m/file"},
                                                                               {"m/absolute", absolute},
                                                                               {"m/passwd", "/etc/passwd"},
                                                                               {"m/folder", "../other"},
                                                                               {"m/parent", ".."},
                                                                               {"m/round", "a/../../secret"},
                                                                               {"m/proc", "/proc/self/fd/0"},
                                                                               {"m/self", "self"},
                                                                               {"m/one", "two"},
                                                                               {"m/two", "one"},
                                                                               {"m/tree", "a"},
                                                                               {"m/lost", "missing"},
                                                                               {"m/to_fifo", "fifo"},
                                                                               {"m/slash", "file/"},
                                                                               {NULL, NULL}});
    folder_put("secret", "S");
    folder_put("other/secret", "S");
    folder_put("m/file", "F");
    CHECK(mkfifo("m/fifo", 0600) == 0);
    const int before = open_descriptors();
    check_refused("m", "out", "leads out of this folder");
    check_refused("m", "a/out", "leads out of this folder");
    check_refused("m", "back", "leads out of this folder");
    check_refused("m", "absolute", "is absolute");
    check_refused("m", "passwd", "is absolute");
    check_refused("m", "proc", "is absolute");
    check_refused("m", "folder/secret", "leads out of this folder");
    check_refused("m", "parent/secret", "leads out of this folder");
    check_refused("m", "parent/m/file", "leads out of this folder");
    check_refused("m", "round", "leads out of this folder");
    check_refused("m", "self", "part of a loop");
    check_refused("m", "one", "part of a loop");
    check_refused("m", "tree", "not a regular file");
    check_refused("m", "lost", "No such file");
    check_refused("m", "to_fifo", "not a regular file");
    check_refused("m", "slash", "cannot open");
    check_refused("m", "../secret", "not a plain path");
    check_refused("m", "a/../file", "not a plain path");
    CHECK_INT(open_descriptors(), before);
}

/* ---- the cache of a hub ---- */

#define STORE    "cache/models--someone--model"
#define REVISION STORE "/snapshots/6f5d3c"

static void make_cache(void)
{
    folder_empty(".");
    make((const char *[]){"cache", STORE, STORE "/blobs", STORE "/blobs/deep", STORE "/refs", STORE "/snapshots",
                          REVISION, REVISION "/weights", REVISION "/encoder", STORE "/snapshots/other",
                          "cache/models--x", "cache/models--x/blobs", NULL},
         (const char *const[][2]){{REVISION "/model.safetensors", "../../blobs/aa11"},
                                  {REVISION "/weights/weight.bin", "../../../blobs/bb22"},
                                  {REVISION "/encoder/shared", "../weights/weight.bin"},
                                  {REVISION "/ref", "../../refs/main"},
                                  {REVISION "/direct", "../../file"},
                                  {REVISION "/sibling", "../other/secret"},
                                  {REVISION "/same", "../6f5d3c/config"},
                                  {REVISION "/store", "../../../models--x/blobs/cc33"},
                                  {REVISION "/blobs", "../../blobs"},
                                  {REVISION "/beyond", "../../blobs/../../models--x/blobs/cc33"},
                                  {REVISION "/through", "../../blobs/link"},
                                  {REVISION "/chained", "../../blobs/deep/../aa11"},
                                  {STORE "/blobs/link", "../../../secret"},
                                  {"home", REVISION},
                                  {NULL, NULL}});
    folder_put(STORE "/blobs/aa11", "A");
    folder_put(STORE "/blobs/bb22", "B");
    folder_put(STORE "/refs/main", "S");
    folder_put(STORE "/file", "S");
    folder_put(STORE "/snapshots/other/secret", "S");
    folder_put(REVISION "/config", "C");
    folder_put("cache/models--x/blobs/cc33", "S");
    folder_put("secret", "S");
}

static void test_cache_of_a_hub_loads(void)
{
    char whole[1024];
    make_cache();
    snprintf(whole, sizeof whole, "%s/%s", folder, REVISION);
    const char *const roots[] = {
        REVISION, "home", whole, REVISION "/", REVISION "/encoder/..", STORE "/snapshots/../snapshots/6f5d3c"};
    const int before = open_descriptors();
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        check_opens(roots[i], "config", 'C');
        check_opens(roots[i], "model.safetensors", 'A');
        check_opens(roots[i], "weights/weight.bin", 'B');
        check_opens(roots[i], "encoder/shared", 'B');
        check_opens(roots[i], "blobs/aa11", 'A');
        check_opens(roots[i], "chained", 'A');
    }
    check_opens(REVISION "/weights", "weight.bin", 'B'); /* a part of the model, such as x.mlmodelc */
    check_opens(REVISION "/encoder", "shared", 'B');
    CHECK(chdir(REVISION) == 0);
    check_opens(".", "model.safetensors", 'A');
    CHECK(chdir(folder) == 0);
    CHECK_INT(open_descriptors(), before);
}

static void test_cache_of_a_hub_opens_nothing_else(void)
{
    make_cache();
    const int before = open_descriptors();
    check_refused(REVISION, "ref", "leads out of this model's part");
    check_refused(REVISION, "direct", "leads out of this model's part");
    check_refused(REVISION, "sibling", "leads out of this model's part");
    check_refused(REVISION, "same", "leads out of this model's part");
    check_refused(REVISION, "store", "leads out of");
    check_refused(REVISION, "beyond", "leads out of");
    check_refused(REVISION, "through", "leads out of");
    CHECK_INT(open_descriptors(), before);
    /* the folder of blobs may not be elsewhere */
    CHECK(rename(STORE "/blobs", "moved") == 0 && symlink("../../moved", STORE "/blobs") == 0);
    check_refused(REVISION, "model.safetensors", "cannot open");
    CHECK_INT(open_descriptors(), before);
}

/* A link in a folder cannot say that the folder is in a cache: the path that the user named does. */
static void test_link_to_a_cache_makes_no_cache(void)
{
    make_cache();
    make((const char *[]){"m", "snapshots", NULL}, (const char *const[][2]){{"m/snapshots", "../" STORE "/snapshots"},
                                                                            {"m/file", "snapshots/6f5d3c/config"},
                                                                            {"snapshots/blobs", "../secret"},
                                                                            {NULL, NULL}});
    check_refused("m", "file", "leads out of this folder");
    check_refused("m", "snapshots/6f5d3c/config", "leads out of this folder");
    check_refused("snapshots", "blobs", "leads out of this folder"); /* no revision */
}

/* ---- somebody at work ---- */

static atomic_bool done;

/* Turns m/way from a folder into a link that leads out, and back. */
static void *exchange(void *user)
{
    (void)user;
    while (!atomic_load(&done)) {
        if (rename("m/way", "m/kept") != 0 || symlink("../other", "m/way") != 0 || unlink("m/way") != 0 ||
            rename("m/kept", "m/way") != 0)
            break;
    }
    return NULL;
}

static void test_exchanged_folder_leads_nowhere_else(void)
{
    folder_empty(".");
    make((const char *[]){"m", "m/way", "other", NULL}, (const char *const[][2]){{"m/link", "way/file"}, {NULL, NULL}});
    folder_put("m/way/file", "F");
    folder_put("other/file", "S");
    pthread_t thread;
    atomic_store(&done, false);
    REQUIRE(pthread_create(&thread, NULL, exchange, NULL) == 0);
    int opened = 0, refused = 0;
    for (int i = 0; i < 20000; i++) {
        const char found = read_below("m", i % 2 == 0 ? "way/file" : "link", NULL);
        CHECK(found == 0 || found == 'F');
        opened += found == 'F';
        refused += found == 0;
    }
    atomic_store(&done, true);
    pthread_join(thread, NULL);
    CHECK_INT(opened + refused, 20000); /* under an emulator all may meet the link */
    CHECK_INT(read_below("m", "way/file", NULL), 'F');
}

int main(void)
{
    if (!folder_enter(folder))
        return 1;
    RUN(test_links_below_the_folder_are_followed);
    RUN(test_links_that_leave_the_folder_are_refused);
    RUN(test_cache_of_a_hub_loads);
    RUN(test_cache_of_a_hub_opens_nothing_else);
    RUN(test_link_to_a_cache_makes_no_cache);
    RUN(test_exchanged_folder_leads_nowhere_else);
    folder_leave(folder);
    return check_finish();
}
