/* Starts this program again for the items, as often as one of them ends it; fork alone would not do: Espresso does not
 * work in a forked child. */
#include "check.h"
#include "library.h"
#include "section.h"
#include "summary.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { LINE = 1024, STATUSES = 16 };

typedef struct counted {
    char status[16];
    size_t count;
} counted;

typedef struct check {
    const ane_request *request;
    FILE *report;
    counted statuses[STATUSES];
    size_t status_count, items;
    ane_summary summary;
} check;

/* One process and what it said. */
typedef struct child {
    pid_t pid;
    int out;
    char line[LINE], item[LINE], note[LINE];
    size_t filled, done; /* items that ended */
    bool running;        /* an item began and did not end */
} child;

/* ---- the report ---- */

static void count(check *c, const char *status)
{
    size_t i = 0;
    while (i < c->status_count && strcmp(c->statuses[i].status, status) != 0)
        i++;
    if (i == STATUSES)
        return;
    if (i == c->status_count)
        snprintf(c->statuses[c->status_count++].status, sizeof c->statuses[i].status, "%.15s", status);
    c->statuses[i].count++;
    c->items++;
}

static void put(check *c, const char *section, const char *item, const char *status, const char *detail)
{
    count(c, status);
    ane_summary_add(&c->summary, item, detail);
    fprintf(c->report, "%-8s %s / %s%s%s\n", status, section, item, detail[0] != '\0' ? ": " : "", detail);
    fflush(c->report);
}

/* ---- a process ---- */

static bool start(const check *c, const char *section, size_t first, child *out)
{
    char number[24], word[64];
    int pipes[2];
    *out = (child){0};
    snprintf(number, sizeof number, "%zu", first);
    snprintf(word, sizeof word, "%s", section);
    char program[LINE], verb[] = "--child";
    snprintf(program, sizeof program, "%s", c->request->program);
    char *arguments[] = {program, verb, word, number, NULL};
    if (pipe(pipes) != 0)
        return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&actions, pipes[0]);
    const int failed = posix_spawn(&out->pid, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[1]);
    out->out = pipes[0];
    if (failed != 0)
        close(pipes[0]);
    return failed == 0;
}

static void take_line(check *c, const char *section, child *of)
{
    char status[16] = "failed";
    int read = 0;
    if (strncmp(of->line, "@begin ", strlen("@begin ")) == 0) {
        snprintf(of->item, sizeof of->item, "%s", of->line + strlen("@begin "));
        of->note[0] = '\0';
        of->running = true;
    } else if (sscanf(of->line, "@end %15s%n", status, &read) == 1) {
        const char *detail = of->line + read + (of->line[read] == ' ');
        put(c, section, of->item, status, detail[0] != '\0' || strcmp(status, "ok") == 0 ? detail : of->note);
        of->running = false;
        of->done++;
    } else if (of->note[0] == '\0') /* the first of what an item prints says most */
        snprintf(of->note, sizeof of->note, "%s", of->line);
}

static void take(check *c, const char *section, child *of, const char *bytes, ssize_t size)
{
    for (ssize_t i = 0; i < size; i++) {
        if (bytes[i] != '\n') {
            if (of->filled + 1 < sizeof of->line)
                of->line[of->filled++] = bytes[i];
            continue;
        }
        of->line[of->filled] = '\0';
        of->filled = 0;
        take_line(c, section, of);
    }
}

/* False if nothing came for as long as an item may take. */
static bool listen_to(check *c, const char *section, child *of)
{
    char bytes[4096];
    struct pollfd ready = {.fd = of->out, .events = POLLIN};
    for (;;) {
        if (poll(&ready, 1, c->request->seconds * 1000) <= 0)
            return false;
        const ssize_t size = read(of->out, bytes, sizeof bytes);
        if (size <= 0)
            return true;
        take(c, section, of, bytes, size);
    }
}

static void end(check *c, const char *section, child *of, bool heard)
{
    int status = 0;
    char detail[LINE];
    if (!heard)
        kill(of->pid, SIGKILL);
    close(of->out);
    waitpid(of->pid, &status, 0);
    if (!of->running)
        return;
    if (!heard)
        snprintf(detail, sizeof detail, "nothing for %d seconds", c->request->seconds);
    else if (WIFSIGNALED(status))
        snprintf(detail, sizeof detail, "signal %d", WTERMSIG(status));
    else
        snprintf(detail, sizeof detail, "exit code %d", WEXITSTATUS(status));
    put(c, section, of->item, heard ? "crashed" : "hung", detail);
    of->done++;
}

/* As many processes as it takes: each goes on behind the item that ended the one before. */
static void check_section(check *c, const ane_section *section)
{
    size_t first = 0;
    child of;
    for (bool stopped = true; stopped && start(c, section->name, first, &of); first += of.done) {
        const bool heard = listen_to(c, section->name, &of);
        stopped = of.running;
        end(c, section->name, &of, heard);
        if (!stopped && of.done == 0 && first == 0)
            put(c, section->name, "(all)", "failed", of.note[0] != '\0' ? of.note : "its process began no item");
    }
}

/* ---- all ---- */

/* "Apple M4", "26.1": a line for each that the system says. */
static void put_machine(check *c)
{
#ifdef __APPLE__
    static const char *const names[][2] = {{"machdep.cpu.brand_string", "chip"},
                                           {"hw.model", "model"},
                                           {"kern.osproductversion", "macos"},
                                           {"kern.osversion", "build"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char value[128] = "";
        size_t size = sizeof value - 1;
        if (sysctlbyname(names[i][0], value, &size, NULL, 0) == 0)
            fprintf(c->report, "%-8s %s\n", names[i][1], value);
    }
#else
    (void)c;
#endif
}

static void put_head(check *c)
{
    struct utsname system;
    const bool known = uname(&system) == 0;
    const char *profile = getenv("MW_ENGINE_PROFILE");
    fprintf(c->report, "Millwright check-ane\nlibrary  %s\nsystem   %s %s %s\nversion  %s\n", library_path(),
            known ? system.sysname : "?", known ? system.release : "", known ? system.machine : "", mw_version());
    put_machine(c);
    if (profile != NULL)
        fprintf(c->report, "profile  %s: the engine's model, if the library is the engine's; no chip\n", profile);
    fprintf(c->report, "\n");
}

int ane_check(const ane_request *request)
{
    check c = {.request = request, .report = fopen(request->report, "w")};
    if (c.report == NULL) {
        fprintf(stderr, "cannot write %s\n", request->report);
        return 1;
    }
    put_head(&c);
    for (size_t i = 0; ane_section_at(i) != NULL; i++)
        if (request->only == NULL || strcmp(request->only, ane_section_at(i)->name) == 0)
            check_section(&c, ane_section_at(i));
    ane_summary_put(&c.summary, c.report);
    fprintf(c.report, "\n%zu items:", c.items);
    printf("%zu items:", c.items);
    for (size_t i = 0; i < c.status_count; i++) {
        fprintf(c.report, " %zu %s", c.statuses[i].count, c.statuses[i].status);
        printf(" %zu %s", c.statuses[i].count, c.statuses[i].status);
    }
    fprintf(c.report, "\n");
    printf("\nThe report is %s.\n", request->report);
    return fclose(c.report) == 0 ? 0 : 1;
}
