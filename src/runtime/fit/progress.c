/* What mw_trainer_fit shows on standard error: nothing but these lines is ever printed by the library. Numbers are put
 * together from integers, independent of the locale. */
#include "base/clock.h"
#include "base/file/signal_safe.h"
#include "base/number/number.h"
#include "base/text/printable.h"
#include "runtime/fit/fit.h"
#include "runtime/variables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048, DEFAULT_WIDTH = 80 };

static const double rewrite_every = 0.1; /* seconds */

/* ---- lines ---- */

typedef struct line {
    char *data;
    size_t size;
    size_t used;
} line;

static void put_text(line *out, const char *text)
{
    const size_t length = strlen(text);
    const size_t room = out->size - 1 - out->used;
    const size_t taken = length < room ? length : room;
    memcpy(out->data + out->used, text, taken);
    out->used += taken;
    out->data[out->used] = '\0';
}

static void put_integer(line *out, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    put_text(out, text);
}

/* `digits` behind the point; numbers that do not fit in their shortest form. */
static void put_fixed(line *out, double value, int digits)
{
    char text[64];
    const double scale = pow(10.0, digits);
    if (!(fabs(value) < 1e9)) {
        mw__number_print_float(text, (float)value);
    } else {
        const long long units = llround(fabs(value) * scale);
        snprintf(text, sizeof text, "%s%lld.%0*lld", value < 0 ? "-" : "", units / (long long)scale, digits,
                 units % (long long)scale);
    }
    put_text(out, text);
}

/* A loss or metric: small ones keep their digits. */
static void put_measure(line *out, double value)
{
    char text[MW__NUMBER_MAX];
    if (value == 0.0 || !(fabs(value) < 1e-4)) {
        put_fixed(out, value, 4);
        return;
    }
    mw__number_print_float(text, (float)value);
    put_text(out, text);
}

static void put_metrics(line *out, const mw_evaluation *evaluation)
{
    for (size_t i = 0; i < evaluation->metric_count; i++) {
        put_text(out, "  ");
        char name[MW__PRINTABLE_NAME + 1];
        put_text(out, mw__printable(name, sizeof name, evaluation->metrics[i].name));
        put_text(out, " ");
        put_measure(out, evaluation->metrics[i].value);
    }
}

static void put_duration(line *out, double seconds)
{
    if (!(seconds < 1e9))
        seconds = 1e9;
    const int64_t whole = (int64_t)(seconds + 0.5);
    char text[48];
    if (whole >= 3600)
        snprintf(text, sizeof text, "%lld:%02lld h", (long long)(whole / 3600), (long long)(whole / 60 % 60));
    else if (whole >= 60)
        snprintf(text, sizeof text, "%lld:%02lld min", (long long)(whole / 60), (long long)(whole % 60));
    else
        snprintf(text, sizeof text, "%lld s", (long long)whole);
    put_text(out, text);
}

static void put_epoch(line *out, const mw_progress *progress)
{
    put_text(out, "epoch ");
    put_integer(out, progress->epoch);
    put_text(out, "/");
    put_integer(out, progress->epochs);
    put_text(out, "  loss ");
    put_measure(out, progress->loss);
}

void mw__progress_line(char *out, size_t size, const mw_progress *progress, double steps_per_second, int width)
{
    line text = {.data = out, .size = size};
    out[0] = '\0';
    put_epoch(&text, progress);
    put_text(&text, "  step ");
    put_integer(&text, progress->step);
    put_text(&text, "/");
    put_integer(&text, progress->steps);
    put_text(&text, "  ");
    put_integer(&text, steps_per_second < 1e12 ? (int64_t)steps_per_second : 0);
    put_text(&text, " steps/s  ");
    put_duration(&text, progress->seconds_left);
    put_text(&text, " left");
    /* A line as wide as the terminal would wrap, and could not be rewritten. */
    const size_t limit = (size_t)(width > 1 ? width : DEFAULT_WIDTH) - 1;
    if (text.used > limit)
        out[limit] = '\0';
}

void mw__epoch_line(char *out, size_t size, const mw_progress *progress, bool has_validation)
{
    line text = {.data = out, .size = size};
    out[0] = '\0';
    put_epoch(&text, progress);
    if (has_validation) {
        put_text(&text, "  validation loss ");
        put_measure(&text, progress->validation.loss);
        put_metrics(&text, &progress->validation);
    }
    put_text(&text, "  ");
    put_fixed(&text, progress->seconds, 1);
    put_text(&text, " s");
}

/* ---- the terminal ---- */

static int terminal_width(void)
{
    struct winsize window = {0};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
        return DEFAULT_WIDTH;
    return window.ws_col;
}

static bool can_rewrite(void) { return isatty(STDERR_FILENO) && mw__variable_has_cursor(); }

void mw__report_begin(mw__reporter *reporter, bool quiet)
{
    reporter->quiet = quiet;
    reporter->terminal = !quiet && can_rewrite();
    reporter->started = mw__clock_seconds();
    reporter->shown = 0.0;
}

/* Standard error is the host's, and so is what a signal does to it: what cannot be written is an error of the fit. */
static mw_status emit_text(mw__reporter *reporter, const char *text, mw_error *err)
{
    mw__signal_safe quiet;
    bool written = false;
    if (mw__signal_safe_begin(&quiet, STDERR_FILENO, strlen(text))) {
        written = fputs(text, stderr) >= 0 && fflush(stderr) == 0;
        mw__signal_safe_end(&quiet);
    }
    const int reason = errno;
    if (written || reason == EAGAIN || reason == EINTR)
        return MW_OK; /* a line that cannot be written at once is left out */
    clearerr(stderr);
    if (reason == EBADF || reason == EIO || reason == ENXIO) {
        reporter->quiet = true; /* closed by the host, or the terminal hung up: there is nowhere to show them */
        reporter->terminal = false;
        return MW_OK;
    }
    return mw__fail(err, MW_ERROR_FILE,
                    "mw_trainer_fit: cannot write the progress to standard error: %s%s; quiet = true trains without it",
                    strerror(reason), reason == EPIPE ? " (nobody reads the pipe any more)" : "");
}

/* "\r" and "erase to the end of the line" (ECMA-48) around the text, which is followed by `end`. */
static mw_status rewrite(mw__reporter *reporter, const char *text, const char *end, mw_error *err)
{
    char out[LINE_MAX_BYTES + 16];
    snprintf(out, sizeof out, "\r%s\033[K%s", text, end);
    return emit_text(reporter, out, err);
}

mw_status mw__report_resume(mw__reporter *reporter, const char *path, int64_t epoch, int64_t step, mw_error *err)
{
    char text[LINE_MAX_BYTES], shown[256];
    if (reporter->quiet)
        return MW_OK;
    snprintf(text, sizeof text, "going on from %s in epoch %lld, after step %lld\n",
             mw__printable(shown, sizeof shown, path), (long long)epoch, (long long)step);
    return emit_text(reporter, text, err);
}

mw_status mw__report_step(mw__reporter *reporter, const mw_progress *progress, mw_error *err)
{
    if (!reporter->terminal)
        return MW_OK;
    const double now = mw__clock_seconds();
    if (now - reporter->shown < rewrite_every)
        return MW_OK;
    reporter->shown = now;
    const double elapsed = now - reporter->started;
    const double rate = elapsed > 0.0 ? (double)(progress->step - reporter->first_step) / elapsed : 0.0;
    char text[LINE_MAX_BYTES];
    mw__progress_line(text, sizeof text, progress, rate, terminal_width());
    return rewrite(reporter, text, "", err);
}

mw_status mw__report_epoch(mw__reporter *reporter, const mw_progress *progress, mw_error *err)
{
    if (reporter->quiet)
        return MW_OK;
    char text[LINE_MAX_BYTES];
    mw__epoch_line(text, sizeof text - 1, progress, reporter->has_validation);
    if (reporter->terminal)
        return rewrite(reporter, text, "\n", err);
    strcat(text, "\n");
    return emit_text(reporter, text, err);
}

static mw_status say(mw__reporter *reporter, const char *text, mw_error *err)
{
    if (reporter->quiet)
        return MW_OK;
    return reporter->terminal ? rewrite(reporter, text, "\n", err) : emit_text(reporter, text, err);
}

mw_status mw__report_warning(mw__reporter *reporter, const char *message, size_t others, mw_error *err)
{
    char text[LINE_MAX_BYTES], more[80] = "", shown[512];
    if (others > 0)
        snprintf(more, sizeof more, " (and %zu more, mw_trainer_warning_at)", others);
    snprintf(text, sizeof text, "warning: %s%s%s", mw__printable(shown, sizeof shown, message), more,
             reporter->terminal ? "" : "\n");
    return say(reporter, text, err);
}

mw_status mw__report_rate(mw__reporter *reporter, const mw_progress *progress, double rate, mw_error *err)
{
    char text[256], number[MW__NUMBER_MAX];
    mw__number_print_float(number, (float)rate);
    snprintf(text, sizeof text, "learning rate %s behind epoch %lld%s", number, (long long)progress->epoch,
             reporter->terminal ? "" : "\n");
    return say(reporter, text, err);
}

mw_status mw__report_early(mw__reporter *reporter, const char *by, int64_t epochs, mw_error *err)
{
    char text[256], shown[128];
    snprintf(text, sizeof text, "ends early: the %s is %lld epochs old%s", mw__printable(shown, sizeof shown, by),
             (long long)epochs, reporter->terminal ? "" : "\n");
    return say(reporter, text, err);
}

void mw__report_end(mw__reporter *reporter)
{
    if (reporter->terminal)
        rewrite(reporter, "", "", NULL);
}
