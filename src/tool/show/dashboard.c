/* Three lines that are drawn over themselves: the epoch's bar with the time left, the loss as a line of blocks, and
 * what the last evaluation found. */
#include "tool/show/dashboard.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LEAST_COLUMNS = 30, LINES = 3 };

static int columns_of_screen(void)
{
    struct winsize size = {0};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col > 200 ? 200 : size.ws_col;
}

/* ---- the loss so far ---- */

/* Means of `every` steps; when there is no room for more, two become one. */
static void add_point(dashboard *board, double loss)
{
    board->sum += loss;
    if (++board->summed < board->every)
        return;
    if (board->count == DASHBOARD_POINTS) {
        for (int64_t i = 0; i < DASHBOARD_POINTS / 2; i++)
            board->points[i] = (board->points[2 * i] + board->points[2 * i + 1]) / 2;
        board->count /= 2;
        board->every *= 2;
    }
    board->points[board->count++] = board->sum / (double)board->summed;
    board->sum = 0;
    board->summed = 0;
}

static void find_range(const dashboard *board, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t i = 0; i < board->count; i++) {
        if (!isfinite(board->points[i]))
            continue;
        *low = fmin(*low, board->points[i]);
        *high = fmax(*high, board->points[i]);
    }
}

/* Blocks of eight heights, the first eighth to the eighth of a cell. */
static void draw_sparkline(const dashboard *board, int width)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double low, high;
    find_range(board, &low, &high);
    const int64_t cells = board->count < width ? board->count : width;
    for (int64_t i = 0; i < cells; i++) {
        const int64_t from = i * board->count / cells, to = (i + 1) * board->count / cells;
        double mean = 0;
        for (int64_t k = from; k < to; k++)
            mean += board->points[k] / (double)(to - from);
        const int height = high > low && isfinite(mean) ? (int)(7.999 * (mean - low) / (high - low)) : 0;
        fputs(isfinite(mean) ? blocks[height] : "!", stderr);
    }
}

/* ---- drawing ---- */

static void draw_bar(double share, int width)
{
    const int full = (int)(share * width);
    fputc('[', stderr);
    for (int i = 0; i < width; i++)
        fputc(i < full ? '=' : i == full ? '>' : ' ', stderr);
    fputc(']', stderr);
}

static void draw_time(double seconds)
{
    if (seconds < 60)
        fprintf(stderr, "%.0f s", seconds);
    else if (seconds < 3600)
        fprintf(stderr, "%d:%02d min", (int)(seconds / 60), (int)seconds % 60);
    else
        fprintf(stderr, "%d:%02d h", (int)(seconds / 3600), (int)(seconds / 60) % 60);
}

static void draw_memory(int columns)
{
    struct rusage usage;
    char text[32];
    getrusage(RUSAGE_SELF, &usage);
#if defined(__APPLE__)
    const double bytes = (double)usage.ru_maxrss;
#else
    const double bytes = 1024.0 * (double)usage.ru_maxrss;
#endif
    if (columns >= 70)
        fprintf(stderr, "  %s", tool_bytes(text, sizeof text, bytes));
}

static void draw_evaluation(const dashboard *board, int columns)
{
    fputs("\x1b[K", stderr);
    if (!board->has_validation)
        return;
    int used = fprintf(stderr, "validation loss %.4g", board->validation.loss);
    const int noted = (int)strlen(board->note);
    if (noted > 0 && used + noted + 2 < columns)
        used += fprintf(stderr, ", %s", board->note);
    for (size_t i = 0; i < board->validation.metric_count && used + 30 < columns; i++)
        used += fprintf(stderr, ", %.16s %.4g", board->validation.metrics[i].name, board->validation.metrics[i].value);
}

static void draw_board(dashboard *board, const mw_progress *p, int columns)
{
    const int64_t per_epoch = p->steps / (p->epochs > 0 ? p->epochs : 1);
    const double share = per_epoch > 0 ? (double)((p->step - 1) % per_epoch + 1) / (double)per_epoch : 1;
    const int bar = columns - 44 > 60 ? 60 : columns - 44 > 4 ? columns - 44 : 4;
    if (board->shown)
        fprintf(stderr, "\x1b[%dA\r", LINES - 1);
    fprintf(stderr, "\x1b[Kepoch %lld/%lld ", (long long)p->epoch, (long long)p->epochs);
    draw_bar(share, bar);
    fputs(" ", stderr);
    draw_time(p->seconds_left);
    fputs(" left", stderr);
    draw_memory(columns);
    fprintf(stderr, "\n\x1b[Kloss %-9.4g ", p->loss);
    draw_sparkline(board, columns - 16);
    fputs("\n", stderr);
    draw_evaluation(board, columns);
    fflush(stderr);
    board->shown = true;
}

/* ---- the callback ---- */

bool dashboard_report(dashboard *board, const mw_progress *progress)
{
    const double at = mw__clock_seconds();
    if (!board->active)
        return false;
    add_point(board, progress->loss);
    if (progress->epoch_end && progress->validation.examples > 0) {
        board->validation = progress->validation;
        board->has_validation = true;
    }
    if (at - board->drawn < 0.1 && progress->step < progress->steps && !progress->epoch_end)
        return false;
    const int columns = columns_of_screen();
    board->drawn = at;
    if (columns >= LEAST_COLUMNS)
        draw_board(board, progress, columns);
    return false;
}

bool dashboard_begin(dashboard *board, const tool_call *call)
{
    *board = (dashboard){.every = 1};
    board->active = !call->quiet && tool_is_live(stderr) && columns_of_screen() >= LEAST_COLUMNS;
    return board->active;
}

void dashboard_end(dashboard *board)
{
    if (board->shown)
        fputs("\n", stderr);
    board->shown = false;
}
