/* What people read: standard output, which may be a file, a pipe that somebody closes, or a terminal of any width. */
#include "base/clock.h"
#include "base/environment.h"
#include "base/text/printable.h"
#include "tool/tool.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The first error of standard output. */
static int broken;

void tool_puts(const char *text)
{
    if (broken == 0 && fputs(text, stdout) == EOF)
        broken = errno != 0 ? errno : EIO;
}

void tool_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (broken == 0 && vprintf(format, arguments) < 0)
        broken = errno != 0 ? errno : EIO;
    va_end(arguments);
}

void tool_show(const char *text)
{
    char shown[512];
    tool_puts(mw__printable(shown, sizeof shown, text != NULL ? text : ""));
}

static char complaint[1024];

const char *tool_last_complaint(void) { return complaint[0] != '\0' ? complaint : NULL; }

void tool_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(complaint, sizeof complaint, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%smw:%s %s\n", tool_style_of(stderr, TOOL_BAD), tool_style_of(stderr, TOOL_PLAIN), complaint);
}

bool tool_is_terminal(FILE *stream) { return isatty(fileno(stream)) == 1; }

bool tool_is_live(FILE *stream)
{
    const char *kind = mw__environment("TERM");
    return kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0 && tool_is_terminal(stream);
}

const char *tool_style_of(FILE *stream, tool_style style)
{
    static const char *const codes[] = {[TOOL_PLAIN] = "\x1b[0m",
                                        [TOOL_STRONG] = "\x1b[1m",
                                        [TOOL_GOOD] = "\x1b[32m",
                                        [TOOL_BAD] = "\x1b[1;31m",
                                        [TOOL_FAINT] = "\x1b[2m"};
    const char *none = mw__environment("NO_COLOR");
    return (none != NULL && none[0] != '\0') || !tool_is_live(stream) ? "" : codes[style];
}

int tool_columns(void)
{
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

int tool_out_close(int code)
{
    errno = 0;
    if (broken == 0 && fflush(stdout) != 0)
        broken = errno != 0 ? errno : EIO;
    if (broken == 0)
        return code;
    if (broken == EPIPE)
        return code == TOOL_DONE ? TOOL_CLOSED : code;
    tool_complain("standard output: %s", strerror(broken));
    return TOOL_FAILED;
}

/* ---- numbers ---- */

static const char *scaled(char *out, size_t size, double value, double step, const char *const *units, int count)
{
    int unit = 0;
    for (; unit + 1 < count && fabs(value) >= step; unit++)
        value /= step;
    const int digits = unit == 0 && value == floor(value) ? 0 : fabs(value) < 10 ? 2 : fabs(value) < 100 ? 1 : 0;
    snprintf(out, size, "%.*f%s%s", digits, value, units[unit][0] != '\0' ? " " : "", units[unit]);
    return out;
}

const char *tool_bytes(char *out, size_t size, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    return scaled(out, size, bytes, 1000, units, 5);
}

const char *tool_count(char *out, size_t size, double count)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    return scaled(out, size, count, 1000, units, 5);
}

const char *tool_time(char *out, size_t size, double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return scaled(out, size, ns, 1000, units, 4);
}

const char *tool_shape(char *out, size_t size, mw_shape shape)
{
    size_t used = (size_t)snprintf(out, size, "[");
    for (int i = 0; i < shape.rank && used < size; i++) {
        const char *comma = i > 0 ? ", " : "";
        used += (size_t)(shape.dim[i] == MW_DIM_UNKNOWN
                             ? snprintf(out + used, size - used, "%s?", comma)
                             : snprintf(out + used, size - used, "%s%lld", comma, (long long)shape.dim[i]));
    }
    if (used < size)
        snprintf(out + used, size - used, "]");
    return out;
}

/* ---- progress ---- */

void tool_progress(const tool_call *call, const char *what, int64_t done, int64_t all)
{
    static double began, shown;
    const double at = mw__clock_seconds();
    if (done == 0)
        began = shown = at;
    if (call->quiet || !tool_is_live(stderr) || (done < all && at - shown < 0.1))
        return;
    shown = at;
    const double left = done > 0 ? (at - began) / (double)done * (double)(all - done) : 0;
    fprintf(stderr, "\r\x1b[K");
    if (done < all)
        fprintf(stderr, "%.20s %3.0f %%, %.3g/s, %.0f s left", what, 100.0 * (double)done / (double)(all > 0 ? all : 1),
                at > began ? (double)done / (at - began) : 0, left);
    fflush(stderr);
}
