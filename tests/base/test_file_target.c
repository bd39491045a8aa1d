/* Where a write lands: links are followed and stay, what is no regular file is refused, and mode and owner of the file
 * that is replaced are kept. */
#include "base/file/file.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#endif
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[512]; /* of this run; made in main; the current folder of every test */

static void put(const char *name, const char *content, mode_t mode)
{
    unlink(name);
    FILE *file = fopen(name, "wb");
    if (CHECK(file != NULL)) {
        fputs(content, file);
        fclose(file);
        CHECK(chmod(name, mode) == 0);
    }
}

static bool leads_to(const char *link, const char *target)
{
    char text[512] = "";
    return readlink(link, text, sizeof text - 1) == (ssize_t)strlen(target) && strcmp(text, target) == 0;
}

static int mode_of(const char *name)
{
    struct stat status = {0};
    CHECK(stat(name, &status) == 0);
    return (int)(status.st_mode & 07777);
}

static void empty_folder(void)
{
    folder_empty(".");
    CHECK(chmod(".", 0700) == 0);
}

static mw_status save(const char *name, mw_error *err) { return mw__file_write(NULL, name, "new", 3, true, err); }

static void check_refused(const char *name, const char *part)
{
    mw_error err = {0};
    CHECK(save(name, &err) == MW_ERROR_FILE);
    CHECK_ERROR(err, MW_ERROR_FILE, part);
    CHECK_CONTAINS(err.message, name);
}

/* ---- links ---- */

static void test_write_through_a_link_replaces_its_target(void)
{
    empty_folder();
    mw_error err = {0};
    CHECK(mkdir("disk", 0700) == 0 && mkdir("run", 0700) == 0);
    put("disk/real", "old", 0644);
    CHECK(symlink("../disk/real", "run/link") == 0 && symlink("run/link", "chain") == 0);
    CHECK(save("run/link", &err) == MW_OK);
    CHECK_OK(err);
    CHECK(folder_holds("disk/real", "new") && leads_to("run/link", "../disk/real"));
    put("disk/real", "old", 0644);
    CHECK(save("chain", &err) == MW_OK);
    CHECK(folder_holds("disk/real", "new") && leads_to("run/link", "../disk/real") && leads_to("chain", "run/link"));
    char whole[600];
    snprintf(whole, sizeof whole, "%s/disk/real", folder);
    CHECK(symlink(whole, "absolute") == 0);
    put("disk/real", "old", 0644);
    CHECK(save("absolute", &err) == MW_OK && folder_holds("disk/real", "new") && leads_to("absolute", whole));
    CHECK(folder_count("disk") == 1 && folder_count("run") == 1 && folder_count(".") == 4);
}

static void test_write_makes_the_missing_target_of_a_link(void)
{
    empty_folder();
    mw_error err = {0};
    CHECK(mkdir("disk", 0700) == 0 && symlink("disk/later", "link") == 0 && symlink("link", "chain") == 0);
    CHECK(save("chain", &err) == MW_OK);
    CHECK_OK(err);
    CHECK(folder_holds("disk/later", "new") && leads_to("link", "disk/later"));
    CHECK(symlink("no/such/folder", "lost") == 0);
    check_refused("lost", "cannot open the folder");
    CHECK(leads_to("lost", "no/such/folder"));
}

static void test_write_refuses_links_in_a_loop(void)
{
    empty_folder();
    CHECK(symlink("b", "a") == 0 && symlink("a", "b") == 0 && symlink("self", "self") == 0);
    check_refused("a", "loop");
    check_refused("self", "loop");
    CHECK(leads_to("a", "b") && leads_to("b", "a") && folder_count(".") == 3);
}

static void make_socket(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
    const int made = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(made >= 0 && bind(made, (struct sockaddr *)&address, sizeof address) == 0);
    close(made);
}

/* A device of our own where we may make one, so that a mistake spoils none of the system's. */
static const char *device(void) { return mknod("device", S_IFCHR | 0600, makedev(1, 3)) == 0 ? "device" : "/dev/null"; }

static void test_write_refuses_by_kind_what_is_no_regular_file(void)
{
    empty_folder();
    CHECK(mkfifo("fifo", 0600) == 0 && mkdir("sub", 0700) == 0);
    make_socket("socket");
    CHECK(symlink("fifo", "to_fifo") == 0 && symlink("sub", "to_sub") == 0 && symlink("socket", "to_socket") == 0);
    const char *null = device();
    CHECK(symlink(null, "to_null") == 0 && symlink("to_fifo", "chain") == 0 && symlink("sub/", "slash") == 0);
    const int before = folder_count(".");
    check_refused("fifo", "is a FIFO, not a regular file");
    check_refused("sub", "is a folder, not a regular file");
    check_refused("socket", "is a socket, not a regular file");
    check_refused(null, "is a character device, not a regular file");
    check_refused("to_fifo", "is a link to a FIFO, not a regular file");
    check_refused("to_sub", "is a link to a folder");
    check_refused("to_socket", "is a link to a socket");
    check_refused("to_null", "is a link to a character device");
    check_refused("chain", "is a link to a FIFO");
    check_refused("slash", "is a link to a folder");
    check_refused("sub/", "names a folder");
    check_refused(".", "names a folder");
    check_refused("sub/..", "names a folder");
    struct stat status;
    CHECK(lstat("fifo", &status) == 0 && S_ISFIFO(status.st_mode));
    CHECK(lstat("to_null", &status) == 0 && S_ISLNK(status.st_mode));
    CHECK(stat(null, &status) == 0 && S_ISCHR(status.st_mode));
    CHECK(folder_count(".") == before && folder_count("sub") == 0);
}

/* The status of a write in a child whose standard output is `descriptor`. */
static int save_to_stdout(int descriptor)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(descriptor, STDOUT_FILENO);
        _exit((int)save("stdout", NULL));
    }
    int how = 0;
    CHECK(child > 0 && waitpid(child, &how, 0) == child && WIFEXITED(how));
    return WEXITSTATUS(how);
}

/* A link such as /dev/stdout, which a mistake would cost no one but the test. */
static void test_write_to_standard_output_leaves_it_a_link(void)
{
    empty_folder();
    struct stat status;
    if (stat("/proc/self/fd/1", &status) != 0) {
        SKIP("this system has no /proc/self/fd");
        return;
    }
    CHECK(symlink("/proc/self/fd/1", "stdout") == 0);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    CHECK_INT(save_to_stdout(ends[1]), MW_ERROR_FILE);
    close(ends[0]);
    close(ends[1]);
    const int removed = open("gone", O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(removed >= 0 && unlink("gone") == 0);
    CHECK_INT(save_to_stdout(removed), MW_ERROR_FILE); /* its link has the text "<path> (deleted)" */
    close(removed);
    CHECK(folder_count(".") == 1 && leads_to("stdout", "/proc/self/fd/1"));
    const int file = open("file", O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK_INT(save_to_stdout(file), MW_OK); /* as `> file` */
    close(file);
    CHECK(folder_holds("file", "new") && leads_to("stdout", "/proc/self/fd/1"));
}

/* Anybody can lay a link in /tmp under the name that root is about to write. */
static void test_link_of_another_user_in_a_shared_folder_is_refused(void)
{
    empty_folder();
    if (geteuid() != 0) {
        SKIP("only root may act as another user");
        return;
    }
    CHECK(mkdir("shared", 0700) == 0 && chmod("shared", 01777) == 0);
    put("secret", "old", 0600);
    CHECK(symlink("../secret", "shared/link") == 0);
    CHECK(save("shared/link", NULL) == MW_OK && folder_holds("secret", "new")); /* our own */
    put("secret", "old", 0600);
    CHECK(lchown("shared/link", 4321, 4321) == 0);
    check_refused("shared/link", "link that another user made");
    CHECK(symlink("../none", "shared/dangling") == 0 && lchown("shared/dangling", 4321, 4321) == 0);
    check_refused("shared/dangling", "link that another user made");
    CHECK(chmod("shared", 0777) == 0);
    CHECK(save("shared/dangling", NULL) == MW_OK &&
          folder_holds("none", "new")); /* who can exchange files can do all */
    CHECK(folder_holds("secret", "old"));
}

static void test_temporary_lies_beside_the_target_of_a_link(void)
{
    empty_folder();
    mw__file_writer writer;
    CHECK(mkdir("disk", 0700) == 0 && mkdir("run", 0700) == 0 && symlink("../disk/real", "run/link") == 0);
    REQUIRE(mw__file_writer_begin(&writer, NULL, "run/link", true, NULL) == MW_OK);
    CHECK(folder_count("disk") == 1 && folder_count("run") == 1);
    mw__file_writer_deinit(&writer);
    CHECK(folder_count("disk") == 0 && leads_to("run/link", "../disk/real"));
}

/* Whoever may change a link or a folder on the way cannot turn a begun write to another place. */
static void test_write_stays_where_it_began(void)
{
    empty_folder();
    mw__file_writer writer;
    CHECK(mkdir("disk", 0700) == 0 && mkdir("other", 0700) == 0);
    put("disk/real", "old", 0644);
    put("other/real", "other", 0644);
    CHECK(symlink("disk/real", "link") == 0);
    REQUIRE(mw__file_writer_begin(&writer, NULL, "link", true, NULL) == MW_OK);
    CHECK(mw__file_writer_write(&writer, "new", 3, NULL) == MW_OK);
    CHECK(unlink("link") == 0 && symlink("other/real", "link") == 0);
    CHECK(rename("disk", "moved") == 0 && symlink("other", "disk") == 0);
    CHECK(unlink("moved/real") == 0 && symlink("../other/real", "moved/real") == 0);
    CHECK(mw__file_writer_commit(&writer, NULL) == MW_OK);
    CHECK(folder_holds("other/real", "other") && folder_holds("moved/real", "new") && folder_count("other") == 1);
}

/* ---- mode and owner ---- */

static void test_write_keeps_the_mode_of_the_file_it_replaces(void)
{
    empty_folder();
    static const mode_t modes[] = {0600, 0640, 0644, 0664, 0666, 0444, 0700};
    static const mode_t masks[] = {022, 077, 0};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        for (size_t k = 0; k < sizeof masks / sizeof *masks; k++) {
            put("file", "old", modes[i]);
            const mode_t before = umask(masks[k]);
            mw_error err = {0};
            CHECK(save("file", &err) == MW_OK && folder_holds("file", "new"));
            umask(before);
            CHECK_INT(mode_of("file"), modes[i]);
        }
    CHECK(symlink("file", "link") == 0 && chmod("file", 0600) == 0);
    CHECK(save("link", NULL) == MW_OK && mode_of("file") == 0600);
}

static void test_new_file_has_the_mode_of_the_mask(void)
{
    empty_folder();
    const mode_t before = umask(027);
    CHECK(save("file", NULL) == MW_OK);
    CHECK(symlink("later", "link") == 0 && save("link", NULL) == MW_OK);
    umask(before);
    CHECK_INT(mode_of("file"), 0640);
    CHECK_INT(mode_of("later"), 0640);
}

/* As the system does when such a file is written in place. */
static void test_write_drops_set_id_bits(void)
{
    empty_folder();
    put("file", "old", 06755);
    CHECK(save("file", NULL) == MW_OK);
    CHECK_INT(mode_of("file"), 0755);
}

static void check_temporary_is_private(void)
{
    DIR *opened = opendir(".");
    REQUIRE(opened != NULL);
    int seen = 0;
    for (const struct dirent *entry; (entry = readdir(opened)) != NULL;)
        if (strstr(entry->d_name, ".tmp") != NULL) {
            seen++;
            CHECK_INT(mode_of(entry->d_name), 0600);
        }
    closedir(opened);
    CHECK_INT(seen, 1);
}

static void test_temporary_of_a_private_file_is_private(void)
{
    empty_folder();
    put("file", "old", 0600);
    mw__file_writer writer;
    const mode_t before = umask(0);
    REQUIRE(mw__file_writer_begin(&writer, NULL, "file", true, NULL) == MW_OK);
    umask(before);
    check_temporary_is_private();
    mw__file_writer_deinit(&writer);
}

static void test_write_keeps_the_owner_where_it_may(void)
{
    empty_folder();
    if (geteuid() != 0) {
        SKIP("only root may give files away");
        return;
    }
    struct stat status;
    put("file", "old", 0640);
    CHECK(chown("file", 1234, 5678) == 0);
    CHECK(chmod(".", 02700) == 0); /* new files get the group of the folder */
    CHECK(save("file", NULL) == MW_OK && stat("file", &status) == 0);
    CHECK(status.st_uid == 1234 && status.st_gid == 5678 && (status.st_mode & 07777) == 0640);
}

/* Runs as another user in a folder that is open to all. */
static int save_as_another(const char *name)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) != 0 || setgid(4321) != 0 || setuid(4321) != 0)
            _exit(99);
        _exit((int)save(name, NULL));
    }
    int how = 0;
    CHECK(child > 0 && waitpid(child, &how, 0) == child && WIFEXITED(how));
    return WEXITSTATUS(how);
}

static void test_another_group_gets_no_more_than_others_had(void)
{
    empty_folder();
    if (geteuid() != 0) {
        SKIP("only root may act as another user");
        return;
    }
    struct stat status;
    CHECK(chmod(".", 0777) == 0);
    put("file", "old", 0664);
    put("secret", "old", 0640);
    CHECK_INT(save_as_another("file"), MW_OK);
    CHECK_INT(save_as_another("secret"), MW_OK);
    CHECK(stat("file", &status) == 0 && status.st_gid == 4321);
    CHECK_INT(mode_of("file"), 0644);
    CHECK_INT(mode_of("secret"), 0600);
}

static void test_write_into_a_closed_folder_keeps_the_old_file(void)
{
    empty_folder();
    if (geteuid() != 0) {
        SKIP("only root may act as another user");
        return;
    }
    CHECK(chmod(".", 0755) == 0 && mkdir("closed", 0755) == 0);
    put("closed/file", "old", 0666);
    CHECK_INT(save_as_another("closed/file"), MW_ERROR_FILE);
    CHECK(folder_holds("closed/file", "old") && folder_count("closed") == 1);
}

int main(void)
{
    if (!folder_enter(folder))
        return 1;
    RUN(test_write_through_a_link_replaces_its_target);
    RUN(test_write_makes_the_missing_target_of_a_link);
    RUN(test_write_refuses_links_in_a_loop);
    RUN(test_write_refuses_by_kind_what_is_no_regular_file);
    RUN(test_write_to_standard_output_leaves_it_a_link);
    RUN(test_link_of_another_user_in_a_shared_folder_is_refused);
    RUN(test_temporary_lies_beside_the_target_of_a_link);
    RUN(test_write_stays_where_it_began);
    RUN(test_write_keeps_the_mode_of_the_file_it_replaces);
    RUN(test_new_file_has_the_mode_of_the_mask);
    RUN(test_write_drops_set_id_bits);
    RUN(test_temporary_of_a_private_file_is_private);
    RUN(test_write_keeps_the_owner_where_it_may);
    RUN(test_another_group_gets_no_more_than_others_had);
    RUN(test_write_into_a_closed_folder_keeps_the_old_file);
    empty_folder();
    CHECK(chdir("/") == 0 && rmdir(folder) == 0);
    return check_finish();
}
