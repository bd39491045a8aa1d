#include "tool/shell.h"

#include "base/text/json.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 64, OUT_MAX = 1 << 24 };

static char *read_back(int descriptor, size_t *out_size)
{
    const off_t size = lseek(descriptor, 0, SEEK_END);
    char *text = calloc((size_t)(size > 0 ? size : 0) + 1, 1);
    if (text != NULL && size > 0 && pread(descriptor, text, (size_t)size, 0) != size)
        text[0] = '\0';
    if (out_size != NULL)
        *out_size = (size_t)(size > 0 ? size : 0);
    return text;
}

static int temporary(void)
{
    char name[] = "/tmp/mw-tool-XXXXXX";
    const int descriptor = mkstemp(name);
    if (descriptor >= 0)
        unlink(name);
    return descriptor;
}

static void become_mw(const char *const *words, int in, int out, int errs)
{
    const char *all[WORDS_MAX + 2] = {MW_TOOL};
    for (int i = 0; i < WORDS_MAX && words[i] != NULL; i++)
        all[i + 1] = words[i];
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(errs, STDERR_FILENO);
    execv(MW_TOOL, (char *const *)(uintptr_t)all);
    _exit(127);
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static shell_result run_into(const char *const *words, int out)
{
    shell_result result = {.code = -1};
    const int errs = temporary(), nothing = open("/dev/null", O_RDONLY);
    const pid_t child = fork();
    if (child == 0)
        become_mw(words, nothing, out, errs);
    if (child > 0)
        result.code = wait_for(child);
    result.errs = read_back(errs, NULL);
    close(errs);
    close(nothing);
    return result;
}

shell_result shell_mw(const char *const *words)
{
    const int out = temporary();
    shell_result result = run_into(words, out);
    result.out = read_back(out, &result.out_size);
    close(out);
    return result;
}

shell_result shell_mw_unread(const char *const *words)
{
    int ends[2];
    if (pipe(ends) != 0)
        return (shell_result){.code = -1};
    close(ends[0]);
    shell_result result = run_into(words, ends[1]);
    close(ends[1]);
    result.out = calloc(1, 1);
    return result;
}

shell_result shell_mw_signal(const char *const *words, int signal, const char *file)
{
    shell_result result = {.code = -1};
    const int out = temporary(), errs = temporary(), nothing = open("/dev/null", O_RDONLY);
    const pid_t child = fork();
    if (child == 0)
        become_mw(words, nothing, out, errs);
    for (int i = 0; i < 1000 && access(file, F_OK) != 0; i++)
        poll(NULL, 0, 10);
    kill(child, signal);
    result.code = wait_for(child);
    result.out = read_back(out, &result.out_size);
    result.errs = read_back(errs, NULL);
    close(out);
    close(errs);
    close(nothing);
    return result;
}

/* All that comes from a terminal until it is closed. */
static char *read_terminal(int master)
{
    char *text = calloc(OUT_MAX, 1);
    size_t used = 0;
    for (ssize_t got; text != NULL && used + 1 < OUT_MAX; used += (size_t)got) {
        got = read(master, text + used, OUT_MAX - 1 - used);
        if (got <= 0)
            break;
    }
    return text;
}

shell_result shell_mw_terminal(const char *const *words, int columns)
{
    shell_result result = {.code = -1};
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return result;
    const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    ioctl(terminal, TIOCSWINSZ, &(struct winsize){.ws_row = 24, .ws_col = (unsigned short)columns});
    const pid_t child = fork();
    if (child == 0) {
        close(master);
        setenv("TERM", "xterm", 1);
        become_mw(words, terminal, terminal, terminal);
    }
    close(terminal);
    result.out = read_terminal(master);
    result.errs = calloc(1, 1);
    close(master);
    result.code = wait_for(child);
    return result;
}

void shell_free(shell_result *result)
{
    free(result->out);
    free(result->errs);
    *result = (shell_result){0};
}

void shell_check(const char *const *words, int code, const char *out_part, const char *errs_part, const char *file,
                 int line)
{
    shell_result r = shell_mw(words);
    check_note(r.code == code, file, line, "mw %s: exit code %d, not %d: %.200s", words[0], r.code, code, r.errs);
    if (out_part != NULL)
        check_contains(r.out, out_part, file, line, "standard output");
    if (errs_part != NULL)
        check_contains(r.errs, errs_part, file, line, "standard error");
    shell_free(&r);
}

static mw_status take_any(void *user, const mw__json_item *item, mw_error *err)
{
    (void)user, (void)item, (void)err;
    return MW_OK;
}

bool shell_is_json(const char *text)
{
    mw_error err = {0};
    return mw__json_read_all(mw__allocator_or_default(NULL), text, strlen(text), take_any, NULL, &err) == MW_OK;
}
