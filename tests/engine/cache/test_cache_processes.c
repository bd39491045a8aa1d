/* The compile cache under several processes: writers at once, a writer that is killed, bundles of another process. The
 * parent uses no engine, as a forked child then could not. */
#include "cache_case.h"
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void begin(void)
{
    folder_empty(".");
    cache_put_model("model", NULL, HALF_ONE);
    cache_put_model("other", NULL, HALF_TWO);
}

/* ---- at once ---- */

enum { PROCESSES = 8, ROUNDS = 6 };

static void work(int number)
{
    cache_case c = CACHE_CASE;
    for (int i = 0; i < ROUNDS; i++) {
        const bool first = (i + number) % 2 == 0;
        c.path = first ? "model" : "other";
        c.force_new = number == 0 && i % 3 == 0;
        CHECK_INT(cache_result(&c), first ? HALF_TWO : HALF_THREE);
        cache_forget();
    }
}

static void check_both_are_there(void *user)
{
    cache_case c = CACHE_CASE;
    (void)user;
    CHECK_INT(cache_required(&c), 0);
    CHECK_INT(cache_result(&c), HALF_TWO);
    c.path = "other";
    CHECK_INT(cache_required(&c), 0);
    CHECK_INT(cache_result(&c), HALF_THREE);
    CHECK_INT(cache_entries("cache"), 2);
}

static void test_eight_processes_at_once(void)
{
    begin();
    pid_t children[PROCESSES];
    fflush(stdout);
    for (int p = 0; p < PROCESSES; p++) {
        children[p] = fork();
        if (children[p] == 0) {
            alarm(120);
            check_global.failures_here = 0;
            work(p);
            fflush(stdout);
            _exit(check_global.failures_here == 0 ? 0 : 1);
        }
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status = -1;
        CHECK(children[p] > 0 && waitpid(children[p], &status, 0) == children[p] && status == 0);
    }
    child_check(check_both_are_there, NULL);
}

/* ---- killed ---- */

static void write_for_ever(void)
{
    cache_case c = CACHE_CASE;
    c.force_new = true;
    for (int i = 0;; i++) {
        c.path = i % 2 == 0 ? "model" : "other";
        cache_result(&c);
        cache_forget();
    }
}

static int count_leftovers(const char *folder)
{
    int count = 0;
    DIR *opened = opendir(folder);
    for (const struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        count += length > 4 && strcmp(entry->d_name + length - 4, ".tmp") == 0;
    }
    if (opened != NULL)
        closedir(opened);
    return count;
}

/* Whatever the killed one left: the programs compile, are stored, and nothing is left over. */
static void use_what_is_left(void *user)
{
    char bundle[1024];
    const cache_case c = CACHE_CASE;
    (void)user;
    CHECK_INT(cache_result(&c), HALF_TWO);
    CHECK_INT(cache_required(&c), 0);
    cache_bundle(&c, bundle, sizeof bundle);
    CHECK_INT(count_leftovers(bundle), 0);
    CHECK_INT(folder_count(bundle), 4);
}

static void kill_after(int microseconds)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        write_for_ever();
        _exit(0);
    }
    int status = 0;
    usleep((unsigned)microseconds);
    kill(child, SIGKILL);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    child_check(use_what_is_left, NULL);
}

static void test_a_killed_writer_leaves_a_usable_cache(void)
{
    begin();
    const int times = getenv("MW_NIGHTLY") != NULL ? 400 : 40;
    unsigned random = 12345;
    for (int i = 0; i < times; i++) {
        random = random * 1103515245u + 12345u;
        kill_after(1000 + (int)(random >> 16) % 20000);
    }
}

/* ---- bundles of another process ---- */

static void make_bundle(void *user)
{
    cache_case c = CACHE_CASE;
    char bundle[1024];
    c.mask = *(const uint64_t *)user;
    void *opened = NULL;
    cache_bundle(&c, bundle, sizeof bundle);
    folder_put("where", bundle);
    CHECK_INT(e5rt_program_library_create(&opened, bundle), 0); /* here it opens */
    if (opened != NULL)
        CHECK_INT(cache_run(opened), HALF_TWO);
    cache_forget(); /* and when nobody holds it any more */
    opened = NULL;
    CHECK_INT(e5rt_program_library_create(&opened, bundle), 0);
    if (opened != NULL)
        CHECK_INT(cache_run(opened), HALF_TWO);
}

static void read_path(char *out, size_t size)
{
    FILE *in = fopen("where", "r");
    const size_t got = in != NULL ? fread(out, 1, size - 1, in) : 0;
    out[got] = '\0';
    if (in != NULL)
        fclose(in);
}

static void open_for_ane(void *user)
{
    char bundle[1024];
    void *opened = NULL;
    cache_case c = CACHE_CASE;
    (void)user;
    read_path(bundle, sizeof bundle);
    CHECK_INT(e5rt_program_library_create(&opened, bundle), E5RT_INVALID_OPERATION);
    CHECK(opened == NULL);
    CHECK_CONTAINS(e5rt_get_last_error_message(), "ANE model load has failed");
    CHECK_CONTAINS(e5rt_get_last_error_message(), "Must re-compile the E5 bundle");
    c.mask = E5RT_ANE;
    c.force_fetch = true; /* compiling may take it from the cache */
    CHECK_INT(cache_required(&c), 0);
    CHECK_INT(cache_result(&c), HALF_TWO);
    CHECK_INT(e5rt_program_library_create(&opened, bundle), 0);
    CHECK_INT(cache_run(opened), HALF_TWO);
}

static void open_for_cpu(void *user)
{
    char bundle[1024];
    void *opened = NULL;
    (void)user;
    read_path(bundle, sizeof bundle);
    folder_empty("model"); /* the bundle has all that it needs */
    CHECK_INT(e5rt_program_library_create(&opened, bundle), 0);
    if (opened != NULL)
        CHECK_INT(cache_run(opened), HALF_TWO);
}

static void open_with_other_settings(void *user)
{
    char bundle[1024];
    void *opened = NULL;
    (void)user;
    read_path(bundle, sizeof bundle);
    setenv("MW_ENGINE_FUSE", "0", 1);
    CHECK_INT(e5rt_program_library_create(&opened, bundle), E5RT_INVALID_OPERATION);
    CHECK_CONTAINS(e5rt_get_last_error_message(), "Must re-compile the E5 bundle");
}

static void test_a_bundle_for_the_ane_belongs_to_its_process(void)
{
    begin();
    uint64_t mask = E5RT_ANE;
    child_check(make_bundle, &mask);
    child_check(open_for_ane, NULL);
}

static void test_a_bundle_for_the_cpu_opens_anywhere(void)
{
    begin();
    uint64_t mask = E5RT_CPU;
    child_check(make_bundle, &mask);
    child_check(open_with_other_settings, NULL);
    child_check(open_for_cpu, NULL);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_eight_processes_at_once);
    RUN(test_a_killed_writer_leaves_a_usable_cache);
    RUN(test_a_bundle_for_the_ane_belongs_to_its_process);
    RUN(test_a_bundle_for_the_cpu_opens_anywhere);
    folder_leave(folder);
    return check_finish();
}
